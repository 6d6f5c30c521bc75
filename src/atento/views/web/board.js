// The table of results: sort by any column, filter by text, hide rows; charts follow what is hidden.

import { button, copyMenu, csvOf, make } from "./charts/copying.js";
import { valueText } from "./charts/scales.js";

/** Make a table of results workable; `changed(names)` hears which models are hidden. */
export function workableBoard(table, changed) {
  const body = table.tBodies[0], rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const columns = heads.map((head, at) => ({ head, at, name: head.dataset.sort })).filter(({ name }) => name);
  const names = new Map(rows.map((row) => [row, row.dataset.model]));
  const hidden = new Set();
  const status = make("p", { className: "hidden", role: "status" });
  const filter = make("input", { type: "search", name: "filter", placeholder: "Filter models", ariaLabel: "Filter models" });
  const show = button("", () => { hidden.clear(); update("All rows are shown."); filter.focus(); });
  const select = make("select", { name: "sort", ariaLabel: "Sort by" }, ...columns.map(({ name }, at) => make("option", { value: at, textContent: name })));
  const bar = make("div", { className: "board-controls" }, filter,
    make("label", { className: "sort-choice" }, make("span", { textContent: "Sort by" }), select), show,
    copyMenu("results", { CSV: () => csvOf(records()), JSON: () => JSON.stringify(records(), null, 1), Markdown: () => markdownOf(records()) }));
  table.closest(".scroll").before(bar, status);

  function update(message = "") {
    const wanted = filter.value.trim().toLowerCase();
    rows.forEach((row) => {
      row.hidden = hidden.has(names.get(row)) || (wanted !== "" && !row.textContent.toLowerCase().includes(wanted));
    });
    const count = rows.filter((row) => row.hidden).length;
    show.hidden = hidden.size === 0;
    show.textContent = `Show ${hidden.size} hidden`;
    status.textContent = message || (count ? `${rows.length - count} of ${rows.length} rows are shown.` : "");
    changed(rows.filter((row) => row.hidden).map((row) => names.get(row)));
  }

  function sort(column, direction) {
    const value = (row) => {
      const cell = row.cells[column.at];
      if (row.classList.contains("failed")) return null;
      const text = cell?.dataset.value;
      return text === undefined ? cell?.textContent ?? null : text === "" ? null : Number(text);
    };
    const sign = direction === "ascending" ? 1 : -1;
    const order = (one, other) => {
      const [a, b] = [value(one), value(other)];
      if (a === null || b === null) return (a === null) - (b === null); // what has no value stands last either way
      return sign * (typeof a === "string" ? a.localeCompare(b) : a - b);
    };
    body.append(...[...rows].sort(order));
    columns.forEach(({ head }) => head.removeAttribute("aria-sort"));
    column.head.setAttribute("aria-sort", direction);
    select.value = String(columns.indexOf(column));
    status.textContent = `Sorted by ${column.name}, ${direction}.`;
  }

  function records() {
    const shown = [...body.rows].filter((row) => !row.hidden);
    return shown.map((row) => Object.fromEntries(columns.flatMap(({ name, at }) => {
      if (name === columns[0].name) return [[name, names.get(row)]];
      if (row.classList.contains("failed")) return [[name, null]];
      const { value, low, high } = row.cells[at].dataset;
      const number = (text) => (text === undefined || text === "" ? null : Number(text));
      return [[name, number(value)], ...(low === undefined ? [] : [[`${name} low`, number(low)], [`${name} high`, number(high)]])];
    })));
  }

  columns.forEach((column) => {
    const press = make("button", { type: "button", className: "sorter", textContent: column.name });
    press.addEventListener("click", () => {
      const now = column.head.getAttribute("aria-sort"), first = column.head.dataset.first ?? "ascending";
      sort(column, now ? (now === "ascending" ? "descending" : "ascending") : first);
    });
    column.head.replaceChildren(press);
  });
  rows.forEach((row) => {
    const hide = make("button", { type: "button", className: "hide-row", textContent: "hide", ariaLabel: `Hide ${names.get(row)}` });
    hide.addEventListener("click", () => {
      hidden.add(names.get(row));
      update(`${names.get(row)} is hidden.`);
      (rows.find((other) => !other.hidden)?.querySelector(".hide-row") ?? show).focus();
    });
    row.cells[0].append(hide);
  });
  select.addEventListener("change", () => { const column = columns[select.value]; sort(column, column.head.dataset.first ?? "ascending"); });
  filter.addEventListener("input", () => update());
  if (columns[1]) { // as the page was written: best first
    columns[1].head.setAttribute("aria-sort", columns[1].head.dataset.first);
    select.value = "1";
  }
  update();
}

function markdownOf(records) {
  if (!records.length) return "";
  const keys = Object.keys(records[0]), line = (cells) => `| ${cells.join(" | ")} |`;
  const text = (value) => (value === null || value === undefined ? "–" : String(value).replaceAll("|", "\\|"));
  return [line(keys), line(keys.map(() => "---")), ...records.map((record) => line(keys.map((key) => text(record[key]))))].join("\n");
}

/** A confusion matrix or a table of classes: the cell under the pointer is said in a sentence. */
export function readableMatrix(table) {
  const labels = [...table.tHead.rows[0].cells].slice(1).map((head) => head.textContent);
  const readout = make("p", { className: "readout", role: "status" });
  table.closest(".scroll").after(readout);
  const cells = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1));
  let active = null;

  function read(row, column) {
    active?.classList.remove("active");
    active = cells[row]?.[column] ?? null;
    if (!active) { readout.textContent = ""; return; }
    active.classList.add("active");
    const counts = cells[row].map((cell) => Number(cell.dataset.value)), total = counts.reduce((sum, one) => sum + one, 0);
    const share = total ? ((100 * counts[column]) / total).toFixed(1) : "0.0";
    const name = (text) => make("bdi", { textContent: text });
    const many = `${valueText(counts[column])} of ${valueText(total)} examples of `;
    readout.replaceChildren(many, name(labels[row]), row === column ? " are found" : " are taken for ", row === column ? "" : name(labels[column]), `: ${share} %`);
  }

  const placeOf = (cell) => { const row = cells.findIndex((some) => some.includes(cell)); return row < 0 ? null : [row, cells[row].indexOf(cell)]; };
  cells.flat().forEach((cell) => { cell.tabIndex = -1; });
  if (cells[0]?.[0]) cells[0][0].tabIndex = 0;
  table.addEventListener("pointerover", (event) => { const place = placeOf(event.target.closest("td")); if (place) read(...place); });
  table.addEventListener("pointerleave", () => read(-1, -1));
  table.addEventListener("focusin", (event) => { const place = placeOf(event.target.closest("td")); if (place) read(...place); });
  table.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const place = placeOf(document.activeElement);
    const next = step && place && cells[place[0] + step[0]]?.[place[1] + step[1]];
    if (!next) return;
    event.preventDefault();
    document.activeElement.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
