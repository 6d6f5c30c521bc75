// Attention over the regions of an image: the image in grey under a colour scale, once large and once for each word.

import { clamp, make, makeButton, onceAFrame, visible, written } from "./elements.js";
import { colourAt, scaleOf } from "./colour_scale.js";
import { placeIn, pointAt } from "./selection.js";

const SIDES = { large: 320, small: 92 }; // of an image on the page
const COVER = { least: 0.15, more: 0.7 }; // how much a region is covered: at no weight, and further at the largest
const GREY = [0.299, 0.587, 0.114]; // brightness of red, green and blue (ITU-R BT.601)

/** Show the map that `state()` gives over its image; `map.grid` is [rows, columns], the keys are regions row by row. */
export function showRegions({ state, selection, image, label }) {
  const drawn = make("img", { src: image, alt: "the image that was read", className: "read-image" });
  const large = make("canvas", { tabIndex: 0, role: "application", className: "region-large", aria: { roledescription: "image with weights" } });
  const caption = make("p", { className: "attention-note" });
  const strip = make("div", { className: "region-strip", role: "group", ariaLabel: "words" });
  const legend = make("canvas", { className: "region-legend", role: "img", ariaLabel: "colours from no weight to the largest of a word" });
  const ends = make("div", { className: "region-ends" }, make("span", { textContent: "0" }), make("span", { textContent: "largest of the word" }));
  const steps = make("div", { className: "attention-tools" }, makeButton("previous word", () => step(-1)), makeButton("next word", () => step(1)));
  const side = make("div", { className: "region-side" }, make("figure", {}, large, make("div", { className: "region-scale" }, legend, ends)), make("div", {}, steps, caption, strip));
  const element = make("div", { className: "attention-pane" }, side);
  let [panels, kept, ready, word] = [[], {}, false, 0];
  drawn.decode().then(() => { ready = true; redraw(); }, () => { caption.textContent = "the image cannot be shown"; });

  function redraw() {
    const { map, matrix, detail } = state();
    if (!ready || !map.rows) return;
    if (map !== kept.map) build(map);
    const place = placeIn(map, selection);
    if (place.row !== null) word = place.row;
    if (matrix !== kept.matrix || map !== kept.map) panels.forEach(({ canvas, most }, row) => {
      drawRegions(canvas, drawn, sharesOf(matrix, row), map.grid, SIDES.small * 2);
      most.textContent = written(largestOf(matrix, row));
    });
    drawRegions(large, drawn, sharesOf(matrix, word), map.grid, Math.round(SIDES.large * Math.max(detail, 2)), place.column ?? indexOfLargest(matrix, word));
    const most = indexOfLargest(matrix, word);
    const text = `“${visible(map.queries[word])}”, word ${word + 1} of ${map.rows}: most at ${regionName(map, most)}, ${written(matrix.at(word, most))} (spread evenly: ${written(1 / matrix.columns)})`;
    caption.replaceChildren(make("bdi", { textContent: text }));
    large.setAttribute("aria-label", `${label()} for ${text}`);
    large.attention = { word };
    panels.forEach(({ button }, row) => button.setAttribute("aria-pressed", String(row === word)));
    kept = { map, matrix };
  }

  function build(map) {
    panels = map.queries.map((token, row) => {
      const [canvas, most] = [make("canvas"), make("small")];
      const button = make("button", { type: "button", className: "region-panel" }, make("bdi", { textContent: visible(token) }), canvas, most);
      button.addEventListener("click", () => pointAt(map, selection, row, null, { pinned: true }));
      return { canvas, button, most };
    });
    strip.replaceChildren(...panels.map(({ button }) => button), make("figure", { className: "region-panel" }, make("figcaption", { textContent: "as read" }), drawn));
    drawScale(legend);
  }

  function step(by) {
    const { map } = state();
    pointAt(map, selection, clamp(word + by, 0, map.rows - 1), null, { pinned: true });
  }

  function regionAt(event) {
    const [rows, columns] = state().map.grid;
    const box = large.getBoundingClientRect();
    const row = clamp(Math.floor(((event.clientY - box.top) / box.height) * rows), 0, rows - 1);
    return row * columns + clamp(Math.floor(((event.clientX - box.left) / box.width) * columns), 0, columns - 1);
  }

  function travel(event) {
    const { map } = state();
    const [rows, columns] = map.grid;
    const at = placeIn(map, selection).column ?? indexOfLargest(state().matrix, word);
    const moves = { ArrowUp: -columns, ArrowDown: columns, ArrowLeft: -1, ArrowRight: 1 };
    if (event.key === "Escape") selection.clear();
    else if (event.key === "[" || event.key === "PageUp") step(-1);
    else if (event.key === "]" || event.key === "PageDown") step(1);
    else if (event.key in moves) pointAt(map, selection, word, clamp(at + moves[event.key], 0, rows * columns - 1), { pinned: true });
    else return;
    event.preventDefault();
  }

  const ask = onceAFrame(redraw);
  large.addEventListener("pointermove", (event) => pointAt(state().map, selection, word, regionAt(event), { pinned: selection.pinned }));
  large.addEventListener("pointerleave", () => !selection.pinned && selection.clear());
  large.addEventListener("keydown", travel);
  const unfollow = selection.follow(ask);
  return {
    element,
    canvas: large,
    redraw,
    ask,
    remove() {
      unfollow();
      ask.cancel();
      element.remove();
    },
  };
}

export function regionName(map, region) {
  const columns = map.grid[1];
  return `row ${Math.floor(region / columns) + 1}, column ${(region % columns) + 1}`;
}

function largestOf(matrix, row) {
  return matrix.at(row, indexOfLargest(matrix, row));
}

function indexOfLargest(matrix, row) {
  let found = 0;
  for (let column = 1; column < matrix.columns; column += 1) if (!(matrix.at(row, found) >= matrix.at(row, column))) found = column;
  return found;
}

// The weights of a word as shares of its largest.
function sharesOf(matrix, row) {
  const largest = largestOf(matrix, row);
  return Array.from({ length: matrix.columns }, (_, column) => {
    const weight = matrix.at(row, column);
    return Number.isFinite(weight) ? Math.max(weight, 0) / (largest > 0 ? largest : 1) : 0;
  });
}

function drawRegions(canvas, drawn, shares, grid, side, marked) {
  const scale = scaleOf("overlay");
  const covers = shares.map((share) => {
    const cover = COVER.least + COVER.more * share;
    return { colour: colourAt(scale, share), cover };
  });
  coverRegions(canvas, drawn, covers, grid, side, marked);
}

/** Draw an image in grey, each region covered by a colour: covers are [{ colour, cover }], row by row. */
export function coverRegions(canvas, drawn, covers, [rows, columns], side, marked) {
  [canvas.width, canvas.height] = [side, side];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingEnabled = drawn.naturalWidth > side;
  context.drawImage(drawn, 0, 0, side, side);
  const image = context.getImageData(0, 0, side, side);
  for (let y = 0; y < side; y += 1) {
    const row = Math.floor((y * rows) / side);
    for (let x = 0; x < side; x += 1) {
      const { colour, cover } = covers[row * columns + Math.floor((x * columns) / side)];
      const at = 4 * (y * side + x);
      const grey = GREY[0] * image.data[at] + GREY[1] * image.data[at + 1] + GREY[2] * image.data[at + 2];
      for (let part = 0; part < 3; part += 1) image.data[at + part] = grey * (1 - cover) + colour[part] * cover;
    }
  }
  context.putImageData(image, 0, 0);
  if (marked === undefined) return;
  const [wide, high] = [side / columns, side / rows];
  context.strokeStyle = "#ffffff";
  context.lineWidth = 4;
  context.strokeRect((marked % columns) * wide + 2, Math.floor(marked / columns) * high + 2, wide - 4, high - 4);
}

function drawScale(canvas) {
  [canvas.width, canvas.height] = [256, 12];
  const context = canvas.getContext("2d");
  const scale = scaleOf("overlay");
  for (let x = 0; x < 256; x += 1) {
    const cover = COVER.least + COVER.more * (x / 255);
    const colour = colourAt(scale, x / 255).map((part) => Math.round(128 * (1 - cover) + part * cover));
    context.fillStyle = `rgb(${colour})`;
    context.fillRect(x, 0, 1.5, 12);
  }
}
