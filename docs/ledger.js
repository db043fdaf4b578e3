// The list of claims: hides what the form does not ask for, orders the rest, opens the claim of the address. verify/site.py writes it.
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("ledger-form"), list = byId("ledger-rows"), count = byId("ledger-count");
  const rows = [...list.children].map((row) => ({row, text: row.textContent.toLowerCase(), at: row.dataset}));
  const filters = [...form.querySelectorAll("select")].filter((select) => select.name !== "order");
  let order = "";

  function filter() {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = filters.filter((select) => select.value);
    let shown = 0;
    for (const {row, text, at} of rows) {
      row.hidden = !words.every((word) => text.includes(word))
        || !chosen.every((select) => at[select.name].split(" ").includes(select.value));
      if (!row.hidden) shown += 1;
    }
    count.textContent = shown + " of " + rows.length + " claims";
  }

  // By what is first of a row's words, as in their menu; rows that are equal keep the paper's order.
  function sort() {
    if (order === form.elements.order.value) return;
    order = form.elements.order.value;
    const menu = form.elements[order], values = menu ? [...menu.options].map((option) => option.value) : [];
    const place = ({at}) => order === "seconds" ? -at.seconds : values.indexOf(at[order].split(" ")[0]);
    list.append(...(order ? [...rows].sort((a, b) => place(a) - place(b)) : rows).map(({row}) => row));
  }

  const show = () => { filter(); sort(); };

  function open() {
    const title = byId(decodeURIComponent(location.hash.slice(1))), row = title && title.closest("#ledger-rows > details");
    if (!row) return;
    if (row.hidden) {
      form.reset();
      show();
    }
    row.open = true;
    row.scrollIntoView();
    requestAnimationFrame(() => row.scrollIntoView()); // rows around it have their heights now: see content-visibility in site.css
  }

  form.addEventListener("input", show);
  form.addEventListener("reset", () => setTimeout(show));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", open);
  addEventListener("pageshow", () => { show(); open(); }); // after a browser has put back what was asked before
  form.hidden = false;
})();
