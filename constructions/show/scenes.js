"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
function draw(parent, name, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}
function make(parent, name, text, kind) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  parent.appendChild(node);
  return node;
}
const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function centre(stage, x, y) {
  if (x < stage.scrollLeft + 40 || x > stage.scrollLeft + stage.clientWidth - 40) stage.scrollLeft = x - stage.clientWidth / 2;
  if (y < stage.scrollTop + 30 || y > stage.scrollTop + stage.clientHeight - 30) stage.scrollTop = y - stage.clientHeight / 2;
}

// A swatch of a legend is drawn as it is in the scene: the name of an SVG element, its attributes in a box of 18 by 18, its text.
function explain(box, legend) {
  box.replaceChildren();
  for (const [name, attributes, text] of legend) {
    const key = make(box, "span", undefined, "key");
    draw(draw(key, "svg", {width: 18, height: 18, "aria-hidden": "true"}), name, attributes);
    make(key, "span", text);
  }
}
const dot = {cx: 9, cy: 9, r: 6.5};
const NEXT = "5 2.5", FATHER = "1.5 2.5"; // dashes, for those to whom the colours are one

// A scene has a title, a legend, draw(stage, now): what token `now` shows in the element `stage`; and wide, if it takes the whole width.
const scenes = {
  // vertices: places; edges: pairs from 1; `focus` of a step: current, previous, father, next.
  graph: {
    title: "The graph",
    legend: [
      ["circle", {...dot, fill: "var(--current)"}, "the search is here"],
      ["circle", {...dot, fill: "var(--chain)", stroke: "var(--line)", "stroke-width": 2}, "it was here"],
      ["circle", {...dot, fill: "none", stroke: "var(--next)", "stroke-width": 3, "stroke-dasharray": NEXT}, "next"],
      ["circle", {...dot, fill: "none", stroke: "var(--father)", "stroke-width": 3, "stroke-dasharray": FATHER}, "father"],
    ],
    marked: null,
    draw(stage, now) {
      const {vertices, edges} = data.scene, focus = now.focus || {};
      const xs = vertices.map((v) => v[0]), ys = vertices.map((v) => v[1]);
      const w = Math.max(...xs), h = Math.max(...ys), pad = 26, least = 25;
      const room = stage.getBoundingClientRect();
      const gap = (of, size, most) => of ? Math.min(most, Math.max(least, (size - 2 * pad) / of)) : 0;
      const gapX = gap(w, room.width, 90), gapY = gap(h, room.height, 75);
      const W = Math.max(room.width - 2, w * gapX + 2 * pad), H = Math.max(room.height - 6, h * gapY + 2 * pad);
      const at = (v) => [W / 2 + (xs[v - 1] - w / 2) * gapX, H / 2 + (ys[v - 1] - h / 2) * gapY];
      const r = Math.min(16, 0.44 * Math.min(w ? gapX : 99, h ? gapY : 99));
      stage.replaceChildren();
      const svg = draw(stage, "svg", {width: W, height: H, role: "img", "aria-label": "the graph"});
      const visited = new Set(data.steps.slice(0, now.position - data.promptLength + 1).map((at) => (at.focus || {}).current));
      edges.forEach(([u, v], i) => {
        const [x1, y1] = at(u), [x2, y2] = at(v);
        const is = (a, b) => a && b && ((u === a && v === b) || (u === b && v === a));
        const goes = is(focus.current, focus.next), came = is(focus.current, focus.previous), here = i === this.marked;
        const stroke = here ? "var(--ink)" : goes ? "var(--next)" : came ? "var(--current)" : "var(--line)";
        const level = y1 === y2 && Math.abs(x1 - x2) > 1.5 * gapX;
        const bend = level || (x1 === x2 && Math.abs(y1 - y2) > 1.5 * gapY) ? 34 : 0;
        const middle = level ? [(x1 + x2) / 2, y1 + bend] : [x1 + bend, (y1 + y2) / 2];
        const d = "M" + x1 + "," + y1 + (bend ? "Q" + middle + " " : "L") + x2 + "," + y2;
        const line = draw(svg, "path", {d, fill: "none", stroke, "stroke-width": here || goes || came ? 4 : 2});
        draw(line, "title", {}, "edge " + (i + 1) + ": " + u + "–" + v);
      });
      vertices.forEach((_, i) => {
        const v = i + 1, [x, y] = at(v), here = v === focus.current, next = v === focus.next && !here;
        const ring = here ? "var(--current)" : next ? "var(--next)" : v === focus.father ? "var(--father)" : "var(--line)";
        const fill = here ? "var(--current)" : visited.has(v) ? "var(--chain)" : "var(--card)";
        draw(svg, "circle", {cx: x, cy: y, r, fill, stroke: ring, "stroke-width": ring === "var(--line)" ? 2 : 3.5,
          "stroke-dasharray": ring === "var(--next)" ? NEXT : ring === "var(--father)" ? FATHER : "none"});
        draw(svg, "text", {x, y: y + r * 0.34, "text-anchor": "middle", "font-size": r * (v > 99 ? 0.8 : 1), "font-weight": 600,
          fill: here ? "var(--card)" : "var(--ink)"}, v);
        if (here) centre(stage, x, y);
      });
    },
  },

  // word: symbols from cell 0; moves: [state, head, written, next head, next state] for each step; done: steps at each position.
  tape: {
    title: "The tape, and below it the whole run: a row for each machine step, a column for each cell",
    legend: [
      ["rect", {x: 1, y: 1, width: 16, height: 16, rx: 4, fill: "var(--soft)"}, "not blank"],
      ["rect", {x: 1, y: 1, width: 16, height: 16, rx: 4, fill: "var(--faint)"}, "blank"],
      ["circle", {...dot, r: 5, fill: "var(--current)"}, "the machine's head"],
      ["rect", {x: 1, y: 5, width: 16, height: 8, fill: "none", stroke: "var(--current)"}, "now; the rows below it are still to come"],
    ],
    rows: null,
    replay() { // the cells after each step
      const cells = new Map(data.scene.word.map((symbol, i) => [i, symbol]));
      let low = 0, high = Math.max(0, data.scene.word.length - 1);
      for (const [, head, , next] of data.scene.moves) [low, high] = [Math.min(low, head, next), Math.max(high, head, next)];
      const rows = [], width = high - low + 1;
      const row = () => { const r = new Uint8Array(width); for (const [c, s] of cells) r[c - low] = s; return r; };
      rows.push(row());
      for (const [, head, written] of data.scene.moves) { cells.set(head, written); rows.push(row()); }
      return {rows, low, width};
    },
    draw(stage, now) {
      const {moves} = data.scene, done = data.scene.done[now.position - 1];
      this.rows = this.rows || this.replay();
      const {rows, low, width} = this.rows, room = stage.getBoundingClientRect();
      const head = done ? moves[done - 1][3] : 0, state = done ? moves[done - 1][4] : "A";
      const size = 34, fits = Math.min(width, Math.max(5, Math.floor((room.width - 20) / size)));
      const first = Math.min(Math.max(head - low - Math.floor(fits / 2), 0), width - fits);
      stage.replaceChildren();
      const svg = draw(stage, "svg", {width: fits * size + 8, height: 92, role: "img", "aria-label": "the tape"});
      for (let i = 0; i < fits; i++) {
        const cell = low + first + i, symbol = rows[done][first + i], here = cell === head, x = 4 + i * size;
        draw(svg, "rect", {x, y: 30, width: size - 3, height: size - 3, rx: 5, stroke: here ? "var(--current)" : "var(--line)",
          "stroke-width": here ? 3 : 1, fill: symbol ? "var(--chain)" : "var(--card)"});
        draw(svg, "text", {x: x + size / 2 - 1.5, y: 51, "text-anchor": "middle", "font-size": 16, "font-weight": 600,
          fill: symbol ? "var(--ink)" : "var(--soft)"}, symbol);
        draw(svg, "text", {x: x + size / 2 - 1.5, y: 78, "text-anchor": "middle", "font-size": 10.5, fill: "var(--soft)"}, cell);
        if (here) draw(svg, "text", {x: x + size / 2 - 1.5, y: 21, "text-anchor": "middle", "font-size": 16, "font-weight": 700,
          fill: "var(--current)"}, state + "▾");
      }
      const canvas = make(stage, "canvas"), most = 100;
      const top = Math.min(Math.max(done - most / 2, 0), Math.max(rows.length - most, 0)), shown = rows.slice(top, top + most);
      const wide = Math.max(1, Math.min(size, Math.floor((room.width - 20) / width))); // below its cell of the tape, if all fit
      const high = Math.max(2, Math.min(14, Math.floor(200 / shown.length)));
      [canvas.width, canvas.height] = [width * wide, shown.length * high];
      canvas.title = "behind machine steps " + top + " to " + (top + shown.length - 1);
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", "the tape behind " + canvas.title.slice(7));
      const paint = canvas.getContext("2d"), [ink, faint, blue] = ["--soft", "--faint", "--current"].map(colourOf);
      shown.forEach((cells, y) => {
        const later = top + y > done;
        for (let x = 0; x < width; x++) {
          paint.fillStyle = cells[x] ? ink : faint;
          paint.globalAlpha = (later ? 0.3 : 1) * (cells[x] > 1 ? 0.6 : 1);
          paint.fillRect(x * wide, y * high, wide, high);
        }
        const on = (top + y ? moves[top + y - 1][3] : 0) - low;
        paint.globalAlpha = later ? 0.3 : 1;
        paint.fillStyle = blue;
        const radius = Math.min(wide, high) / 2 - 1;
        if (radius < 3) paint.fillRect(on * wide, y * high, wide, high);
        else {
          paint.beginPath();
          paint.arc((on + 0.5) * wide, (y + 0.5) * high, radius, 0, 2 * Math.PI);
          paint.fill();
        }
      });
      paint.globalAlpha = 1;
      paint.strokeStyle = blue;
      paint.strokeRect(0.5, (done - top) * high + 0.5, width * wide - 1, Math.max(high - 1, 1));
    },
  },

  // gates: [kind, left, right, name] in order; a step of the RNN is all of them and a word. bits: the words for 0 and 1. ends: what
  // each gate's value becomes.
  circuit: {
    title: "One step of the RNN as a circuit; what it reads is on the left, and values go to the right",
    legend: [
      ["path", {d: "M9,1L17,9L9,17L1,9Z", fill: "var(--card)", stroke: "var(--soft)"}, "a bit that is read, or 1"],
      ["circle", {...dot, fill: "var(--card)", stroke: "var(--soft)"}, "AND"],
      ["rect", {x: 2.5, y: 2.5, width: 13, height: 13, fill: "var(--card)", stroke: "var(--soft)"}, "XOR"],
      ["circle", {...dot, fill: "var(--next)", stroke: "var(--ink)", "stroke-width": 1.5}, "filled: its value is 1"],
      ["circle", {...dot, fill: "var(--card)", stroke: "var(--ink)", "stroke-width": 1.5}, "hollow: 0"],
      ["circle", {...dot, fill: "var(--faint)", stroke: "var(--line)", "stroke-dasharray": "2 2"}, "dashed: still to come"],
      ["circle", {...dot, r: 5.5, fill: "none", stroke: "var(--current)", "stroke-width": 4}, "written now"],
    ],
    wide: true,
    nodes: null,
    MOST: 150, // gates that have their number and name beside them
    place(stage) {
      const {gates, ends} = data.scene, depth = [], columns = [];
      const computes = (kind) => kind === "AND" || kind === "XOR";
      gates.forEach(([kind, left, right], i) => {
        depth.push(computes(kind) ? 1 + Math.max(depth[left], depth[right]) : 0);
        (columns[depth[i]] = columns[depth[i]] || []).push(i);
      });
      const tallest = Math.max(...columns.map((c) => c.length)), labelled = gates.length <= this.MOST;
      const room = stage.getBoundingClientRect(), top = 30, pad = labelled ? 96 : 16, right = labelled ? 150 : 90;
      const H = Math.max(room.height - 8, labelled ? 21 * tallest + top + 16 : 0);
      const W = Math.max(room.width - 2, pad + right + (labelled ? 64 : 14) * columns.length);
      const at = [], high = H - top - 16;
      columns.forEach((column, x) => column.forEach((i, y) => {
        at[i] = [pad + x * (W - pad - right) / Math.max(1, columns.length - 1), top + (y + 0.5) * high / column.length];
      }));
      const r = labelled ? 9 : Math.max(2.2, Math.min(9, 0.4 * high / tallest, 0.4 * (W - pad - right) / columns.length));
      stage.replaceChildren();
      const svg = draw(stage, "svg", {width: W, height: H, role: "img", "aria-label": "the circuit"});
      const wires = gates.flatMap(([kind, left, right], i) => computes(kind)
        ? ["M" + at[left] + "L" + at[i] + "M" + at[right] + "L" + at[i]] : []);
      draw(svg, "path", {d: wires.join(""), stroke: "var(--line)", "stroke-width": 0.8, fill: "none"});
      this.active = draw(svg, "path", {d: "", stroke: "var(--current)", "stroke-width": 2.5, fill: "none"});
      this.nodes = gates.map(([kind, , , name], i) => {
        const [x, y] = at[i], becomes = ends[i].length ? ", which is " + ends[i].join(", ") : "";
        const node = kind === "XOR" ? draw(svg, "rect", {x: x - r, y: y - r, width: 2 * r, height: 2 * r})
          : kind === "AND" ? draw(svg, "circle", {cx: x, cy: y, r})
          : draw(svg, "path", {d: "M" + [x, y - r] + "L" + [x + r, y] + "L" + [x, y + r] + "L" + [x - r, y] + "Z"});
        draw(node, "title", {}, "gate " + (i + 1) + ": " + name + becomes);
        return node;
      });
      const write = (x, y, text, more) => draw(svg, "text", {x, y, "font-size": 10, fill: "var(--soft)", ...more}, text);
      this.numbers = !labelled ? [] : gates.map(([kind, , , name], i) => {
        const [x, y] = at[i];
        if (!computes(kind)) write(x - r - 5, y + 3.5, name.replace(/ bit /, " "), {"text-anchor": "end"});
        if (ends[i].length) {
          write(x + r + 5, y + 3.5, ends[i].slice(0, 2).join(", ") + (ends[i].length > 2 ? " …" : ""), {class: "over"});
        }
        return write(x, y + 3.5, i + 1, {"text-anchor": "middle", "pointer-events": "none"});
      });
      this.reads = write(8, 16, "", {"font-size": 14, "font-weight": 700, fill: "var(--ink)"});
      this.at = at;
    },
    draw(stage, now) {
      if (!this.nodes || !stage.contains(this.nodes[0])) this.place(stage);
      const {gates, bits} = data.scene, turn = gates.length + 1, place = now.position - data.promptLength;
      const number = place % turn, begin = data.promptLength + place - number; // of the token that is written now
      const word = (i) => i < number ? data.tokens[begin + i] : i === number ? now.produced : "";
      this.nodes.forEach((node, i) => {
        const bit = i > number ? -1 : bits.indexOf(word(i)), here = i === number;
        node.setAttribute("fill", bit === 1 ? "var(--next)" : i > number ? "var(--faint)" : "var(--card)");
        node.setAttribute("stroke", here ? "var(--current)" : i > number ? "var(--line)" : "var(--ink)");
        node.setAttribute("stroke-width", here ? 4 : 1.5);
        node.setAttribute("stroke-dasharray", i > number ? "2 2" : "none");
        if (this.numbers[i]) this.numbers[i].setAttribute("fill", bit === 1 ? "var(--card)" : i > number ? "var(--soft)" : "var(--ink)");
      });
      const step = (place - number) / turn, ended = number === gates.length;
      this.reads.textContent = "RNN step " + (step + 1) + " reads " + data.tokens[step < data.promptLength ? step : begin - 1]
        + (ended ? " and writes " + now.produced : "; its word comes after the last gate");
      const [kind, left, right] = gates[number] || ["word"];
      const wired = kind === "AND" || kind === "XOR";
      this.active.setAttribute("d", wired ? "M" + this.at[left] + "L" + this.at[number] + "L" + this.at[right] : "");
      if (!ended) centre(stage, ...this.at[number]);
    },
  },
};
