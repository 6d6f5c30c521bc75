// Attention maps as data: [layers, heads, queries, keys] of float32, and the matrix of one head or of their mean.

import { visible } from "./elements.js";

export const MEAN = "mean"; // stands for the mean over the heads of a layer
const STATISTICS = {
  entropy: { title: "entropy", meaning: "in nats: 0 where each query looks at one key" },
  distance: { title: "distance", meaning: "mean number of tokens between a query and the keys it looks at" },
  zeros: { title: "sparsity", meaning: "share of the visible weights that are exactly 0" },
};

/** A map of the data contract, decoded; its weights are exact. */
export function readMap(stored) {
  const [layers, heads, rows, columns] = stored.shape;
  const weights = typeof stored.weights === "string" ? decodeFloats(stored.weights) : Float32Array.from(stored.weights);
  if (weights.length !== layers * heads * rows * columns) throw new Error(`${stored.name}: the weights do not fit their shape`);
  const kept = new Map();
  const map = {
    ...stored,
    layers,
    heads,
    rows,
    columns,
    weights,
    lines: { query: lineOf(stored.queries), key: lineOf(stored.keys) },
    matrix(layer, head) {
      const key = `${layer} ${head}`;
      if (!kept.has(key)) kept.set(key, matrixOf(map, layer, head));
      return kept.get(key);
    },
  };
  return map;
}

/** Numbers of four bytes, the lowest byte first, in base64. */
export function decodeFloats(text) {
  const bytes = atob(text);
  const view = new DataView(new ArrayBuffer(bytes.length));
  for (let at = 0; at < bytes.length; at += 1) view.setUint8(at, bytes.charCodeAt(at));
  const floats = new Float32Array(bytes.length / 4);
  for (let at = 0; at < floats.length; at += 1) floats[at] = view.getFloat32(4 * at, true);
  return floats;
}

/** What tells one sequence of tokens from another: hovering is tied where the same tokens stand. */
export function lineOf(tokens) {
  return tokens.join("\u0001");
}

function matrixOf(map, layer, head) {
  const { heads, rows, columns, weights } = map;
  const size = rows * columns;
  const start = (number) => (layer * heads + number) * size;
  let values;
  if (head === MEAN) {
    const sums = new Float64Array(size);
    for (let number = 0; number < heads; number += 1) {
      const first = start(number);
      for (let at = 0; at < size; at += 1) sums[at] += weights[first + at];
    }
    values = Float32Array.from(sums, (sum) => sum / heads);
  } else {
    values = weights.subarray(start(head), start(head) + size);
  }
  let largest = 0;
  for (let at = 0; at < size; at += 1) if (values[at] > largest) largest = values[at];
  return {
    rows,
    columns,
    values,
    largest,
    at: (row, column) => (row >= 0 && row < rows && column >= 0 && column < columns ? values[row * columns + column] : NaN),
  };
}

/** A smaller matrix whose cells are the largest of the cells they stand for, so that no weight is lost from sight. */
export function pooled(matrix, down, across) {
  if (down === 1 && across === 1) return matrix;
  const [rows, columns] = [Math.ceil(matrix.rows / down), Math.ceil(matrix.columns / across)];
  const values = new Float32Array(rows * columns).fill(NaN);
  for (let row = 0; row < matrix.rows; row += 1) {
    const [from, to] = [row * matrix.columns, Math.floor(row / down) * columns];
    for (let column = 0; column < matrix.columns; column += 1) {
      const value = matrix.values[from + column];
      const place = to + Math.floor(column / across);
      if (!(values[place] >= value)) values[place] = value === value ? value : values[place];
    }
  }
  return { rows, columns, values, largest: matrix.largest };
}

/** The keys with the largest weights of a query, above a threshold; at most `most` of them. */
export function strongest(matrix, row, most, threshold) {
  const found = [];
  for (let column = 0; column < matrix.columns; column += 1) {
    const weight = matrix.at(row, column);
    if (weight > 0 && weight >= threshold) found.push({ row, column, weight });
  }
  return found.sort((one, other) => other.weight - one.weight).slice(0, most);
}

/** The statistics of each head that a map has, with their names and meanings. */
export function statisticsOf(map) {
  return Object.entries(STATISTICS)
    .filter(([name]) => map.statistics?.[name]?.length === map.layers)
    .map(([name, { title, meaning }]) => ({ name, title, meaning, of: (layer, head) => map.statistics[name][layer][head] }));
}

export function headName(map, layer, head) {
  const parts = [];
  if (map.layers > 1) parts.push(`layer ${layer + 1}`);
  if (map.averaged) parts.push(`mean over ${map.averaged} heads`);
  if (map.heads > 1) parts.push(head === MEAN ? "mean over heads" : `head ${head + 1}`);
  return parts.join(", ");
}

/** A matrix as CSV: the keys in the first line, the queries in the first column, every digit of a float32. */
export function csvOf(map, matrix) {
  const cell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const number = (value) => (Number.isFinite(value) ? exact(value) : "");
  const lines = [["", ...map.keys.map(visible)].map(cell).join(",")];
  for (let row = 0; row < matrix.rows; row += 1) {
    const values = matrix.values.subarray(row * matrix.columns, (row + 1) * matrix.columns);
    lines.push([cell(visible(map.queries[row])), ...Array.from(values, number)].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** A matrix as JSON, with its tokens and where it comes from; what cannot be seen is null. */
export function jsonOf(view, map, matrix, chosen) {
  const rows = Array.from({ length: matrix.rows }, (_, row) =>
    Array.from(matrix.values.subarray(row * matrix.columns, (row + 1) * matrix.columns), (value) => (Number.isFinite(value) ? Number(exact(value)) : null)),
  );
  const where = { layer: chosen.layer + 1, head: chosen.head === MEAN ? MEAN : chosen.head + 1 };
  const { model, source, output } = view;
  return JSON.stringify({ model, source, output, map: map.name, ...where, queries: map.queries, keys: map.keys, weights: rows });
}

/** The shortest decimal number that is the same float32. */
function exact(value) {
  for (let digits = 6; digits < 9; digits += 1) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === Math.fround(value)) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}
