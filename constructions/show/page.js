let step = 0, alone = null, timer = null;
const scene = scenes[data.scene.kind] || null;
const LONGEST_ROW = 160; // tokens that are drawn in one row, with arcs
const inRow = data.heads.length > 0 && data.tokens.length <= LONGEST_ROW;
const COLOURS = ["#2f86c9", "#d55e00", "#009e73", "#c0649c", "#8a6d00", "#56b4e9", "#e69f00", "#7d7d8c"]; // told apart by all eyes
const colour = (i) => COLOURS[i % COLOURS.length];
const stepAt = (position) => position - data.promptLength;

byId("verdict").textContent = data.verdict || "no verdict";
byId("verdict").classList.add(["YES", "NO"].includes(data.verdict) ? data.verdict : "other");
for (const text of Object.values(data.blocks)) make(byId("blocks"), "li", text);
byId("about").hidden = !Object.keys(data.blocks).length;
byId("slider").max = data.steps.length - 1;
byId("scene").hidden = !scene;
byId("top").classList.toggle("alone", !scene || Boolean(scene.wide));
byId("stage").classList.toggle("tall", Boolean(scene && scene.wide));
if (scene) byId("scene-title").textContent = scene.title;
if (scene) explain(byId("legend"), scene.legend);
byId("row").hidden = !inRow;
byId("context").hidden = inRow;
byId("captions").textContent = data.captions;
byId("captions").hidden = !inRow || !data.captions;
byId("tokens-title").textContent = inRow
  ? "Tokens. Arcs lead from the current one to those that the heads attend to"
  : "Tokens. Blue: read now" + (data.heads.length ? ". Underlined: a head attends to it" : "")
    + (data.steps.some((at) => at.search) ? ". Yellow: what a search matched, and its group" : "");

let tops = 0; // room for the highest arc of all
function farthest(xs) {
  let far = 0;
  for (const at of data.steps) for (const head of at.heads) {
    if (!head.idle) for (const [to] of head.to) far = Math.max(far, Math.abs(xs[at.position - 1] - xs[to - 1]));
  }
  return far;
}

function drawRow() {
  const svg = byId("tokens");
  svg.replaceChildren();
  const now = data.steps[step], heads = data.heads.length, left = 10;
  const record = (i) => {
    const {self, other, edge_count} = data.records[i];
    return self && i < data.promptLength ? [self + "→" + other, edge_count || ""] : ["", ""];
  };
  const lengths = data.tokens.map((t, i) => Math.max(32, 9 * t.length + 8, 7 * record(i)[0].length + 6));
  const xs = [];
  let x = left;
  for (const length of lengths) { xs.push(x + length / 2); x += length + 4; }
  tops = tops || Math.min(128, 50 + 4 * heads + 0.3 * farthest(xs));
  const ghost = Math.max(32, 9 * now.produced.length + 8), last = data.tokens.length;
  svg.setAttribute("width", x + ghost + 20);
  svg.setAttribute("height", tops + (data.records.some((_, i) => record(i)[0]) ? 88 : 56));
  now.heads.forEach((head, i) => {
    if (alone === null ? head.idle : alone !== i) return;
    for (const [to, weight] of head.to) {
      const from = xs[now.position - 1], target = xs[to - 1], start = from + (i - heads / 2) * 2;
      const height = Math.min(1.33 * (tops - 12) - 6 * (heads - i), 30 + 0.4 * Math.abs(from - target) + 5 * i);
      const d = to === now.position
        ? "M" + (from - 5) + "," + tops + "C" + (from - 16) + "," + (tops - 34 - 3 * i) + " " + (from + 16) + "," + (tops - 34 - 3 * i) + " " + (from + 5) + "," + tops
        : "M" + start + "," + tops + "C" + start + "," + (tops - height) + " " + target + "," + (tops - height) + " " + target + "," + tops;
      const faded = Math.max(0.25, Math.sqrt(weight));
      const arc = draw(svg, "path", {d, fill: "none", stroke: colour(i), "stroke-width": alone === i ? 3 : 2, opacity: faded});
      if (head.none) arc.setAttribute("stroke-dasharray", "4 4");
      draw(arc, "title", {}, data.heads[i].place + ": " + head.because);
      draw(svg, "circle", {cx: target, cy: tops, r: 3, fill: colour(i), opacity: faded});
    }
  });
  const cell = (i, token, kind) => {
    const width = kind === "ghost" ? ghost : lengths[i], cx = kind === "ghost" ? x + ghost / 2 : xs[i];
    const group = draw(svg, "g", {class: "token", opacity: kind === "later" ? 0.25 : 1});
    draw(group, "rect", {x: cx - width / 2, y: tops + 2, width, height: 32, rx: 6,
      fill: kind === "now" ? "var(--current)" : i >= data.promptLength ? "var(--chain)" : "var(--faint)",
      stroke: kind === "ghost" ? "var(--next)" : "var(--line)", "stroke-dasharray": kind === "ghost" ? "4 3" : "none",
      "stroke-width": kind === "ghost" ? 2 : 1});
    draw(group, "text", {x: cx, y: tops + 23, "text-anchor": "middle", "font-size": 15, "font-weight": 600,
      fill: kind === "now" ? "var(--card)" : "var(--ink)"}, token);
    if (kind !== "ghost") draw(group, "text", {x: cx, y: tops + 48, "text-anchor": "middle", "font-size": 10.5, fill: "var(--soft)"}, i + 1);
    return group;
  };
  data.tokens.forEach((token, i) => {
    const group = cell(i, token, i + 1 === now.position ? "now" : i + 1 > now.position ? "later" : "past");
    record(i).forEach((text, line) => draw(group, "text", {x: xs[i], y: tops + 66 + 16 * line, "text-anchor": "middle",
      "font-size": 12 - line, fill: line ? "var(--soft)" : "var(--ink)"}, text));
    const facts = Object.entries(data.records[i]).map(([name, value]) => name + " = " + value);
    draw(group, "title", {}, ["position " + (i + 1) + ", token " + token, ...facts].join("\n"));
    group.addEventListener("click", () => { if (stepAt(i + 1) >= 0) { pause(); show(stepAt(i + 1)); } });
    if (scene !== scenes.graph) return;
    const edge = i >= 1 && i < data.promptLength && Math.floor((i - 1) / 3) < data.scene.edges.length ? Math.floor((i - 1) / 3) : null;
    group.addEventListener("mouseenter", () => { scene.marked = edge; scene.draw(byId("stage"), now); });
    group.addEventListener("mouseleave", () => { scene.marked = null; scene.draw(byId("stage"), now); });
  });
  if (now.position === last) cell(last, now.produced, "ghost");
  else draw(svg, "rect", {x: xs[now.position] - lengths[now.position] / 2, y: tops + 2, width: lengths[now.position], height: 32, rx: 6,
    fill: "none", stroke: "var(--next)", "stroke-width": 2, "stroke-dasharray": "4 3"});
  const row = byId("row"), here = xs[now.position - 1];
  if (here < row.scrollLeft + 60 || here > row.scrollLeft + row.clientWidth - 90) row.scrollLeft = here - row.clientWidth * 0.7;
}

let spans = null;
function drawContext() {
  const box = byId("context"), now = data.steps[step];
  if (!spans) {
    spans = data.tokens.map((token, i) => {
      const span = make(box, "span", token);
      span.title = "position " + (i + 1);
      span.addEventListener("click", () => { if (stepAt(i + 1) >= 0) { pause(); show(stepAt(i + 1)); } });
      return span;
    });
  }
  const inside = (ends, position) => ends && ends[0] <= position && position <= ends[1];
  const found = now.search || {};
  spans.forEach((span, i) => {
    const position = i + 1;
    span.className = [position <= data.promptLength ? "prompt" : "", position > now.position ? "later" : "",
      inside(found.matched, position) ? "match" : "", inside(found.group, position) ? "group" : "",
      position === now.position ? "now" : ""].join(" ").trim();
    span.style.borderBottom = "";
  });
  now.heads.forEach((head, i) => {
    if (alone === null ? head.idle : alone !== i) return;
    for (const [to] of head.to) spans[to - 1].style.borderBottom = "3px solid " + colour(i);
  });
  const shown = spans[(found.group || [now.position])[0] - 1], line = shown.offsetTop;
  if (line < box.scrollTop || line > box.scrollTop + box.clientHeight - 40) box.scrollTop = line - box.clientHeight / 2;
}

// While the mouse or the focus is on it, the attention of one head is shown alone.
function singles(node, head) {
  node.tabIndex = 0;
  const only = (one) => () => { alone = one; drawTokens(); };
  for (const kind of ["mouseenter", "focus"]) node.addEventListener(kind, only(head));
  for (const kind of ["mouseleave", "blur"]) node.addEventListener(kind, only(null));
}

const maps = [], SIDE = 512, LEAST_CELL = 8; // pixels of a map, and of a token in it; beyond SIDE / LEAST_CELL tokens it is scrolled
let whole = false; // or all of it is squeezed into SIDE
function makeMaps() {
  const length = data.tokens.length, first = data.prompt.length ? 1 : data.promptLength, rows = length - first + 1;
  if (!data.heads.length) return;
  byId("maps-card").hidden = false;
  const long = length * LEAST_CELL > SIDE, left = 46, above = 30;
  byId("zoom").hidden = !long;
  data.heads.forEach((head, h) => {
    const figure = make(byId("maps"), "figure"), box = make(figure, "div", undefined, "map scroll");
    const space = make(box, "div"), canvas = make(space, "canvas"), paint = canvas.getContext("2d");
    make(figure, "figcaption", head.place);
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", "attention of " + head.place);
    const reads = (position) => position < data.promptLength ? data.prompt[position - 1][h]
      : data.steps[stepAt(position)].heads[h].idle ? [] : data.steps[stepAt(position)].heads[h].to;
    const map = {now: 0, cell: 0, wide: 0, high: 0};
    const tick = (least) => [1, 2, 5].flatMap((k) => [k, 10 * k, 100 * k, 1000 * k]).sort((a, b) => a - b)
      .find((k) => k * map.cell >= least) || 10000;
    const words = () => map.cell >= 14 && data.tokens.every((token) => token.length <= 3);
    map.size = () => {
      const fits = Math.floor(320 / length);
      const room = Math.min(SIDE, Math.max(160, byId("maps").clientWidth - left - 20)); // of a narrow window, less
      map.cell = long ? (whole ? room / length : LEAST_CELL) : Math.max(LEAST_CELL, Math.min(24, fits));
      [map.wide, map.high] = [Math.min(room, length * map.cell), Math.min(SIDE, rows * map.cell)];
      const bars = length * map.cell > map.wide + 1 || rows * map.cell > map.high + 1 ? 16 : 2, ratio = window.devicePixelRatio || 1;
      [box.style.width, box.style.height] = [left + map.wide + bars + "px", above + map.high + bars + "px"];
      [space.style.width, space.style.height] = [left + length * map.cell + "px", above + rows * map.cell + "px"];
      [canvas.style.width, canvas.style.height] = [left + map.wide + "px", above + map.high + "px"];
      [canvas.width, canvas.height] = [(left + map.wide) * ratio, (above + map.high) * ratio];
      figure.setAttribute("data-cell", map.cell);
      paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    };
    map.draw = () => {
      const [ink, faint, blue] = ["--soft", "--faint", "--current"].map(colourOf), {cell, wide, high} = map;
      const x = (to) => left + (to - 1) * cell - box.scrollLeft, y = (position) => above + (position - first) * cell - box.scrollTop;
      const from = first + Math.floor(box.scrollTop / cell), last = Math.min(length, Math.ceil(from + high / cell));
      paint.clearRect(0, 0, left + wide, above + high);
      paint.fillStyle = faint;
      paint.fillRect(left, above, wide, high);
      paint.save();
      paint.beginPath();
      paint.rect(left, above, wide, high);
      paint.clip();
      paint.fillStyle = colour(h);
      const side = Math.max(1, cell >= LEAST_CELL ? cell - 1 : cell);
      for (let position = from; position <= last; position++) {
        for (const [to, weight] of reads(position)) {
          paint.globalAlpha = Math.max(0.35, Math.min(1, weight));
          paint.fillRect(x(to), y(position), side, side);
        }
      }
      paint.globalAlpha = 1;
      paint.strokeStyle = blue;
      paint.strokeRect(left + 0.5, y(map.now) - 0.5, wide - 1, Math.max(cell, 2));
      paint.restore();
      paint.fillStyle = ink;
      paint.font = "10px sans-serif";
      const spelled = words(), down = spelled ? 1 : tick(13), across = spelled ? 1 : tick(30);
      const label = (position) => spelled ? data.tokens[position - 1] : position;
      const end = Math.min(length, 1 + Math.floor((box.scrollLeft + wide) / cell - 0.5));
      paint.textAlign = "center";
      for (let to = 1 + Math.ceil(box.scrollLeft / cell); to <= end; to++) {
        if (spelled || to % across === 0 || to === 1) paint.fillText(label(to), x(to) + cell / 2, above - 4);
      }
      paint.textAlign = "right";
      for (let position = from; position <= last; position++) {
        if (!spelled && position % down && position !== first) continue;
        const base = y(position) + cell / 2 + 3.5;
        if (base > above + 4 && base < above + high + 4) paint.fillText(label(position), left - 4, base);
      }
      paint.textAlign = "left";
      paint.fillText("reads →", left, 11);
      paint.fillText("asks ↓", 2, above - 4);
    };
    map.follow = (position) => {
      map.now = position;
      const row = (position - first) * map.cell, [to] = reads(position).reduce((a, b) => b[1] > a[1] ? b : a, [position, 0]);
      const column = (to - 1) * map.cell;
      if (row < box.scrollTop || row > box.scrollTop + map.high - map.cell) box.scrollTop = row - map.high / 2;
      if (column < box.scrollLeft || column > box.scrollLeft + map.wide - map.cell) box.scrollLeft = column - map.wide / 2;
      map.draw();
    };
    const asking = (event) => {
      const edge = canvas.getBoundingClientRect();
      return first + Math.floor((event.clientY - edge.top - above + box.scrollTop) / map.cell);
    };
    box.addEventListener("scroll", map.draw);
    box.addEventListener("mousemove", (event) => {
      const k = asking(event), known = first <= k && k <= length;
      const share = (weight) => weight === 1 ? "" : " by " + weight;
      canvas.title = !known ? "" : k + " (" + data.tokens[k - 1] + ") reads " + (reads(k).slice(0, 8)
        .map(([to, weight]) => to + " (" + data.tokens[to - 1] + ")" + share(weight)).join(", ") || "nothing that it asked for");
    });
    box.addEventListener("click", (event) => { if (asking(event) >= first) { pause(); show(stepAt(asking(event))); } });
    singles(box, h);
    map.size();
    maps.push(map);
  });
  const name = () => { byId("zoom").textContent = whole ? "enlarge: " + LEAST_CELL + " pixels a token" : "show each as a whole"; };
  byId("zoom").addEventListener("click", () => {
    whole = !whole;
    name();
    for (const map of maps) { map.size(); map.follow(data.steps[step].position); }
  });
  name();
}

function drawTokens() { if (inRow) drawRow(); else drawContext(); }

function bindings(cell, text) {
  for (const [i, part] of (text ? text.split(", ") : []).entries()) {
    const span = make(cell, "span", (i ? ", " : "") + part);
    const name = part.split(/ [=≈] /)[0];
    if (data.meanings[name]) span.title = name + ": " + data.meanings[name];
  }
}

function drawTable() {
  const body = byId("parts"), now = data.steps[step];
  body.replaceChildren();
  const row = (kind, texts, writes, swatch) => {
    const tr = make(body, "tr", undefined, kind);
    const cells = texts.map((text) => make(tr, "td", text));
    if (data.blocks[texts[0]]) cells[0].title = data.blocks[texts[0]];
    if (swatch) {
      const chip = make(cells[1], "span", undefined, "chip");
      chip.style.background = swatch;
      cells[1].prepend(chip);
    }
    bindings(make(tr, "td"), writes);
    return tr;
  };
  const blocks = [...new Set([...data.heads, ...now.kept, ...now.wrote].map((p) => p.block))].sort((a, b) => a - b);
  for (const block of blocks) {
    data.heads.forEach(({block: of, part}, i) => {
      if (of !== block) return;
      const head = now.heads[i];
      const tr = row("head" + (head.idle ? " idle" : "") + (head.decides ? " decides" : ""), [block, part, head.where, head.because], head.writes, colour(i));
      tr.children[1].title = data.heads[i].says;
      singles(tr, i);
    });
    const kept = now.kept.filter((k) => k.block === block).map((k) => k.text);
    if (kept.length) row("ffn", [block, data.parts.kept, "", ""], kept.join(", "));
    for (const wrote of now.wrote) if (wrote.block === block) row("ffn", [block, data.parts.wrote, "", ""], wrote.writes);
  }
  row("ffn", ["", "output", "", now.rule || ""], now.produced);
}

function list(box, pairs, tints) {
  box.replaceChildren();
  for (const [name, value] of pairs) {
    const div = make(box, "div");
    make(div, "dt", name);
    make(div, "dd", value === 0 ? "–" : value).style.color = tints[name] || "";
    div.title = data.meanings[name] || "";
  }
}

function show(wanted) {
  step = Math.max(0, Math.min(data.steps.length - 1, wanted));
  const now = data.steps[step];
  byId("slider").value = step;
  byId("count").textContent = "token " + now.position + " (" + (step + 1) + " of " + data.steps.length + ")";
  history.replaceState(null, "", "#" + now.position); // the address leads to this token
  byId("says").textContent = now.says;
  byId("decided").textContent = now.decided;
  byId("found").hidden = !now.search;
  byId("found").textContent = now.search ? "The search: " + now.search.pattern : "";
  list(byId("focus"), Object.entries(now.focus || {}),
    {current: "var(--current)", previous: "var(--current)", father: "var(--father)", next: "var(--next)"});
  byId("held").hidden = !now.kept.length;
  list(byId("state"), now.kept.map((k) => [k.name, k.text.replace(k.name, "").replace(/^ = /, "").trim()]), {});
  alone = null;
  if (scene) scene.draw(byId("stage"), now);
  drawTokens();
  maps.forEach((map) => map.follow(now.position));
  drawTable();
}
function pause() { clearInterval(timer); timer = null; byId("play").textContent = "play"; }
function play() {
  if (data.steps.length === 1) return; // there is nothing to play
  if (timer) return pause();
  if (step === data.steps.length - 1) show(0);
  byId("play").textContent = "pause";
  timer = setInterval(() => { show(step + 1); if (step === data.steps.length - 1) pause(); }, Math.max(120, Math.min(1200, 90000 / data.steps.length)));
}
byId("back").addEventListener("click", () => { pause(); show(step - 1); });
byId("forth").addEventListener("click", () => { pause(); show(step + 1); });
byId("play").addEventListener("click", play);
byId("slider").addEventListener("input", (event) => { pause(); show(Number(event.target.value)); });
document.addEventListener("keydown", (event) => {
  if (event.target === byId("slider") && event.key.startsWith("Arrow")) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest(".scroll") && event.key !== " ") return; // it is scrolled
  if (event.key === "ArrowLeft") { pause(); show(step - 1); }
  else if (event.key === "ArrowRight") { pause(); show(step + 1); }
  else if (event.key === "Home") { pause(); show(0); }
  else if (event.key === "End") { pause(); show(data.steps.length - 1); }
  else if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); play(); }
});
window.addEventListener("resize", () => {
  for (const map of maps) { map.size(); map.follow(data.steps[step].position); }
  if (scene) { scene.nodes = null; scene.draw(byId("stage"), data.steps[step]); }
});
const asked = () => /^#\d+$/.test(location.hash) ? stepAt(Number(location.hash.slice(1))) : data.first;
window.addEventListener("hashchange", () => { pause(); show(asked()); });
byId("controls").hidden = byId("keys").hidden = data.steps.length === 1;
makeMaps();
show(asked());
