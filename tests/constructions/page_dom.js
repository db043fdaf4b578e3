// A page's scripts against the few parts of a DOM that they use: `node page_dom.js PAGE` prints what each step shows, as JSON.
"use strict";
const fs = require("fs"), vm = require("vm");
const page = fs.readFileSync(process.argv[2], "utf8");

class Node {
  constructor(name) {
    Object.assign(this, {name, children: [], attributes: {}, listeners: {}, style: {}, own: "", className: "", hidden: false});
    Object.assign(this, {scrollLeft: 0, scrollTop: 0, clientWidth: 600, clientHeight: 300, offsetTop: 0});
    this.classList = {add: (c) => { this.className += " " + c; }, toggle: (c, on) => { if (on) this.className += " " + c; }};
  }
  get textContent() { return this.own + this.children.map((c) => c.textContent).join(""); }
  set textContent(text) { this.own = String(text); this.children = []; }
  setAttribute(key, value) { this.attributes[key] = String(value); }
  getAttribute(key) { return this.attributes[key]; }
  appendChild(node) { this.children.push(node); return node; }
  append(...nodes) { this.children.push(...nodes); }
  prepend(...nodes) { this.children.unshift(...nodes); }
  replaceChildren(...nodes) { this.children = nodes; }
  addEventListener(kind, call) { (this.listeners[kind] = this.listeners[kind] || []).push(call); }
  contains(node) { return this === node || this.children.some((c) => c.contains(node)); }
  getBoundingClientRect() { return {left: 0, top: 0, width: 600, height: 300}; }
  getContext() { // what is painted: each rectangle with its colour, each text
    this.painted = [];
    const note = (...what) => this.painted.push(what);
    const paint = {fillRect: (...at) => note("rect", paint.fillStyle, ...at), fillText: (...at) => note("text", ...at), clearRect: () => { this.painted.length = 0; }};
    for (const name of ["strokeRect", "save", "restore", "beginPath", "rect", "clip", "arc", "fill", "setTransform"]) paint[name] = () => {};
    return paint;
  }
  all(name) { return [...(this.name === name ? [this] : []), ...this.children.flatMap((c) => c.all(name))]; }
}
const ids = {};
for (const [tag, name, id] of page.matchAll(/<(\w+)[^>]*? id="([\w-]+)"[^>]*>/g)) {
  ids[id] = Object.assign(new Node(name), {tabIndex: /tabindex="0"/.test(tag) ? 0 : -1, hidden: / hidden[ >]/.test(tag)});
}
ids.data.textContent = page.match(/<script type="application\/json" id="data">([^]*?)<\/script>/)[1];
const script = page.match(/<script>\n([^]*?)<\/script>/)[1];
const document = {
  getElementById: (id) => { if (!ids[id]) throw new Error("no element " + id); return ids[id]; },
  createElement: (name) => new Node(name), createElementNS: (_, name) => new Node(name),
  documentElement: new Node("html"), addEventListener: () => {},
};
const shown = [];
const location = {hash: process.argv[3] || ""};
const context = {document, window: new Node("window"), location, history: {replaceState: (_, __, hash) => { location.hash = hash; }}, clearInterval: () => {}, setInterval: () => 1, shown,
  getComputedStyle: () => ({getPropertyValue: () => " #000"})};
const numbers = (node, ...names) => names.map((name) => Number(node.getAttribute(name)));
context.look = () => {
  const svg = ids.stage.all("svg")[0];
  shown.push({
    says: ids.says.textContent, decided: ids.decided.textContent, count: ids.count.textContent, address: location.hash, found: ids.found.hidden ? null : ids.found.textContent,
    rows: ids.parts.all("tr").map((tr) => tr.children.map((td) => td.textContent)),
    deciding: ids.parts.all("tr").flatMap((tr, i) => tr.className.includes("decides") ? [i] : []),
    marked: ids.context.all("span").filter((s) => s.className.includes("group")).map((s) => s.textContent),
    texts: svg ? svg.all("text").map((t) => t.textContent) : [],
    circles: svg ? svg.all("circle").map((c) => numbers(c, "cx", "cy", "r")) : [],
    nodes: svg ? ["rect", "circle", "path"].flatMap((name) => svg.all(name)).filter((n) => n.all("title").length).map((n) => [n.all("title")[0].textContent, n.getAttribute("fill")]) : [],
    titles: [...ids.tokens.all("title"), ...(svg ? svg.all("title") : [])].map((t) => t.textContent), legend: ids.legend.textContent,
    maps: ids.maps.all("canvas").map((c) => c.painted.filter(([kind, colour]) => kind === "rect" && colour.startsWith("#") && colour !== "#000").map(([, , ...at]) => at)),
    ticks: ids.maps.all("canvas").map((c) => c.painted.filter(([kind]) => kind === "text").map(([, text]) => String(text))),
    arcs: ids.tokens.all("path").length,
  });
};
vm.runInNewContext(script + "\nlook(); while (step < data.steps.length - 1) { show(step + 1); look(); }", context);
const figures = ids.maps.all("figure"), focusable = [ids.stage, ids.row, ids.context, ...ids.maps.all("div").filter((d) => d.className.includes("map")), ...ids.parts.all("tr").filter((tr) => tr.className.includes("head"))];
console.log(JSON.stringify({maps: figures.length, cells: figures.map((f) => Number(f.getAttribute("data-cell"))), captions: figures.map((f) => f.all("figcaption")[0].textContent),
  zoom: !ids.zoom.hidden, player: !ids.controls.hidden, unreachable: focusable.filter((node) => node.tabIndex !== 0).length, blocks: ids.blocks.all("li").map((li) => li.textContent), verdict: ids.verdict.textContent, steps: shown}));
