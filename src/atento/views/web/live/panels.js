// The panels of a live picture as SVG. Each function draws one panel and returns its marks, which a pointer or the
// arrow keys read: { x, y, width, height, row, text }. Texts come translated by `view.say`, numbers by `view.number`.

import { makeScale, ticksOf } from "../charts/scales.js";
import { colourOf, element, markerOf, written } from "../charts/drawing.js";

const LETTER = 0.56; // the usual width of a letter, of its size
const DASHES = ["", "9 4", "3 3", "9 4 2 4"]; // colour-blind readers tell lines by these

/** Draw `panel` into `svg`; `view` has { width, height, font, say, number }. */
export function drawPanel(svg, panel, view) {
  svg.replaceChildren();
  return { chart: drawXY, bars: drawBars, heat: drawHeat, cells: drawCells }[panel.kind](svg, panel, view);
}

const clipped = (text, letters) => (text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text);

/** The names of all series, above a chart; returns the height they take. */
function legend(svg, series, view, sign) {
  const shown = series.filter(({ name }) => name);
  if (series.length < 2 || !shown.length) return 0;
  let [x, y] = [0, view.font * 0.9];
  series.forEach((one, at) => {
    const text = view.say(one.name), width = text.length * view.font * LETTER + view.font * 3.2;
    if (x && x + width > view.width) [x, y] = [0, y + view.font * 1.5];
    const group = element("g", { class: `curve s${at % 8}`, transform: `translate(${x} ${y})` });
    group.append(...sign(one, at), element("text", { x: view.font * 1.9, y: view.font * 0.35 }, text));
    svg.append(group);
    x += width;
  });
  return y + view.font * 0.9;
}

function axes(svg, panel, view, { across, up, top, names }) {
  const { font, width } = view, base = up.start;
  ticksOf(up, Math.max(3, Math.floor((base - up.stop) / (font * 3.2)))).forEach((value) => {
    const level = up.place(value);
    svg.append(element("line", { class: "grid", x1: across.start, x2: width, y1: level, y2: level }));
    svg.append(element("text", { class: "tick", x: across.start - 8, y: level + font * 0.35, "text-anchor": "end" }, view.number(value)));
  });
  svg.append(element("line", { class: "axis", x1: across.start, x2: width, y1: base, y2: base }));
  const room = (across.stop - across.start) / Math.max(1, names?.length ?? 1);
  const ticks = names ? names.map((name, at) => [across.start + room * (at + 0.5), clipped(view.say(name), room / (font * LETTER))])
    : ticksOf(across, Math.max(2, Math.floor((across.stop - across.start) / (font * 5)))).map((value) => [across.place(value), view.number(value)]);
  ticks.forEach(([x, text]) => svg.append(element("text", { class: "tick", x: Math.min(x, width - text.length * font * LETTER / 2), y: base + font * 1.35, "text-anchor": "middle" }, text)));
  if (panel.across) svg.append(element("text", { class: "name", x: width, y: base + font * 2.8, "text-anchor": "end" }, view.say(panel.across)));
  if (panel.up) svg.append(element("text", { class: "name", x: 0, y: top + font }, view.say(panel.up)));
}

/** The scales of a chart: below its legend and the name of its vertical axis, beside the numbers of that axis. */
function planned(panel, view, top) {
  const { font, width, height } = view, [bottom, highest] = panel.limits.y;
  const start = top + font * (panel.up ? 1.9 : 0.7), base = height - font * (panel.across ? 3.1 : 1.8);
  const up = makeScale(bottom, highest, base, start, panel.log_y);
  const widest = Math.max(...ticksOf(up, 6).map((value) => view.number(value).length), 1);
  return { up, left: widest * font * LETTER + 12, top };
}

function drawXY(svg, panel, view) {
  const { font, width } = view;
  const sample = (one, at) => [
    ...(one.line ? [element("line", { class: "line", x1: 0, x2: font * 1.5, y1: 0, y2: 0, "stroke-dasharray": DASHES[at % 4] })] : []),
    ...(one.dots || one.head ? [element("path", { class: "marker", d: markerOf({ colour: at }), transform: `translate(${font * 0.75} 0)` })] : []),
  ];
  const { up, left, top } = planned(panel, view, legend(svg, panel.series, view, sample));
  let [low, high] = panel.limits.x;
  if (panel.equal) { // one scale for both axes: the wider one gives way
    const scale = Math.max((high - low) / (width - left - 10), (up.high - up.low) / (up.start - up.stop));
    const [x, y] = [(low + high) / 2, (up.low + up.high) / 2], [w, h] = [scale * (width - left - 10) / 2, scale * (up.start - up.stop) / 2];
    [low, high] = [x - w, x + w];
    Object.assign(up, makeScale(y - h, y + h, up.start, up.stop));
  }
  const across = makeScale(low, high, left, width - 10, panel.log_x), marks = [], labels = [];
  axes(svg, panel, view, { across, up, top });
  if (panel.cursor !== null) svg.append(element("line", { class: "cursor", x1: across.place(panel.cursor), x2: across.place(panel.cursor), y1: up.start, y2: up.stop }));
  panel.series.forEach((one, row) => {
    const group = element("g", { class: `curve ${colourOf({ colour: row })}` });
    const points = one.x.map((x, at) => ({ x, y: one.y[at], at })).filter(({ x, y }) => x !== null && y !== null && !(panel.log_y && y <= 0) && !(panel.log_x && x <= 0));
    points.forEach((point) => Object.assign(point, { px: across.place(point.x), py: Math.min(Math.max(up.place(point.y), up.stop - 4), up.start + 4) }));
    if (one.line) runs(points).forEach((run) => group.append(element("polyline", { class: "line", "stroke-dasharray": panel.series.length > 1 && !one.head ? DASHES[row % 4] : "", points: written(run.map(({ px, py }) => [px, py])) })));
    const dotted = one.dots ? points : one.head ? points.slice(-1) : [];
    dotted.forEach(({ px, py }) => group.append(element("path", { class: "marker", d: markerOf({ colour: row }), transform: `translate(${px.toFixed(1)} ${py.toFixed(1)}) scale(${font / 13})` })));
    svg.append(group);
    points.forEach(({ x, y, px, py, at }) => {
      const label = one.labels?.[at] ? view.say(one.labels[at]) : "";
      if (label) labels.push({ label, px, py });
      const place = panel.across ? `${view.say(panel.across)} ${view.number(x)}` : view.number(x);
      marks.push({ x: px, y: py, row, text: `${[view.say(one.name), label].filter(Boolean).join(", ")} · ${place} · ${view.say(panel.up)} ${view.number(y)}` });
    });
  });
  const taken = [];
  labels.forEach(({ label, px, py }) => { // a label that would cover another is left out; the pointer still reads it
    const box = { left: px + 6, right: px + 6 + label.length * font * LETTER, y: py };
    if (taken.some((other) => Math.abs(other.y - box.y) < font && other.left < box.right && box.left < other.right)) return;
    taken.push(box);
    const inside = box.right < width;
    svg.append(element("text", { class: "point-label", x: inside ? box.left : px - 6, y: py - 3, "text-anchor": inside ? "start" : "end" }, label));
  });
  return marks;
}

/** The parts of a line between its gaps. */
function runs(points) {
  return points.reduce((all, point) => {
    if (all.length && all.at(-1).at(-1).at === point.at - 1) all.at(-1).push(point);
    else all.push([point]);
    return all;
  }, []);
}

function drawBars(svg, panel, view) {
  const { up, left, top } = planned(panel, view, legend(svg, panel.series, view, () => [element("rect", { class: "bar", x: 2, y: -view.font * 0.5, width: view.font * 1.2, height: view.font })]));
  const across = { start: left, stop: view.width }, room = (view.width - left) / panel.names.length, wide = (room * 0.8) / panel.series.length;
  axes(svg, panel, view, { across, up, top, names: panel.names });
  const zero = up.place(Math.min(Math.max(0, up.low), up.high));
  return panel.series.flatMap((one, row) => panel.names.flatMap((name, at) => {
    if (one.y[at] === null) return [];
    const level = up.place(one.y[at]), box = { x: left + room * (at + 0.1) + wide * row, y: Math.min(level, zero), width: wide * 0.92, height: Math.max(1, Math.abs(level - zero)) };
    svg.append(element("rect", { class: `bar s${row % 8}`, ...box }));
    if (wide > view.font * 2.4) svg.append(element("text", { class: "value", x: box.x + box.width / 2, y: box.y - view.font * 0.3, "text-anchor": "middle" }, view.number(Number(one.y[at].toPrecision(3)))));
    return [{ ...box, row, text: `${[view.say(name), view.say(one.name)].filter(Boolean).join(" · ")} · ${view.number(one.y[at])}` }];
  }));
}

/** How strong the shade of a value is, from 0 to 1, and its class. */
function shadeOf(value, panel) {
  const [low, high] = panel.limits.v;
  const part = panel.diverging ? Math.abs(value) / Math.max(Math.abs(low), Math.abs(high)) : (value - low) / (high - low || 1);
  return { opacity: value === null ? 0 : Math.min(Math.max(part, 0), 1), kind: panel.diverging && value < 0 ? "below" : "above" };
}

function drawCell(svg, panel, value, box, text, size, extra = "") {
  const { opacity, kind } = shadeOf(value, panel);
  svg.append(element("rect", { class: `cell ${extra}`, ...box }), element("rect", { class: `shade ${kind}`, opacity: opacity.toFixed(3), ...box }));
  const fits = Math.floor((box.width - 4) / (size * LETTER));
  if (text && fits > 0) svg.append(element("text", { class: `in-cell${opacity > 0.55 ? " strong" : ""}`, x: box.x + box.width / 2, y: box.y + box.height / 2 + size * 0.35, "text-anchor": "middle", "font-size": size }, clipped(text, fits)));
}

function drawHeat(svg, panel, view) {
  const { font, width, height } = view, names = panel.rows.map(view.say), heads = panel.columns.map(view.say);
  const left = Math.min(Math.max(...names.map(({ length }) => length)) * font * LETTER + 10, width * 0.35);
  const top = font * (panel.across ? 3 : 1.6), foot = panel.up ? font * 1.5 : 2;
  const wide = (width - left) / heads.length, high = (height - top - foot) / names.length, marks = [];
  const longest = Math.max(...heads.map(({ length }) => length)), size = Math.min(font, high * 0.9);
  const every = Math.max(1, Math.ceil((Math.min(longest, 4) * font * LETTER) / wide));
  heads.forEach((name, at) => at % every === 0 && svg.append(element("text", { class: "tick", x: left + wide * (at + 0.5), y: top - font * 0.4, "text-anchor": "middle" }, clipped(name, Math.max(1, Math.floor((wide * every) / (font * LETTER)))))));
  const skip = Math.max(1, Math.ceil((font * 1.05) / high));
  names.forEach((name, row) => {
    if (row % skip === 0) svg.append(element("text", { class: "tick", x: left - 8, y: top + high * (row + 0.5) + size * 0.35, "text-anchor": "end" }, clipped(name, Math.floor((left - 8) / (font * LETTER)))));
    heads.forEach((head, column) => {
      const value = panel.values[row][column], box = { x: left + wide * column, y: top + high * row, width: wide, height: high };
      drawCell(svg, panel, value, box, panel.show_values && value !== null ? view.number(Number(value.toFixed(2))) : "", Math.min(size, wide / 2.8));
      marks.push({ ...box, row, text: `${name} · ${head} · ${view.number(value)}` });
    });
  });
  if (panel.across) svg.append(element("text", { class: "name", x: width, y: font, "text-anchor": "end" }, `${view.say(panel.across)} →`));
  if (panel.up) svg.append(element("text", { class: "name", x: 0, y: height - 4 }, `↓ ${view.say(panel.up)}`));
  return marks;
}

function drawCells(svg, panel, view) {
  const { font, width, height } = view, marks = [], high = height / panel.rows.length;
  const count = Math.max(...panel.rows.map(({ texts }) => texts.length));
  const left = Math.min(Math.max(...panel.rows.map(({ name }) => view.say(name).length)) * font * LETTER + 10, width * 0.3);
  const wide = (width - left) / count, size = Math.min(font, high * 0.5);
  panel.rows.forEach((row, at) => {
    const name = view.say(row.name);
    svg.append(element("text", { class: "name", x: 0, y: high * (at + 0.5) + font * 0.35 }, clipped(name, Math.floor((left - 4) / (font * LETTER)))));
    row.texts.forEach((text, column) => {
      const box = { x: left + wide * column + 1, y: high * at + 2, width: wide - 2, height: high - 4 }, value = row.y[column] ?? null;
      const longest = Math.max(...row.texts.map(({ length }) => length), 1), own = Math.min(size, Math.max(9, (wide - 8) / (longest * LETTER)));
      drawCell(svg, panel, value, box, panel.show_values && value !== null ? `${view.say(text)} ${view.number(Number(value.toFixed(2)))}` : view.say(text), own, panel.marked.includes(column) ? "marked" : "");
      marks.push({ ...box, row: at, text: [name, view.say(text), value === null ? "" : view.number(value)].filter(Boolean).join(" · ") });
    });
  });
  return marks;
}

/** The numbers of a panel as a table: { head, rows }. */
export function tableOf(panel, { say, number }) {
  const series = panel.series ?? [];
  if (panel.kind === "chart") {
    const rows = series.flatMap((one) => one.x.map((x, at) => [say(one.name), ...(one.labels?.length ? [say(one.labels[at] ?? "")] : [""]), number(x), number(one.y[at])]));
    return { head: ["", "", say(panel.across), say(panel.up)], rows };
  }
  if (panel.kind === "bars") return { head: ["", ...series.map(({ name }) => say(name) || say(panel.up))], rows: panel.names.map((name, at) => [say(name), ...series.map((one) => number(one.y[at]))]) };
  if (panel.kind === "heat") return { head: ["", ...panel.columns.map(say)], rows: panel.rows.map((name, at) => [say(name), ...panel.values[at].map(number)]) };
  return { head: ["", ...panel.rows[0].texts.map((_, at) => String(at + 1))], rows: panel.rows.map((row) => [say(row.name), ...row.texts.map((text, at) => [say(text), row.y[at] === null ? "" : number(row.y[at])].filter(Boolean).join(" "))]) };
}
