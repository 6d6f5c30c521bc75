// Every key of the recipe with its value and why it has it: to search, and to change in place.

import { button, make, said } from "../elements.js";
import { typed } from "./settings.js";

/** A table; `base` holds the values of the run that is forked, or null. `changed(key, value)` is told; null takes it back. */
export function recipeTable({ words, base, hidden, changed }) {
  const search = make("input", { type: "search", placeholder: words("train.search"), ariaLabel: words("train.search") });
  const all = make("input", { type: "checkbox" });
  const count = make("span", { className: "note", role: "status" });
  const body = make("tbody");
  const rows = new Map();
  const notes = make("ul", { className: "notes" });
  let chosen = new Set(), settings = {};

  const section = make("section", {},
    make("h2", { textContent: words("train.recipe") }),
    make("p", { className: "note", textContent: words("train.recipe_note") }),
    make("div", { className: "chart-controls" }, search, make("label", {}, all, make("span", { textContent: words("train.all_keys") })), count),
    make("div", { className: "scroll" }, make("table", { className: "recipe stacked" },
      make("thead", {}, make("tr", {}, ["train.key", "train.value", "train.why"].map((key) => make("th", { scope: "col", textContent: words(key) })))), body)),
    notes);

  function addRow(key) {
    const input = make("input", { type: "text", className: "value", spellcheck: false, ariaLabel: key });
    const why = make("span", { lang: "en" });
    const back = button(words("inspect.undo"), () => changed(key, base && typed(base[key]) !== typed(settings[key]) && key in settings && key in base ? typed(base[key]) : null), { kind: "small", aria: { label: `${words("inspect.undo")} ${key}` } });
    const row = make("tr", {}, make("th", { scope: "row" }, make("code", { textContent: key })), make("td", { data: { label: words("train.value") } }, input), make("td", { data: { label: words("train.why") } }, why, " ", back));
    input.addEventListener("change", () => changed(key, input.value));
    rows.set(key, { row, input, why, back });
    body.append(row);
  }

  function filter() {
    const asked = search.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach(({ row, input, why }, key) => {
      const fits = asked ? `${key} ${input.value} ${why.textContent}`.toLowerCase().includes(asked) : all.checked || chosen.has(key) || key in settings;
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = words("train.keys_shown", { count: shown, all: rows.size });
  }

  search.addEventListener("input", filter);
  all.addEventListener("change", filter);
  return {
    element: section,
    update(found, now) {
      settings = now;
      chosen = new Set(found.chosen);
      Object.entries(found.values).filter(([key]) => !hidden.has(key)).forEach(([key, { value, why }]) => {
        if (!rows.has(key)) addRow(key);
        const one = rows.get(key), text = typed(found.refused && key in settings ? settings[key] : value);
        if (document.activeElement !== one.input) one.input.value = text;
        const isChanged = base ? key in base && text !== typed(base[key]) : key in settings;
        one.why.textContent = base && isChanged ? words("train.was", { value: typed(base[key]) || "–" }) : why;
        one.row.classList.toggle("changed", isChanged);
        one.back.hidden = !isChanged;
      });
      notes.replaceChildren(...found.notes.map((note) => said(note, "li")));
      filter();
    },
  };
}
