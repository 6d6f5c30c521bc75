// Every head of a map as a small picture: a row for each layer, or sorted by a statistic.

import { make, makeMenu, onceAFrame } from "./elements.js";
import { bitmapOf, positionOf } from "./colour_scale.js";
import { headName, MEAN, pooled, statisticsOf } from "./weights.js";

const SIZES = { least: 30, most: 132 };
const GAP = 6;

/**
 * Show all heads of the map that `state()` gives: { map, palette, range, threshold, chosen }.
 * `open(layer, head)` is called for the one that is clicked, or chosen with Enter.
 */
export function showHeadGrid({ state, open }) {
  const caption = make("p", { className: "attention-note" });
  const tools = make("div", { className: "attention-tools" });
  const place = make("div", { className: "attention-heads", role: "group", ariaLabel: "heads" });
  const element = make("div", { className: "attention-pane" }, tools, place, caption);
  const sorting = { by: "layers", statistic: null };
  let [kept, cells] = [{}, []];

  function redraw() {
    const width = element.clientWidth;
    if (!width) return;
    const { map, palette, range, threshold } = state();
    const key = [width, palette.dark, range, threshold, sorting.by].join(" ");
    if (map !== kept.map) showTools(map);
    if (map !== kept.map || key !== kept.key) build(width);
    kept = { map, key };
    mark();
  }

  function showTools(map) {
    const statistics = statisticsOf(map);
    if (!statistics.some(({ name }) => name === sorting.statistic)) sorting.statistic = statistics[0]?.name ?? null;
    if (!statistics.length) sorting.by = "layers";
    const orders = [["layers", "by layer and head"], ...statistics.flatMap(({ name, title }) => [[`${name} up`, `lowest ${title} first`], [`${name} down`, `highest ${title} first`]])];
    tools.replaceChildren(make("label", {}, "Order ", makeMenu("order", orders, sorting.by, (by) => {
      sorting.by = by;
      if (by !== "layers") sorting.statistic = by.split(" ")[0];
      redraw();
    })));
    tools.hidden = !statistics.length;
  }

  function ordered(map) {
    const heads = Array.from({ length: map.layers }, (_, layer) => Array.from({ length: map.heads }, (_, head) => ({ layer, head })));
    if (sorting.by === "layers") {
      if (map.heads > 1) heads.forEach((row, layer) => row.push({ layer, head: MEAN }));
      return heads.flat();
    }
    const [name, direction] = sorting.by.split(" ");
    const value = ({ layer, head }) => map.statistics[name][layer][head] ?? 0;
    return heads.flat().sort((one, other) => (value(one) - value(other)) * (direction === "up" ? 1 : -1));
  }

  function build(width) {
    const { map } = state();
    const across = sorting.by === "layers" ? map.heads + (map.heads > 1 ? 1 : 0) : Math.max(1, Math.floor(width / 104));
    const size = Math.min(SIZES.most, Math.max(SIZES.least, Math.floor((width - 10) / across) - GAP));
    place.style.gridTemplateColumns = `repeat(${across}, ${size}px)`;
    cells = ordered(map).map((head) => makeCell(head, size));
    place.replaceChildren(...cells.map(({ button }) => button));
    const known = statisticsOf(map).find(({ name }) => name === sorting.statistic);
    caption.textContent = known ? `Below each head its ${known.title}, ${known.meaning}.` : "";
  }

  function makeCell({ layer, head }, size) {
    const { map, palette, range, threshold } = state();
    const matrix = map.matrix(layer, head);
    const tall = Math.max(12, Math.min(size, Math.round((size * matrix.rows) / Math.max(matrix.columns, 1))));
    const canvas = make("canvas", { width: size * 2, height: tall * 2 });
    Object.assign(canvas.style, { width: `${size}px`, height: `${tall}px` });
    drawSmall(canvas, matrix, palette, range, threshold);
    const known = statisticsOf(map);
    const short = head === MEAN ? "mean" : map.layers > 1 ? `${layer + 1}·${head + 1}` : String(head + 1);
    const shown = head === MEAN ? null : known.find(({ name }) => name === sorting.statistic)?.of(layer, head);
    const number = make("small", { textContent: Number.isFinite(shown) ? shown.toFixed(2) : "" });
    const told = head === MEAN ? [] : known.map(({ title, of }) => `${title} ${Number(of(layer, head)).toFixed(2)}`);
    const name = [headName(map, layer, head) || "the only head", ...told].join(", ");
    const button = make("button", { type: "button", className: "attention-head", title: name, ariaLabel: name }, make("span", { textContent: short }), canvas, number);
    button.addEventListener("click", () => open(layer, head));
    button.addEventListener("keydown", travel);
    return { button, layer, head };
  }

  function mark() {
    const { chosen } = state();
    let focusable = cells.find(({ layer, head }) => layer === chosen.layer && head === chosen.head) ?? cells[0];
    cells.forEach((cell) => {
      const here = cell.layer === chosen.layer && cell.head === chosen.head;
      cell.button.setAttribute("aria-pressed", String(here));
      cell.button.tabIndex = cell === focusable ? 0 : -1;
    });
  }

  function travel(event) {
    const at = cells.findIndex(({ button }) => button === event.currentTarget);
    const across = getComputedStyle(place).gridTemplateColumns.split(" ").length;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
    const next = by === undefined ? undefined : cells[at + by];
    if (!next) return;
    event.preventDefault();
    cells[at].button.tabIndex = -1;
    next.button.tabIndex = 0;
    next.button.focus();
  }

  const ask = onceAFrame(redraw);
  return {
    element,
    redraw,
    ask,
    remove() {
      ask.cancel();
      element.remove();
    },
  };
}

function drawSmall(canvas, matrix, palette, range, threshold) {
  const [down, across] = [Math.ceil(matrix.rows / canvas.height), Math.ceil(matrix.columns / canvas.width)];
  const bitmap = bitmapOf(pooled(matrix, down, across), palette.scale, positionOf(range, matrix.largest), threshold);
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
}
