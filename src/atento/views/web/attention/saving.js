// Out of the page: pictures as PNG and SVG, numbers as CSV and JSON, and text to the clipboard. Nothing is sent anywhere.

import { FONT, visible } from "./elements.js";
import { bitmapOf, colourAt, legendTicks, positionOf, strengthOf } from "./colour_scale.js";

const MOST_CELLS = 4000; // that are drawn one by one in an SVG; of more, a bitmap is embedded
const EXPORT_DETAIL = 3; // dots a pixel of a saved image

/** Offer a file to be saved. */
export function save(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Copy a text; where the clipboard is closed to scripts, by a selected text field. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

/** Save what a view draws as a PNG, in more detail than the screen has. */
export function savePng(name, pane, redrawIn, paper) {
  redrawIn(EXPORT_DETAIL);
  const { canvas } = pane;
  const flat = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  const context = flat.getContext("2d");
  context.fillStyle = paper;
  context.fillRect(0, 0, flat.width, flat.height);
  context.drawImage(canvas, 0, 0);
  redrawIn(null);
  return new Promise((done) => {
    flat.toBlob((blob) => {
      save(name, blob);
      done();
    }, "image/png");
  });
}

/** A heat map as an SVG: cells, labels and legend, as planned on the canvas before zooming. */
export function heatMapSvg({ map, matrix, palette, range, threshold }, plan, context, title) {
  const position = positionOf(range, matrix.largest);
  const parts = [rectangle(0, 0, plan.width, plan.height, palette.paper)];
  if (matrix.values.length <= MOST_CELLS) parts.push(...cellsOf(matrix, palette, position, threshold, plan));
  else parts.push(embedded(bitmapOf(matrix, palette.scale, position, threshold), plan));
  const everyRow = Math.max(1, Math.ceil(13 / plan.row));
  map.queries.forEach((_, row) => {
    if (row % everyRow === 0) parts.push(text(plan.label(context, "row", row, map.queries), plan.left - 8, plan.top + (row + 0.5) * plan.row, palette.text, "end", 12, ' dominant-baseline="central"'));
  });
  const everyColumn = Math.max(1, Math.ceil((plan.upright ? 13 : plan.widest * 0.9) / plan.cell));
  map.keys.forEach((_, column) => {
    if (column % everyColumn) return;
    const [x, y] = [plan.left + (column + 0.5) * plan.cell, plan.top - 5];
    const name = plan.label(context, "column", column, map.keys);
    const turned = plan.stands(name) ? ` transform="rotate(-90 ${short(x)} ${short(y)})" dominant-baseline="central"` : "";
    parts.push(text(name, x, y, palette.soft, turned ? "start" : "middle", plan.letters, turned));
  });
  parts.push(...legendOf(matrix, palette, range, position, plan));
  return wrapped(plan.width, plan.height, title, parts);
}

/** Links as an SVG: a curve for each, and both lines of tokens. */
export function linksSvg({ map, matrix, palette }, { plan, links }, title) {
  const parts = [rectangle(0, 0, plan.width, plan.height, palette.paper)];
  const strength = strengthOf(matrix.largest);
  for (const { row, column, weight } of [...links].sort((one, other) => one.weight - other.weight)) {
    const share = strength(weight);
    const pen = [];
    const add = (letter) => (...numbers) => pen.push(letter + numbers.map(short).join(" "));
    plan.curve({ moveTo: add("M"), bezierCurveTo: add("C") }, plan.query[row], plan.key[column]);
    parts.push(`<path d="${pen.join("")}" fill="none" stroke="rgb(${palette.link})" stroke-opacity="${short(0.08 + 0.8 * share)}" stroke-width="${short(Math.max(0.5, share * 7))}"><title>${escaped(`${visible(map.queries[row])} to ${visible(map.keys[column])}: ${weight.toFixed(3)}`)}</title></path>`);
  }
  const anchors = { left: "start", right: "end", center: "middle" };
  for (const [side, tokens] of [["query", map.queries], ["key", map.keys]]) {
    tokens.forEach((token, index) => {
      const box = plan.box(side, index);
      parts.push(text(plan.text(token), box.textX, box.textY, palette.text, anchors[box.align], 13, ' dominant-baseline="central"'));
    });
  }
  return wrapped(plan.width, plan.height, title, parts);
}

function cellsOf(matrix, palette, position, threshold, plan) {
  const gap = Math.min(plan.cell, plan.row) < 6 ? 0 : 1;
  const parts = [];
  for (let row = 0; row < matrix.rows; row += 1) {
    for (let column = 0; column < matrix.columns; column += 1) {
      const weight = matrix.at(row, column);
      if (!Number.isFinite(weight)) continue;
      const colour = `rgb(${colourAt(palette.scale, weight < threshold ? 0 : position(weight))})`;
      parts.push(rectangle(plan.left + column * plan.cell, plan.top + row * plan.row, plan.cell - gap, plan.row - gap, colour));
    }
  }
  return parts;
}

function embedded(bitmap, plan) {
  const canvas = Object.assign(document.createElement("canvas"), { width: bitmap.width, height: bitmap.height });
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  const place = `x="${short(plan.left)}" y="${short(plan.top)}" width="${short(plan.plotWidth)}" height="${short(plan.plotHeight)}"`;
  return `<image ${place} preserveAspectRatio="none" style="image-rendering:pixelated" href="${canvas.toDataURL()}"/>`;
}

function legendOf(matrix, palette, range, position, plan) {
  const [width, y] = [Math.min(160, plan.width - plan.left - 24), plan.height - 24];
  const bars = Array.from({ length: 32 }, (_, step) => rectangle(plan.left + (step * width) / 32, y, width / 32 + 0.5, 10, `rgb(${colourAt(palette.scale, step / 31)})`));
  const ticks = legendTicks(range, matrix.largest).map((weight) => text(String(Number(weight.toPrecision(2))), plan.left + position(weight) * width, y + 21, palette.soft, "middle", 11));
  return [...bars, ...ticks];
}

function wrapped(width, height, title, parts) {
  const size = `width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${escaped(FONT)}"><title>${escaped(title)}</title>${parts.join("")}</svg>`;
}

function rectangle(x, y, width, height, fill) {
  return `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`;
}

function text(content, x, y, fill, anchor, size, more = "") {
  return `<text x="${short(x)}" y="${short(y)}" fill="${fill}" text-anchor="${anchor}" font-size="${size}"${more}>${escaped(content)}</text>`;
}

function short(number) {
  return String(Math.round(number * 100) / 100);
}

function escaped(content) {
  const signs = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return content.replace(/[&<>"']/g, (sign) => signs[sign]);
}
