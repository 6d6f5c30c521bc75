// A chart as SVG: axes, lines or points with their intervals, names at the ends. It draws a state and keeps none.

import { durationUnit, limitsOf, makeScale, paretoFront, smoothed, spacedLabels, tickText, ticksOf } from "./scales.js";

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = 8;
const MARKERS = [ // a colour-blind or printing reader tells lines by these: a path each, around (0, 0)
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-3.5 -3.5h7v7h-7z", "M0 -4.5l4.5 8h-9z", "M0 -5l5 5l-5 5l-5 -5z",
  "M0 4.5l4.5 -8h-9z", "M-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z", "M-5 -2.5h10v5h-10z", "M-2.5 -5h5v10h-5z",
];
const LETTER = 6.9; // the usual width of a letter
const ROOM_FOR_NAMES = 560; // narrower charts name their lines below
const MARKED = 8; // points of a line that carry a marker
const EDGE = 34; // pixels for what costs nothing, left of a logarithmic axis
const CAP = 4; // half the length of the bars that end a whisker

/** The words of a chart in English; `data.texts` may hold those of another language. */
export const TEXTS = {
  show: "Show", against: "against", vertical: "vertical axis", horizontal: "horizontal axis", logX: "log x", logY: "log y", smoothing: "smoothing", smoothed: "smoothed",
  reset: "Reset zoom", copyOrSave: "Copy or save", copy: "Copy", save: "Save", copied: "Copied", front: "on the Pareto front", training: "training", step: "step",
  seconds: "seconds", minutes: "minutes", hours: "hours", of: "of", timeOf: "time of ",
  hint: "Drag to zoom, double-click to reset. With the keyboard: arrows go from point to point, + and − zoom, 0 resets.",
};
export const textsOf = (data) => ({ ...TEXTS, ...data.texts });

export function element(name, attributes = {}, ...inside) {
  const made = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => value !== null && made.setAttribute(key, value));
  made.append(...inside);
  return made;
}

export const colourOf = (series) => (series.style === "plain" ? "plain" : `s${series.colour % COLOURS}`);
export const markerOf = (series) => MARKERS[(series.colour + Math.floor(series.colour / COLOURS)) % MARKERS.length];

/** The points of a series on the chosen axes, with what was smoothed beside what was measured. */
export function pointsOf(series, x, y, smoothing = 0) {
  const columns = series.tables[y.table];
  if (!columns?.[x.key] || !columns[y.key]) return [];
  const measured = columns[y.key];
  const [low, high] = [columns[`${y.key} low`], columns[`${y.key} high`]];
  return smoothed(measured, smoothing)
    .map((value, at) => ({ x: columns[x.key][at], y: value, raw: measured[at], low: low?.[at] ?? null, high: high?.[at] ?? null, at }))
    .filter((point) => point.x !== null && point.y !== null);
}

/** Draw the chart into an SVG element; returns the scales and the places of all points. */
export function drawChart(svg, data, state, width, height) {
  const [x, y] = [data.x[state.x], data.y[state.y]];
  const lineOf = (series, axis, dashed) => ({
    series, dashed, id: dashed ? `${series.name} (validation)` : series.name, hidden: state.hidden.has(series.name), points: pointsOf(series, x, axis, state.smoothing),
  });
  const beside = { ...y, key: y.beside, table: "validation" };
  const all = data.series.flatMap((series) => [lineOf(series, y, false), ...(y.beside ? [lineOf(series, beside, true)] : [])]);
  const named = all.filter(({ series, points }) => points.length || series.levels[y.key] !== undefined);
  const lines = named.filter((line) => !line.hidden);
  const plan = planned(data, state, lines, named, { x, y, width, height });
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  const clip = `clip-${data.name}`;
  const box = { x: plan.left - 6, y: plan.up.stop - 6, width: plan.across.stop - plan.left + 12, height: plan.up.start - plan.up.stop + 12 };
  const inside = element("g", { "clip-path": `url(#${clip})` });
  svg.replaceChildren(element("defs", {}, element("clipPath", { id: clip }, element("rect", box))), axes(plan), inside);
  if (data.begins !== null) inside.append(upright(plan, data.begins, "baseline"));
  lines.forEach((line) => place(line, plan));
  if (data.kind === "scatter") scatter(inside, lines, plan);
  else lines.forEach((line) => inside.append(...drawnLine(line, plan, state)));
  if (plan.names) svg.append(data.kind === "scatter" ? namesBeside(lines, plan) : names(named, plan));
  return { ...plan, lines };
}

function planned(data, state, lines, named, { x, y, width, height }) {
  const xs = lines.flatMap(({ points }) => points.map((point) => point.x));
  const ys = lines.flatMap(({ series, points }) => [
    ...points.flatMap((point) => [point.y, point.low, point.high]),
    ...(series.levels[y.key] === undefined ? [] : [series.levels[y.key]]),
  ]).filter((value) => value !== null);
  const scatter = data.kind === "scatter";
  const [logX, logY] = [state.logX && xs.some((value) => value > 0), state.logY && ys.some((value) => value > 0)];
  const [left, right] = state.zoom?.x ?? (scatter ? limitsOf(xs, logX) : ends(xs, logX));
  const wanted = !state.zoom && !logY && y.limits;
  const [bottom, top] = state.zoom?.y ?? (wanted || limitsOf(state.zoom?.x ? visibleValues(lines, y, left, right) : ys, logY));
  const base = height - 44; // the height of the horizontal axis
  const up = makeScale(bottom, top, base - (scatter ? 14 : 0), 14, logY);
  const yTicks = ticksOf(up, Math.max(3, Math.floor(height / 62)), y.kind).map((value) => ({ value, text: tickText(value, y.kind, up) }));
  const start = Math.max(34, ...yTicks.map(({ text }) => text.length * LETTER + 14));
  const longest = Math.max(1, ...named.map(({ series }) => series.name.length));
  const names = width >= ROOM_FOR_NAMES && named.length <= 24;
  const margin = names && !scatter ? Math.min(longest * LETTER, width * 0.3) + 34 : 16;
  const free = scatter && logX && xs.some((value) => value <= 0) && !state.zoom;
  const across = makeScale(left, right, start + (free ? EDGE : 0), width - margin, logX);
  const most = Math.max(2, Math.floor((across.stop - across.start) / (x.kind === "date" ? 96 : 100)));
  const xTicks = ticksOf(across, most, x.kind).map((value) => ({ value, text: tickText(value, x.kind, across) }));
  const texts = textsOf(data), name = x.name.startsWith(texts.timeOf) ? x.name.slice(texts.timeOf.length) : x.name;
  const unit = x.kind === "duration" ? `${texts[durationUnit(across.high).long]} ${texts.of} ${name}` : x.name;
  return { x, y, across, up, left: start, free, xTicks, yTicks, names, letters: Math.floor((margin - 34) / LETTER), unit, base, width, height, data };
}

function ends(values, log) {
  const known = log ? values.filter((value) => value > 0) : values;
  const low = known.reduce((least, value) => Math.min(least, value), Infinity);
  const high = known.reduce((most, value) => Math.max(most, value), -Infinity);
  if (!Number.isFinite(low)) return log ? [1, 10] : [0, 1];
  if (low === high) return log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  return [!log && low > 0 && low < 0.3 * high ? 0 : low, high];
}

function visibleValues(lines, y, left, right) {
  return lines.flatMap(({ points }) => points.filter((point) => point.x >= left && point.x <= right).flatMap((point) => [point.y, point.low, point.high]))
    .filter((value) => value !== null);
}

function axes(plan) {
  const { across, up, left, base, xTicks, yTicks, unit } = plan;
  const group = element("g", { class: "axes" });
  yTicks.forEach(({ value, text }) => {
    const level = up.place(value);
    group.append(element("line", { class: "grid", x1: left, x2: across.stop, y1: level, y2: level }));
    group.append(element("text", { class: "tick", x: left - 8, y: level + 4, "text-anchor": "end" }, text));
  });
  group.append(element("line", { class: "axis", x1: left, x2: across.stop, y1: base, y2: base }));
  xTicks.forEach(({ value, text }) => {
    const place = across.place(value), half = (text.length * LETTER) / 2;
    const anchor = place - half < 0 ? "start" : place + half > plan.width ? "end" : "middle";
    group.append(element("text", { class: "tick", x: anchor === "end" ? plan.width : anchor === "start" ? 0 : place, y: base + 18, "text-anchor": anchor }, text));
  });
  if (plan.free) group.append(element("text", { class: "tick", x: left, y: base + 18, "text-anchor": "middle" }, "0"));
  group.append(element("text", { class: "tick", x: across.stop, y: base + 36, "text-anchor": "end" }, unit));
  return group;
}

function place(line, { across, up, left }) {
  line.points = line.points.filter((point) => (!across.log || point.x > 0 || left < across.start) && (!up.log || point.y > 0));
  line.points.forEach((point) => {
    point.px = across.log && point.x <= 0 ? left : across.place(point.x);
    point.py = up.place(point.y);
  });
}

function drawnLine({ series, points, dashed }, plan, state) {
  const colour = colourOf(series), level = series.levels[plan.y.key];
  const parts = [];
  if (level !== undefined && !dashed) {
    const y = plan.up.place(level);
    parts.push(element("line", { class: "baseline", x1: plan.left, x2: plan.across.stop, y1: y, y2: y }));
  }
  if (!points.length) return parts;
  const group = element("g", { class: `curve ${colour}${series.colour === 0 && !series.style ? " first" : ""}${series.style === "thin" ? " thin" : ""}${dashed ? " dashed" : ""}` });
  const some = points.filter((point) => point.low !== null && point.high !== null && (!plan.up.log || point.low > 0));
  if (some.length > 1) {
    const outline = [...some.map((point) => [point.px, plan.up.place(point.high)]), ...some.reverse().map((point) => [point.px, plan.up.place(point.low)])];
    group.append(element("polygon", { class: "shade", points: written(outline) }));
  }
  if (state.smoothing) {
    const raw = points.filter((point) => !plan.up.log || point.raw > 0).map((point) => [point.px, plan.up.place(point.raw)]);
    group.append(element("polyline", { class: "line raw", points: written(raw) }));
  }
  group.append(element("polyline", { class: "line", points: written(points.map((point) => [point.px, point.py])) }));
  const every = Math.ceil(points.length / MARKED);
  if (!series.style && plan.data.smoothing) points.filter((_, at) => (points.length - 1 - at) % every === 0).forEach((point) => group.append(marker(series, point)));
  return [...parts, group];
}

function scatter(inside, lines, plan) {
  const points = lines.flatMap(({ points: own }) => own);
  if (plan.x.smaller_is_better !== null && plan.y.smaller_is_better !== null) {
    const front = paretoFront(points, plan.x.smaller_is_better, plan.y.smaller_is_better);
    front.forEach((point) => { point.front = true; });
    inside.append(element("polyline", { class: "front", points: written(front.map((point) => [point.px, point.py])) }));
  }
  lines.forEach(({ series, points: own }) => own.forEach((point) => {
    const group = element("g", { class: `curve ${colourOf(series)}${point.front ? " on-front" : ""}` });
    if (point.low !== null && point.high !== null) {
      const [low, high] = [plan.up.place(point.low), plan.up.place(point.high)];
      group.append(element("path", { class: "whisker", d: `M${point.px} ${low}V${high}M${point.px - CAP} ${low}h${2 * CAP}M${point.px - CAP} ${high}h${2 * CAP}` }));
    }
    if (point.front) group.append(element("circle", { class: "ring", cx: point.px, cy: point.py, r: 8 }));
    group.append(marker(series, point));
    inside.append(group);
  }));
}

function marker(series, { px, py }) {
  return element("path", { class: "marker", d: markerOf(series), transform: `translate(${px.toFixed(1)} ${py.toFixed(1)})` });
}

// Names beside the points of a scatter plot: on the side where there is room, moved down where two would meet.
function namesBeside(lines, plan) {
  const group = element("g", { class: "names" }), taken = [];
  const points = lines.flatMap(({ series, points: own }) => own.map((point) => ({ series, ...point }))).sort((one, other) => one.py - other.py);
  points.forEach(({ px, py }) => taken.push({ left: px - 6, width: 12, y: py }));
  points.forEach(({ series, px, py }) => {
    const width = series.name.length * LETTER, right = px + 14 + width < plan.width;
    const box = { left: right ? px + 12 : px - 12 - width, y: Math.max(py, plan.up.stop) };
    const meets = (other) => Math.abs(other.y - box.y) < 15 && other.left < box.left + width && box.left < other.left + other.width;
    while (taken.some(meets) && box.y < plan.height - 8) box.y += 3;
    taken.push({ ...box, width });
    group.append(named(series, false, element("text", { x: right ? box.left : box.left + width, y: box.y + 4, "text-anchor": right ? "start" : "end" }, series.name), colourOf(series)));
  });
  return group;
}

function named(series, hidden, text, colour) {
  const label = element("g", { class: `label ${colour}${hidden ? " off" : ""}`, role: "button", tabindex: 0, "aria-pressed": String(!hidden), "data-series": series.name });
  label.append(element("title", {}, `${hidden ? "Show" : "Hide"} ${series.name}`), text);
  return label;
}

function names(listedAll, plan) {
  const group = element("g", { class: "names" });
  const x = plan.across.stop + 22, middle = (plan.up.start + plan.up.stop) / 2;
  const end = ({ series, points, hidden }) => {
    const level = series.levels[plan.y.key];
    if (hidden) return { px: plan.across.stop, py: middle };
    if (level !== undefined) return { px: plan.across.stop, py: plan.up.place(level) };
    const inside = points.filter((point) => point.px <= plan.across.stop + 1);
    return inside.at(-1) ?? { px: plan.across.stop, py: middle };
  };
  const listed = listedAll.filter(({ series, points, dashed }) => !dashed && (points.length || series.levels[plan.y.key] !== undefined));
  const stops = listed.map(end);
  const heights = spacedLabels(stops.map(({ py }) => Math.min(Math.max(py, plan.up.stop), plan.up.start)), 17, plan.up.start);
  listed.forEach(({ series, hidden }, at) => {
    const [y, stop] = [heights[at], stops[at]];
    const colour = series.levels[plan.y.key] === undefined ? colourOf(series) : "plain";
    const shown = series.name.length > plan.letters ? `${series.name.slice(0, Math.max(1, plan.letters - 1))}…` : series.name;
    const label = named(series, hidden, element("text", { x, y: y + 4 }, shown), colour);
    if (!hidden) label.append(element("polyline", { class: "leader", points: written([[Math.min(stop.px + 7, x - 14), stop.py], [x - 12, y], [x - 4, y]]) }));
    group.append(label);
  });
  return group;
}

function upright({ across, up }, value, kind) {
  const x = across.place(value);
  return element("line", { class: kind, x1: x, x2: x, y1: up.start, y2: up.stop });
}

export const written = (pairs) => pairs.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
