// The viewer of images: the image once for each word, clear where the weight was. It stands after viewer.js.

const PANEL = 132; // side of an image on the page
const VEIL = { most: 0.85, dark: "255, 255, 255", bright: "0, 0, 0" }; // where nothing was looked at; white on dark
const MIDDLE = 127.5; // of brightness

/**
 * Show a model's attention over the regions of an image.
 * weights: [layers][heads][words][regions], regions row by row; grid: [rows, columns]; image: a data URI.
 * Returns { choose(layer, head), redraw(), remove() }, as showAttention does.
 */
function showRegions(element, { output, weights, image, grid, label = "Attention", layer, head = "mean" }) {
  const chosen = { layer: layer ?? weights.length - 1, head };
  const [rows, columns] = grid;
  const drawn = make("img", { src: image, alt: "" });
  const readout = make("p", { className: "attention-readout", role: "status" });
  const panels = output.map((word, row) => {
    const canvas = make("canvas", { role: "img" });
    canvas.addEventListener("pointermove", (event) => describe(row, regionAt(canvas, event)));
    canvas.addEventListener("pointerleave", () => { readout.textContent = ""; });
    const figure = make("figure", { className: "region-panel" });
    const most = make("small");
    const caption = make("figcaption", { dir: "auto" });
    caption.append(make("bdi", { textContent: visible(word) }), " ", most);
    figure.append(caption, canvas);
    return { canvas, figure, word, most };
  });
  const place = make("div", { className: "region-panels" });
  place.append(...panels.map((panel) => panel.figure));
  const controls = makeControls(weights, chosen, redraw);
  element.replaceChildren(...(controls ? [controls] : []), place, readout);
  drawn.decode().then(redraw, () => { readout.textContent = "the image cannot be shown"; });

  function redraw() {
    if (!drawn.naturalWidth) return;
    const matrix = matrixOf(weights, chosen);
    const veil = brightness(drawn) < MIDDLE ? VEIL.dark : VEIL.bright;
    panels.forEach(({ canvas, word, most }, row) => {
      const weights = (matrix[row] ?? []).map((weight) => (Number.isFinite(weight) ? Math.max(weight, 0) : 0));
      const largest = Math.max(...weights);
      drawRegions(canvas, drawn, weights.map((weight) => weight / (largest || 1)), veil, grid);
      most.textContent = largest.toFixed(2);
      canvas.setAttribute("aria-label", `${label} for ${visible(word)}: most at ${named(weights.indexOf(largest))}`);
    });
  }

  function named(region) {
    return `row ${Math.floor(region / columns) + 1}, column ${(region % columns) + 1}`;
  }

  function describe(row, region) {
    const value = matrixOf(weights, chosen)[row]?.[region];
    const shown = Number.isFinite(value) ? value.toFixed(3) : "no number";
    const quoted = make("bdi", { textContent: `“${visible(output[row])}”` });
    readout.replaceChildren(make("strong", { textContent: shown }), " for ", quoted, ` on ${named(region)}`);
  }

  function regionAt(canvas, event) {
    const box = canvas.getBoundingClientRect();
    const row = clamp(Math.floor(((event.clientY - box.top) / box.height) * rows), rows);
    return row * columns + clamp(Math.floor(((event.clientX - box.left) / box.width) * columns), columns);
  }

  return {
    redraw,
    choose(layer, head = "mean") {
      Object.assign(chosen, { layer, head });
      controls?.show(chosen);
      redraw();
    },
    remove: () => element.replaceChildren(),
  };
}

function drawRegions(canvas, drawn, clear, veil, [rows, columns]) {
  const side = Math.round(PANEL * Math.max(devicePixelRatio, 2));
  [canvas.width, canvas.height] = [side, side];
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = drawn.naturalWidth > side;
  context.drawImage(drawn, 0, 0, side, side);
  clear.forEach((share, region) => {
    const [row, column] = [Math.floor(region / columns), region % columns];
    const [left, top] = [Math.round((column * side) / columns), Math.round((row * side) / rows)];
    const [right, bottom] = [Math.round(((column + 1) * side) / columns), Math.round(((row + 1) * side) / rows)];
    context.fillStyle = `rgba(${veil}, ${VEIL.most * (1 - share)})`;
    context.fillRect(left, top, right - left, bottom - top);
  });
}

function brightness(drawn) {
  const { naturalWidth: width, naturalHeight: height } = drawn;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.drawImage(drawn, 0, 0);
  const colours = context.getImageData(0, 0, width, height).data.filter((_, index) => index % 4 < 3);
  return colours.reduce((sum, number) => sum + number, 0) / colours.length;
}
