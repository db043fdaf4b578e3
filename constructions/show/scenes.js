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

// A scene has a title and draw(stage, now): the step `now` in the element `stage`.
const scenes = {
  // vertices: places; edges: pairs from 1; `focus` of a step: current, previous, father, next.
  graph: {
    title: "The graph. Blue: the search is here. Pale: it was. Ringed: next, father",
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
        draw(svg, "circle", {cx: x, cy: y, r, fill, stroke: ring, "stroke-width": ring === "var(--line)" ? 2 : 3.5});
        draw(svg, "text", {x, y: y + r * 0.34, "text-anchor": "middle", "font-size": r * (v > 99 ? 0.8 : 1), "font-weight": 600,
          fill: here ? "var(--card)" : "var(--ink)"}, v);
        if (here) centre(stage, x, y);
      });
    },
  },

  // word: symbols from cell 0; moves: [state, head, written, next head, next state] for each step; done: steps at each position.
  tape: {
    title: "The tape, and every step of it: a row for each, a column for each cell",
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
      const wide = Math.max(1, Math.min(12, Math.floor((room.width - 20) / width)));
      const high = Math.max(2, Math.min(10, Math.floor(200 / shown.length)));
      [canvas.width, canvas.height] = [width * wide, shown.length * high];
      canvas.title = "steps " + top + " to " + (top + shown.length - 1);
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
        paint.fillRect(on * wide, y * high, wide, high);
      });
      paint.globalAlpha = 1;
      paint.strokeStyle = blue;
      paint.strokeRect(0.5, (done - top) * high + 0.5, width * wide - 1, Math.max(high - 1, 1));
    },
  },

  // gates: [kind, left, right, name] in order; a step of the RNN is all of them and a word.
  circuit: {
    title: "One step as a circuit, inputs on the left. Bright: 1. Dark: 0. Hollow: still to come",
    nodes: null,
    place(stage) {
      const {gates} = data.scene, depth = [], columns = [];
      gates.forEach(([kind, left, right], i) => {
        depth.push(kind === "AND" || kind === "XOR" ? 1 + Math.max(depth[left], depth[right]) : 0);
        (columns[depth[i]] = columns[depth[i]] || []).push(i);
      });
      const room = stage.getBoundingClientRect(), pad = 14, H = room.height - 8;
      const W = Math.max(room.width - 2, 14 * columns.length);
      const at = [];
      columns.forEach((column, x) => column.forEach((i, y) => {
        at[i] = [pad + x * (W - 2 * pad) / Math.max(1, columns.length - 1), pad + (y + 0.5) * (H - 2 * pad) / column.length];
      }));
      const tallest = Math.max(...columns.map((c) => c.length));
      const r = Math.max(2.2, Math.min(9, 0.4 * (H - 2 * pad) / tallest, 0.4 * (W - 2 * pad) / columns.length));
      stage.replaceChildren();
      const svg = draw(stage, "svg", {width: W, height: H, role: "img", "aria-label": "the circuit"});
      const wires = gates.flatMap(([kind, left, right], i) => kind === "AND" || kind === "XOR"
        ? ["M" + at[left] + "L" + at[i] + "M" + at[right] + "L" + at[i]] : []);
      draw(svg, "path", {d: wires.join(""), stroke: "var(--line)", "stroke-width": 0.5, fill: "none"});
      this.active = draw(svg, "path", {d: "", stroke: "var(--next)", "stroke-width": 2.5, fill: "none"});
      this.nodes = gates.map(([kind, , , name], i) => {
        const [cx, cy] = at[i];
        const node = kind === "XOR" ? draw(svg, "rect", {x: cx - r, y: cy - r, width: 2 * r, height: 2 * r})
          : draw(svg, "circle", {cx, cy, r});
        draw(node, "title", {}, "gate " + (i + 1) + ": " + name);
        return node;
      });
      this.at = at;
    },
    draw(stage, now) {
      if (!this.nodes || !stage.contains(this.nodes[0])) this.place(stage);
      const {gates} = data.scene, turn = gates.length + 1, place = now.position + 1 - data.promptLength;
      const number = (place - 1) % turn, begin = data.promptLength + place - 1 - number; // of the token that is written now
      const value = (i) => i < number ? data.tokens[begin + i] : i === number ? now.produced : "";
      this.nodes.forEach((node, i) => {
        const bit = value(i).split("=")[1];
        node.setAttribute("fill", bit === "1" ? "var(--next)" : bit === "0" ? "var(--soft)" : "var(--card)");
        node.setAttribute("stroke", i === number ? "var(--current)" : "var(--line)");
        node.setAttribute("stroke-width", i === number ? 4 : 1);
      });
      const [kind, left, right] = gates[number] || ["word"];
      const wired = kind === "AND" || kind === "XOR";
      this.active.setAttribute("d", wired ? "M" + this.at[left] + "L" + this.at[number] + "L" + this.at[right] : "");
      if (number < gates.length) centre(stage, ...this.at[number]);
    },
  },
};
