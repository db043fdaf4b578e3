// A page's scripts against the few parts of a DOM that they use: `node page_dom.js PAGE` prints what each step shows, as JSON.
"use strict";
const fs = require("fs"), vm = require("vm");
const page = fs.readFileSync(process.argv[2], "utf8");

class Node {
  constructor(name) {
    Object.assign(this, {name, children: [], attributes: {}, listeners: {}, style: {}, own: "", className: "", hidden: false});
    Object.assign(this, {scrollLeft: 0, scrollTop: 0, clientWidth: 600, clientHeight: 300, offsetTop: 0});
    this.classList = {add: (c) => { this.className += " " + c; }, toggle: () => {}};
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
  getContext() { return {fillRect: () => {}, strokeRect: () => {}}; }
  all(name) { return [...(this.name === name ? [this] : []), ...this.children.flatMap((c) => c.all(name))]; }
}
const ids = {};
for (const [, name, id] of page.matchAll(/<(\w+)[^>]*? id="([\w-]+)"/g)) ids[id] = new Node(name);
ids.data.textContent = page.match(/<script type="application\/json" id="data">([^]*?)<\/script>/)[1];
const script = page.match(/<script>\n([^]*?)<\/script>/)[1];
const document = {
  getElementById: (id) => { if (!ids[id]) throw new Error("no element " + id); return ids[id]; },
  createElement: (name) => new Node(name), createElementNS: (_, name) => new Node(name),
  documentElement: new Node("html"), addEventListener: () => {},
};
const shown = [];
const location = {hash: ""};
const context = {document, window: new Node("window"), location, history: {replaceState: (_, __, hash) => { location.hash = hash; }}, clearInterval: () => {}, setInterval: () => 1, shown,
  getComputedStyle: () => ({getPropertyValue: () => " #000"})};
const numbers = (node, ...names) => names.map((name) => Number(node.getAttribute(name)));
context.look = () => {
  const svg = ids.stage.all("svg")[0];
  shown.push({
    says: ids.says.textContent, count: ids.count.textContent, address: location.hash, found: ids.found.hidden ? null : ids.found.textContent,
    rows: ids.parts.all("tr").map((tr) => tr.children.map((td) => td.textContent)),
    marked: ids.context.all("span").filter((s) => s.className.includes("group")).map((s) => s.textContent),
    texts: svg ? svg.all("text").map((t) => t.textContent) : [],
    circles: svg ? svg.all("circle").map((c) => numbers(c, "cx", "cy", "r")) : [],
    arcs: ids.tokens.all("path").length,
  });
};
vm.runInNewContext(script + "\nlook(); while (step < data.steps.length - 1) { show(step + 1); look(); }", context);
console.log(JSON.stringify({maps: ids.maps.all("figure").length, verdict: ids.verdict.textContent, steps: shown}));
