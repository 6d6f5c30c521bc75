// Numbers as tables: the weights of a small map, the strongest weights of a large one, and queries, keys and values.

import { make, onceAFrame, visible } from "./elements.js";
import { placeIn } from "./selection.js";
import { decodeFloats, MEAN, strongest } from "./weights.js";

const LARGEST_TABLE = 40; // rows and columns
const MOST_ROWS = 300;
const STRONGEST = 3;

/** The matrix as a table that screen readers can walk through. */
export function showTable({ state }) {
  const element = make("div", { className: "attention-pane attention-table", tabIndex: 0, role: "region", ariaLabel: "weights as a table" });
  let kept = null;

  function redraw() {
    const { map, matrix } = state();
    if (matrix === kept) return;
    kept = matrix;
    const small = map.rows <= LARGEST_TABLE && map.columns <= LARGEST_TABLE;
    element.replaceChildren((small ? wholeTable : strongestTable)(map, matrix));
  }

  return { element, redraw, ask: redraw, remove: () => element.remove() };
}

function wholeTable(map, matrix) {
  const head = make("tr", {}, make("th", { scope: "col", textContent: "query \\ key" }), ...map.keys.map(heading("col")));
  const rows = map.queries.map((token, row) => make("tr", {}, heading("row")(token), ...map.keys.map((_, column) => numberCell(matrix.at(row, column)))));
  return make("table", {}, make("caption", { textContent: "The weight of each query on each key" }), make("thead", {}, head), make("tbody", {}, ...rows));
}

function strongestTable(map, matrix) {
  const head = make("tr", {}, ...["query", "key", "weight"].map((name) => make("th", { scope: "col", textContent: name })));
  const rows = [];
  for (let row = 0; row < map.rows && rows.length < MOST_ROWS; row += 1) {
    for (const { column, weight } of strongest(matrix, row, STRONGEST, 0)) {
      const query = heading("row")(`${visible(map.queries[row])} (${row + 1})`);
      rows.push(make("tr", {}, query, make("td", { dir: "auto", textContent: `${visible(map.keys[column])} (${column + 1})` }), numberCell(weight)));
    }
  }
  const caption = `The ${STRONGEST} largest weights of each query${rows.length >= MOST_ROWS ? ", of the first queries; all of them are in the CSV" : ""}`;
  return make("table", {}, make("caption", { textContent: caption }), make("thead", {}, head), make("tbody", {}, ...rows));
}

function heading(scope) {
  return (token) => make("th", { scope, dir: "auto", textContent: visible(token) });
}

function numberCell(value) {
  return make("td", { className: "number", textContent: Number.isFinite(value) ? value.toFixed(3) : "" });
}

/**
 * The query, key and value of the tokens under the pointer, in the chosen layer and head: the first numbers of each.
 * `vectors` has for each part its numbers in base64 and their shape [layers, heads, tokens, numbers].
 */
export function showVectors({ state, selection, vectors }) {
  const body = make("tbody");
  const note = make("p", { className: "attention-note" });
  const table = make("table", {}, body);
  const element = make("div", { className: "attention-pane attention-table" }, note, table);
  const decoded = new Map();

  function part(mapName, name) {
    const key = `${mapName} ${name}`;
    const stored = vectors[mapName]?.[name];
    if (!decoded.has(key) && stored) decoded.set(key, { numbers: decodeFloats(stored.numbers), shape: stored.shape });
    return decoded.get(key);
  }

  function redraw() {
    const { map, chosen } = state();
    const place = placeIn(map, selection);
    const [row, column, head] = [place.row ?? 0, place.column ?? 0, chosen.head === MEAN ? 0 : chosen.head];
    const rows = [["query", map.queries[row], row], ["key", map.keys[column], column], ["value", map.keys[column], column]].flatMap(([name, token, index]) => {
      const found = part(map.name, name);
      if (!found) return [];
      const [, heads, tokens, size] = found.shape;
      const from = ((chosen.layer * heads + head) * tokens + index) * size;
      const numbers = Array.from(found.numbers.subarray(from, from + size), (number) => make("td", { className: "number", textContent: number.toFixed(3) }));
      return [make("tr", {}, make("th", { scope: "row" }, `${name} of `, make("bdi", { textContent: visible(token) })), ...numbers)];
    });
    body.replaceChildren(...rows);
    note.textContent = rows.length
      ? `Layer ${chosen.layer + 1}, head ${head + 1}: the first numbers of the vectors. The weight grows with the dot product of query and key; the output adds up the values.`
      : "This map has no queries, keys and values of its own.";
  }

  const ask = onceAFrame(redraw);
  const unfollow = selection.follow(ask);
  return {
    element,
    redraw,
    ask,
    remove() {
      unfollow();
      ask.cancel();
      element.remove();
    },
  };
}
