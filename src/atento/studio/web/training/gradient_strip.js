// The gradient of each part of a model over the steps, as a strip of colours on a logarithmic scale.

import { colourAt, paletteOf } from "/static/attention/colour_scale.js";
import { onceAFrame, sized } from "/static/attention/elements.js";
import { make } from "../elements.js";

const ROW = 22, GAP = 2; // pixels
const VANISHING = 1000; // how much smaller the first layer's gradient is than the last's, when it is said
const RECENT = 5; // events that are averaged for this
const DECADES = 2; // that the scale spans at least
const NUMBERED = /(?:^|\.)\d+(?:\.|$)/; // layers of a stack

/** A strip; `update(gradients)` takes [{ step, norms: { part: norm } }]. */
export function gradientStrip(words) {
  const canvas = make("canvas", { tabIndex: 0, className: "strip-canvas", role: "img" });
  const names = make("ul", { className: "strip-names", aria: { hidden: "true" } });
  const legend = make("canvas", { className: "strip-legend", aria: { hidden: "true" } });
  const [least, greatest] = [make("span"), make("span")];
  const readout = make("p", { className: "readout", role: "status" });
  const warning = make("p", { className: "strip-warning" });
  const section = make("section", { className: "gradients", hidden: true },
    make("h2", { textContent: words("gradients.title") }), make("p", { className: "note", textContent: words("gradients.note") }), warning,
    make("div", { className: "strip-room" }, names, canvas),
    make("div", { className: "strip-scale note" }, least, legend, greatest), readout);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let plan = null, at = null, gradients = [];

  function draw() {
    const width = canvas.clientWidth;
    if (!gradients.length || !width) return;
    plan = planned(gradients, width);
    canvas.style.height = `${plan.parts.length * (ROW + GAP)}px`;
    const { scale } = paletteOf(dark.matches);
    const context = sized(canvas, width, plan.parts.length * (ROW + GAP), devicePixelRatio);
    const cell = width / plan.columns.length;
    plan.columns.forEach((column, x) => plan.parts.forEach((part, y) => {
      if (column.values[y] === null) return;
      context.fillStyle = `rgb(${colourAt(scale, plan.place(column.values[y])).join()})`;
      context.fillRect(x * cell, y * (ROW + GAP), cell + 0.5, ROW);
    }));
    if (at) {
      context.strokeStyle = paletteOf(dark.matches).mark;
      context.lineWidth = 2;
      context.strokeRect(at.x * cell, at.y * (ROW + GAP), Math.max(cell, 3), ROW);
    }
    if (names.childElementCount !== plan.parts.length) names.replaceChildren(...plan.parts.map((part) => make("li", { title: part, textContent: part })));
    drawLegend(scale);
    canvas.ariaLabel = words("gradients.label", { parts: plan.parts.length, steps: gradients.at(-1).step });
    warn();
  }

  function drawLegend(scale) {
    const context = sized(legend, 160, 10, devicePixelRatio);
    for (let x = 0; x < 160; x += 1) {
      context.fillStyle = `rgb(${colourAt(scale, x / 159).join()})`;
      context.fillRect(x, 0, 1.5, 10);
    }
    [least.textContent, greatest.textContent] = [short(10 ** plan.low), short(10 ** plan.high)];
  }

  function warn() {
    const layers = plan.parts.filter((part) => NUMBERED.test(part));
    const [first, last] = layers.length > 1 ? [layers[0], layers.at(-1)] : [plan.parts[0], plan.parts.at(-1)];
    const [one, other] = [first, last].map((part) => mean(gradients.slice(-RECENT).map(({ norms }) => norms[part])));
    const ratio = one > 0 ? other / one : other > 0 ? Infinity : 1;
    warning.textContent = ratio >= VANISHING ? words("gradients.vanishing", { first, last, times: Number.isFinite(ratio) ? words.number(Number(ratio.toPrecision(2))) : "∞" }) : "";
  }

  function read(place) {
    at = place && plan ? { x: Math.min(Math.max(place.x, 0), plan.columns.length - 1), y: Math.min(Math.max(place.y, 0), plan.parts.length - 1) } : null;
    const column = at && plan.columns[at.x], value = column?.values[at.y];
    readout.textContent = at ? words("gradients.readout", { part: plan.parts[at.y], step: column.from === column.to ? words.number(column.to) : `${words.number(column.from)}–${words.number(column.to)}`, norm: value === null ? words("gradients.not_finite") : short(10 ** value) }) : "";
    redraw();
  }

  const redraw = onceAFrame(draw);
  const placeOf = (event) => ({ x: Math.floor((event.offsetX / canvas.clientWidth) * plan.columns.length), y: Math.floor(event.offsetY / (ROW + GAP)) });
  canvas.addEventListener("pointermove", (event) => plan && read(placeOf(event)));
  canvas.addEventListener("pointerleave", () => read(null));
  canvas.addEventListener("blur", () => read(null));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-Infinity, 0], End: [Infinity, 0] }[event.key];
    if (!step || !plan) return;
    event.preventDefault();
    const from = at ?? { x: plan.columns.length - 1, y: 0 };
    read(at ? { x: from.x + step[0], y: from.y + step[1] } : from);
  });
  dark.addEventListener("change", redraw);
  const watcher = new ResizeObserver(redraw);
  watcher.observe(canvas);
  return {
    element: section,
    update(found) {
      gradients = found;
      section.hidden = !found.length;
      redraw();
    },
    stop() {
      watcher.disconnect();
      redraw.cancel();
      dark.removeEventListener("change", redraw);
    },
  };
}

// Columns of at least two pixels: where there are more events, each holds several, as the mean of their logarithms.
function planned(gradients, width) {
  const parts = [...new Set(gradients.flatMap(({ norms }) => Object.keys(norms)))];
  const many = Math.max(1, Math.ceil(gradients.length / Math.max(1, Math.floor(width / 2))));
  const columns = [];
  for (let from = 0; from < gradients.length; from += many) {
    const some = gradients.slice(from, from + many);
    columns.push({ from: some[0].step, to: some.at(-1).step, values: parts.map((part) => meanLog(some.map(({ norms }) => norms[part]))) });
  }
  const known = columns.flatMap(({ values }) => values.filter((value) => value !== null));
  const high = known.length ? known.reduce((most, value) => Math.max(most, value)) : 0;
  const low = Math.min(known.length ? known.reduce((smallest, value) => Math.min(smallest, value)) : 0, high - DECADES);
  return { parts, columns, low, high, place: (value) => (value - low) / (high - low) };
}

function meanLog(norms) {
  const logs = norms.filter((norm) => norm > 0 && Number.isFinite(norm)).map(Math.log10);
  return logs.length ? logs.reduce((sum, value) => sum + value, 0) / logs.length : null;
}

function mean(values) {
  const known = values.filter(Number.isFinite);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : NaN;
}

function short(value) {
  return value >= 0.01 && value < 1000 ? String(Number(value.toPrecision(2))) : value.toExponential(1).replace("e+", "e").replace("-", "−");
}
