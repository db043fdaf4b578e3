// docs/ledger.js against the few parts of a DOM that it uses: `node ledger_dom.js SCRIPT < PAGE.json` prints, as JSON, what each action
// leaves. A page: {rows: [{id, data, text}], menus: {name: [values]}, actions: [{set: {name: value}} | {hash: id} | {reset: true}]}.
"use strict";
const fs = require("fs");
const vm = require("vm");
const page = JSON.parse(fs.readFileSync(0, "utf8"));

class Target {
  listeners = {};
  addEventListener(kind, call) { (this.listeners[kind] ||= []).push(call); }
  fire(kind) { for (const call of this.listeners[kind] || []) call({preventDefault() {}}); }
}

let scrolled = null;
const rows = page.rows.map(({id, data, text}) => {
  const row = {id, dataset: data, textContent: text, hidden: false, open: false, scrollIntoView() { scrolled = id; }};
  return Object.assign(row, {title: {closest: (selector) => selector === "#ledger-rows > details" ? row : null}});
});
const list = {children: rows, append(...moved) { this.children = [...this.children.filter((row) => !moved.includes(row)), ...moved]; }};
const menus = Object.entries(page.menus).map(([name, values]) => ({name, value: "", options: values.map((value) => ({value}))}));
const form = Object.assign(new Target(), {
  hidden: true,
  elements: {words: {value: ""}, ...Object.fromEntries(menus.map((menu) => [menu.name, menu]))},
  querySelectorAll: () => menus,
  reset() {
    form.fire("reset"); // before its fields are empty
    for (const field of Object.values(form.elements)) field.value = "";
  },
});
const count = {textContent: ""};
const named = {"ledger-form": form, "ledger-rows": list, "ledger-count": count};
const later = [];
const location = {hash: page.hash || ""};
const world = new Target();
const context = vm.createContext({
  document: {getElementById: (id) => named[id] || (rows.find((row) => row.id === id) || {title: null}).title},
  location, setTimeout: (call) => later.push(call), requestAnimationFrame: (call) => later.push(call), addEventListener: world.addEventListener.bind(world),
});
vm.runInContext(fs.readFileSync(process.argv[2], "utf8"), context);

const state = () => ({
  shown: list.children.filter((row) => !row.hidden).map((row) => row.id),
  open: rows.filter((row) => row.open).map((row) => row.id), scrolled, count: count.textContent, form: !form.hidden,
});
world.fire("pageshow");
const states = [state()];
for (const action of page.actions) {
  for (const [name, value] of Object.entries(action.set || {})) form.elements[name].value = value;
  if (action.set) form.fire("input");
  if (action.reset) form.reset();
  if (action.hash !== undefined) { location.hash = "#" + encodeURIComponent(action.hash); world.fire("hashchange"); }
  while (later.length) later.shift()();
  states.push(state());
}
console.log(JSON.stringify(states));
