// A chart one can work with: readout under the pointer, zoom by drag and by keys, a choice of axes, logarithms,
// smoothing, and its data to copy. It takes the place of the SVG that stands in the page for paper.

import { button, copyMenu, csvOf, make } from "./copying.js";
import { colourOf, drawChart, element, markerOf, textsOf } from "./drawing.js";
import { valueText } from "./scales.js";

const NEAR = 60; // pixels from which a point is still read out
const DRAG = 6; // pixels a drag must be long
const STEP = 1.6; // by which a key zooms

/** Show the chart `data` in a figure; returns { state, redraw, show(names) }. */
export function showChart(figure, data) {
  const texts = textsOf(data);
  const state = { x: 0, y: 0, logX: data.x[0].log, logY: data.y[0].log, smoothing: 0, zoom: null, hidden: new Set(), active: null };
  const svg = element("svg", { class: `chart curves interactive ${data.kind}`, tabindex: 0, role: "group", "aria-roledescription": "chart" });
  const readout = make("p", { className: "readout", role: "status" });
  const over = element("g", { class: "over" });
  const legend = make("div", { className: "legend" });
  const live = make("div", { className: "live-chart" });
  const hint = make("p", { className: "hint", textContent: texts.hint });
  const reset = button(texts.reset, () => { state.zoom = null; redraw(); });
  const controls = controlsOf(data, state, redraw, reset);
  const copies = copiesOf(figure, data, state, svg);
  const isFirst = !document.querySelector(".live-chart"); // one hint is enough for a page
  live.append(make("div", { className: "chart-head" }, controls, copies), svg, legend, readout, ...(isFirst ? [hint] : []));
  figure.append(live);
  figure.classList.add("enhanced");
  let plan = null, drag = null, width = 0;

  function redraw() {
    width = live.clientWidth;
    if (!width) return;
    const height = Math.round(Math.min(data.height, Math.max(240, width * 0.85)));
    plan = drawChart(svg, data, state, width, height);
    svg.append(over);
    svg.plan = plan;
    svg.setAttribute("aria-label", `${data.label}: ${plan.y.name} against ${plan.x.name}, ${plan.lines.length} series`);
    legendOf(legend, data.series.filter((series) => (!plan.names || (data.kind === "scatter" && state.hidden.has(series.name)))), state, toggle);
    reset.disabled = !state.zoom;
    controls.update();
    read(state.active);
  }

  function toggle(name) {
    if (!state.hidden.delete(name)) state.hidden.add(name);
    redraw();
  }

  function read(active) {
    const line = active && plan.lines.find(({ id }) => id === active.line);
    const point = line?.points.find(({ at }) => at === active.at);
    state.active = point ? active : null;
    over.replaceChildren();
    if (!point) { readout.textContent = ""; return; }
    over.append(
      element("line", { class: "cursor", x1: point.px, x2: point.px, y1: plan.up.start, y2: plan.up.stop }),
      element("circle", { class: `point ${colourOf(line.series)}`, cx: point.px, cy: point.py, r: 6 }),
    );
    readout.replaceChildren(make("strong", {}, make("bdi", { textContent: line.series.name })), ` · ${sentence(data, plan, state, line, point)}`);
  }

  function nearest(event) {
    const { x, y } = placeOf(event, svg);
    let best = null, least = NEAR;
    plan.lines.forEach(({ id, points }) => points.forEach((point) => {
      const distance = Math.hypot(point.px - x, point.py - y);
      if (distance < least && point.px >= plan.left - 8 && point.px <= plan.across.stop + 8) [best, least] = [{ line: id, at: point.at }, distance];
    }));
    return best;
  }

  function finishDrag(event) {
    const { x, y } = placeOf(event, svg);
    const [left, right] = [Math.min(drag.x, x), Math.max(drag.x, x)], [top, bottom] = [Math.min(drag.y, y), Math.max(drag.y, y)];
    const wide = right - left > DRAG, high = bottom - top > 3 * DRAG;
    drag = null;
    if (!wide) return redraw();
    const within = (value, scale) => Math.min(Math.max(value, Math.min(scale.start, scale.stop)), Math.max(scale.start, scale.stop));
    const { across, up } = plan;
    state.zoom = {
      x: [across.value(within(left, across)), across.value(within(right, across))],
      y: high ? [up.value(within(bottom, up)), up.value(within(top, up))] : null,
    };
    redraw();
  }

  function zoomBy(factor, shift = 0) {
    const { across } = plan, at = plan.lines.flatMap(({ points }) => points).length ? activePlace() : (across.start + across.stop) / 2;
    const span = (across.stop - across.start) / factor, middle = factor === 1 ? (across.start + across.stop) / 2 + shift * span : at;
    state.zoom = { x: [across.value(middle - span / 2), across.value(middle + span / 2)], y: null };
    redraw();
  }

  function activePlace() {
    const line = state.active && plan.lines.find(({ id }) => id === state.active.line);
    return line?.points.find(({ at }) => at === state.active.at)?.px ?? (plan.across.start + plan.across.stop) / 2;
  }

  function travel(event) {
    const label = event.target.closest?.("[data-series]");
    if (label && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      const name = label.dataset.series;
      toggle(name);
      return [...svg.querySelectorAll("[data-series]")].find((one) => one.dataset.series === name)?.focus();
    }
    const keys = { "+": () => zoomBy(STEP), "=": () => zoomBy(STEP), "-": () => zoomBy(1 / STEP), 0: () => reset.click(), Escape: () => { reset.click(); read(null); } };
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity] }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || (!step && !keys[event.key])) return;
    event.preventDefault();
    if (!step) return keys[event.key]();
    if (event.shiftKey) return zoomBy(1, step[1] * 0.25);
    move(...step);
  }

  function move(down, right) {
    const lines = plan.lines.filter(({ points }) => points.length);
    if (!lines.length) return;
    const row = Math.max(0, lines.findIndex(({ id }) => id === state.active?.line));
    const line = lines[state.active ? (row + down + lines.length) % lines.length : 0];
    const here = Math.max(0, lines[row].points.findIndex(({ at }) => at === state.active?.at));
    if (data.kind === "scatter") return read({ line: lines[state.active ? (row + (down || Math.sign(right)) + lines.length) % lines.length : 0].id, at: 0 });
    const x = lines[row].points[here].x;
    let at = down ? closest(line.points, x) : Math.min(Math.max((state.active ? here : line.points.length - 1) + (state.active ? right : 0), 0), line.points.length - 1);
    read({ line: line.id, at: line.points[at].at });
  }

  svg.addEventListener("pointermove", (event) => {
    if (!drag) return read(nearest(event));
    const { x, y } = placeOf(event, svg);
    const high = Math.abs(y - drag.y) > 3 * DRAG;
    const box = { x: Math.min(x, drag.x), width: Math.abs(x - drag.x), y: high ? Math.min(y, drag.y) : plan.up.stop, height: high ? Math.abs(y - drag.y) : plan.up.start - plan.up.stop };
    over.replaceChildren(element("rect", { class: "selection", ...box }));
  });
  svg.addEventListener("pointerdown", (event) => {
    const place = placeOf(event, svg);
    if (event.button || event.target.closest("[data-series]") || place.x > plan.across.stop + 10) return;
    drag = place;
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointerup", (event) => drag && finishDrag(event));
  svg.addEventListener("pointercancel", () => { drag = null; redraw(); });
  svg.addEventListener("pointerleave", () => !drag && read(null));
  svg.addEventListener("dblclick", () => reset.click());
  svg.addEventListener("click", (event) => { const label = event.target.closest("[data-series]"); if (label) toggle(label.dataset.series); });
  svg.addEventListener("keydown", travel);
  new ResizeObserver(() => live.clientWidth !== width && redraw()).observe(live);
  redraw();
  return { state, redraw, hide(names) { state.hidden = new Set(names); redraw(); } };
}

function placeOf(event, svg) {
  const box = svg.getBoundingClientRect();
  const zoom = svg.viewBox.baseVal.width / box.width;
  return { x: (event.clientX - box.left) * zoom, y: (event.clientY - box.top) * zoom };
}

function closest(points, x) {
  return points.reduce((best, point, at) => (Math.abs(point.x - x) < Math.abs(points[best].x - x) ? at : best), 0);
}

function sentence(data, plan, state, { series, dashed }, point) {
  const { x } = plan, y = dashed ? { ...plan.y, name: plan.y.beside, table: "validation" } : plan.y;
  const texts = textsOf(data), name = y.beside && !dashed ? `${texts.training} ${y.key}` : y.name;
  const parts = [`${name} ${valueText(point.raw, y.kind)}`];
  if (point.low !== null && point.high !== null) parts[0] += ` (${valueText(point.low, y.kind)}–${valueText(point.high, y.kind)})`;
  if (state.smoothing) parts.push(`${texts.smoothed} ${valueText(point.y, y.kind)}`);
  const columns = series.tables[y.table];
  const others = data.kind === "scatter" ? [x] : data.x;
  others.forEach((axis) => columns[axis.key]?.[point.at] !== undefined && parts.push(said(texts, axis, columns[axis.key][point.at])));
  if (point.front) parts.push(texts.front);
  return parts.join(" · ");
}

function said(texts, axis, value) {
  if (axis.kind === "duration" || axis.kind === "date" || axis.kind === "memory") return `${axis.kind === "date" ? "" : `${axis.name} `}${valueText(value, axis.kind)}`;
  return axis.key === "step" ? `${texts.step} ${valueText(value)}` : `${valueText(value, axis.kind)} ${axis.name}`;
}

function controlsOf(data, state, redraw, reset) {
  const texts = textsOf(data), box = make("div", { className: "chart-controls" });
  const choice = (name, axes, key) => {
    if (axes.length < 2) return;
    const select = make("select", { name: key, ariaLabel: key === "y" ? texts.vertical : texts.horizontal }, ...axes.map((axis, at) => make("option", { value: at, textContent: axis.name })));
    select.addEventListener("change", () => {
      state[key] = Number(select.value);
      state[key === "x" ? "logX" : "logY"] = axes[state[key]].log;
      state.zoom = null;
      redraw();
    });
    box.append(make("label", {}, make("span", { textContent: name }), select));
  };
  choice(texts.show, data.y, "y");
  choice(texts.against, data.x, "x");
  const boxes = ["logX", "logY"].map((key) => {
    const input = make("input", { type: "checkbox", name: key });
    input.addEventListener("change", () => { state[key] = input.checked; state.zoom = null; redraw(); });
    const label = make("label", { className: "tick-box" }, input, make("span", { textContent: texts[key] }));
    if (!(key === "logX" && data.x.every((axis) => axis.kind === "date"))) box.append(label);
    return [key, input];
  });
  if (data.smoothing) {
    const slider = make("input", { type: "range", min: 0, max: 0.98, step: 0.02, value: 0, name: "smoothing" });
    slider.addEventListener("input", () => { state.smoothing = Number(slider.value); number.textContent = slider.value; redraw(); });
    const number = make("output", { textContent: "0" });
    box.append(make("label", { className: "slider" }, make("span", { textContent: texts.smoothing }), slider, number));
  }
  box.append(reset);
  box.update = () => boxes.forEach(([key, input]) => { input.checked = state[key]; });
  return box;
}

function legendOf(legend, series, state, toggle) {
  const kept = document.activeElement?.closest?.(".legend") === legend ? document.activeElement.dataset.series : null;
  legend.replaceChildren(...series.map((one) => {
    const sign = element("svg", { viewBox: "-6 -6 12 12", width: 12, height: 12, class: `curve ${colourOf(one)}`, "aria-hidden": "true" },
      Object.keys(one.levels).length ? element("path", { class: "dash", d: "M-6 0h5M1 0h5" }) : element("path", { class: "marker", d: markerOf(one) }));
    const chip = make("button", { type: "button", className: "chip", ariaPressed: String(!state.hidden.has(one.name)) }, sign, make("bdi", { textContent: one.name }));
    chip.dataset.series = one.name;
    chip.addEventListener("click", () => toggle(one.name));
    return chip;
  }));
  if (kept) [...legend.children].find((chip) => chip.dataset.series === kept)?.focus();
}

/** Rows of the shown curves: a line for each point. */
export function rowsOf(data, state) {
  const y = data.y[state.y], axes = y.beside ? [y, { key: y.beside, table: "validation" }] : [y];
  const shown = data.series.filter((series) => !state.hidden.has(series.name));
  return shown.flatMap((series) => axes.flatMap((axis) => {
    const columns = series.tables[axis.table] ?? {}, level = series.levels[axis.key];
    const wanted = [...data.x.map(({ key }) => key), axis.key, `${axis.key} low`, `${axis.key} high`].filter((key) => columns[key]);
    const count = columns[axis.key]?.length ?? 0;
    const isDate = (key) => data.x.find((one) => one.key === key)?.kind === "date";
    const value = (key, at) => (isDate(key) ? new Date(columns[key][at]).toISOString() : columns[key][at]);
    const rows = Array.from({ length: count }, (_, at) => ({ series: series.name, ...Object.fromEntries(wanted.map((key) => [key, value(key, at)])) }));
    return level === undefined ? rows : [...rows, { series: series.name, [axis.key]: level }];
  }));
}

function copiesOf(figure, data, state, svg) {
  const rows = () => rowsOf(data, state);
  return copyMenu(data.name, {
    CSV: () => csvOf(rows()),
    JSON: () => JSON.stringify(rows(), null, 1),
    SVG: () => standalone(svg),
  }, textsOf(data));
}

/** The SVG as a file of its own: every colour is written on its element. */
export function standalone(svg) {
  const copy = svg.cloneNode(true);
  const names = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "paint-order", "font-size", "font-family", "font-weight"];
  const [from, to] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((one, at) => {
    const style = getComputedStyle(one);
    names.forEach((name) => to[at].setAttribute(name, style.getPropertyValue(name)));
    ["class", "tabindex", "role", "aria-pressed", "data-series"].forEach((name) => to[at].removeAttribute(name));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.prepend(element("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}
