// One attention map on a canvas: a row for each query, a column for each key; it zooms, pans and is read cell by cell.

import { areCharacters, clamp, fitting, FONT, make, onceAFrame, sized, visible } from "./elements.js";
import { bitmapOf, colourAt, legendTicks, positionOf } from "./colour_scale.js";
import { pooled } from "./weights.js";
import { placeIn, pointAt } from "./selection.js";

const ROW = 22; // height of a row where there is room
const ROOMY = 52; // width of a cell where there is room
const HIGHEST = 600; // of the cells together
const LETTERS = { usual: 12, least: 8 }; // sizes of labels
const LONGEST = { row: 0.32, column: 96 }; // of the width; in pixels
const LEGEND = { height: 30, width: 160, bar: 10 };
const LARGEST_CELL = 64;
const ZOOM_STEP = 1.3;
const GAP_FROM = 6; // pixels of a cell, from which cells are set apart
const NUMBER_ROOM = 34; // pixels a cell needs to show its number

/**
 * Show the matrix that `state()` gives: { map, matrix, palette, range, threshold, detail }.
 * Returns { element, redraw, plan, remove }; `commands` are keys that belong to the viewer.
 */
export function showHeatMap({ state, selection, label, commands = {} }) {
  const canvas = make("canvas", { tabIndex: 0, role: "application", className: "attention-map", aria: { roledescription: "attention map" } });
  const element = make("div", { className: "attention-pane" }, canvas);
  const zoom = { factor: 1, x: 0, y: 0 }; // x and y in pixels of the zoomed map
  const pointers = new Map(); // pressed ones, by id
  const bitmaps = new Map();
  const ground = { canvas: new OffscreenCanvas(1, 1), matrix: null, key: "" };
  let [plan, drawn, dragged, kept] = [null, "", false, null];

  function redraw() {
    const width = element.clientWidth;
    if (!width) return; // hidden: drawn when it comes into view
    const shown = state();
    const { map, matrix, palette, detail } = shown;
    if (map !== kept?.map) Object.assign(zoom, { factor: 1, x: 0, y: 0 });
    if (map !== kept?.map || width !== kept.width) {
      plan = planned(canvas.getContext("2d"), width, map);
      kept = { map, width };
    }
    move(0, 0);
    const context = sized(canvas, plan.width, plan.height, detail);
    context.imageSmoothingEnabled = false;
    context.drawImage(groundOf(shown), 0, 0, plan.width, plan.height);
    canvas.style.height = `${plan.height}px`;
    canvas.style.touchAction = zoom.factor > 1 ? "none" : "pan-y";
    const place = placeIn(map, selection);
    drawMark(context, palette, place);
    drawMarkedLabels(context, shown, place);
    canvas.attention = { ...plan, ...cellSize(), x: zoom.x, y: zoom.y, zoom: zoom.factor }; // for whoever wants to point at a cell
    const described = `${label()}: ${matrix.rows} queries by ${matrix.columns} keys`;
    if (described !== drawn) canvas.setAttribute("aria-label", (drawn = described));
  }

  const ask = onceAFrame(redraw);

  // Cells, labels and legend: what stays while the pointer moves.
  function groundOf(shown) {
    const { matrix, palette, range, threshold, detail } = shown;
    const key = [palette.dark, range, threshold, zoom.factor, zoom.x, zoom.y, plan.width, detail].join();
    if (ground.matrix !== matrix || ground.key !== key) {
      const context = sized(ground.canvas, plan.width, plan.height, detail);
      drawCells(context, shown);
      drawLabels(context, shown);
      drawLegend(context, shown);
      Object.assign(ground, { matrix, key });
    }
    return ground.canvas;
  }

  function cellSize() {
    return { cell: plan.cell * zoom.factor, row: plan.row * zoom.factor };
  }

  function drawCells(context, { matrix, palette, range, threshold, detail }) {
    const { cell, row } = cellSize();
    const factor = (size) => 2 ** Math.max(0, Math.ceil(Math.log2(1 / (size * detail))));
    const [down, across] = [factor(row), factor(cell)];
    const bitmap = bitmapAt(matrix, palette, range, threshold, down, across);
    const [inX, inY] = [zoom.x / (cell * across), zoom.y / (row * down)];
    const [wide, high] = [plan.plotWidth / (cell * across), plan.plotHeight / (row * down)];
    context.imageSmoothingEnabled = false;
    context.drawImage(bitmap, inX, inY, wide, high, plan.left, plan.top, plan.plotWidth, plan.plotHeight);
    if (Math.min(cell, row) < GAP_FROM) return;
    context.fillStyle = palette.paper;
    for (const column of visibleRange(zoom.x, cell, plan.plotWidth, matrix.columns)) context.fillRect(plan.left + (column + 1) * cell - zoom.x - 1, plan.top, 1, plan.plotHeight);
    for (const line of visibleRange(zoom.y, row, plan.plotHeight, matrix.rows)) context.fillRect(plan.left, plan.top + (line + 1) * row - zoom.y - 1, plan.plotWidth, 1);
    if (cell >= NUMBER_ROOM && zoom.factor > 1) drawNumbers(context, matrix, palette, positionOf(range, matrix.largest), threshold);
  }

  function bitmapAt(matrix, palette, range, threshold, down, across) {
    const key = [palette.dark, range, threshold, down, across].join(" ");
    if (bitmaps.matrix !== matrix || bitmaps.size > 12) bitmaps.clear();
    bitmaps.matrix = matrix;
    if (!bitmaps.has(key)) bitmaps.set(key, bitmapOf(pooled(matrix, down, across), palette.scale, positionOf(range, matrix.largest), threshold));
    return bitmaps.get(key);
  }

  function drawNumbers(context, matrix, palette, position, threshold) {
    const { cell, row } = cellSize();
    context.font = `11px ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(plan.left, plan.top, plan.plotWidth, plan.plotHeight);
    context.clip();
    for (const line of visibleRange(zoom.y, row, plan.plotHeight, matrix.rows)) {
      for (const column of visibleRange(zoom.x, cell, plan.plotWidth, matrix.columns)) {
        const weight = matrix.at(line, column);
        if (!Number.isFinite(weight) || weight < threshold) continue;
        context.fillStyle = position(weight) > 0.55 ? palette.paper : palette.text;
        context.fillText(weight.toFixed(2), plan.left + (column + 0.5) * cell - zoom.x, plan.top + (line + 0.5) * row - zoom.y);
      }
    }
    context.restore();
  }

  function rowAt(line) {
    return plan.top + (line + 0.5) * cellSize().row - zoom.y;
  }

  function columnAt(column) {
    return plan.left + (column + 0.5) * cellSize().cell - zoom.x;
  }

  function writeRow(context, map, line) {
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(plan.label(context, "row", line, map.queries), plan.left - 8, rowAt(line));
  }

  function writeColumn(context, map, column) {
    const text = plan.label(context, "column", column, map.keys);
    writeAbove(context, text, columnAt(column), plan.top - 5, plan.stands(text));
  }

  function drawLabels(context, { map, palette }) {
    const { cell, row } = cellSize();
    const everyRow = Math.max(1, Math.ceil(13 / row));
    const everyColumn = Math.max(1, Math.ceil((plan.upright ? 13 : plan.widest * 0.9) / cell));
    context.font = `${LETTERS.usual}px ${FONT}`;
    context.fillStyle = palette.text;
    for (const line of visibleRange(zoom.y, row, plan.plotHeight, map.rows)) if (line % everyRow === 0 && isRowInside(line)) writeRow(context, map, line);
    context.font = `${plan.letters}px ${FONT}`;
    context.fillStyle = palette.soft;
    for (const column of visibleRange(zoom.x, cell, plan.plotWidth, map.columns)) if (column % everyColumn === 0 && isColumnInside(column)) writeColumn(context, map, column);
  }

  function isRowInside(line) {
    return rowAt(line) > plan.top - 1 && rowAt(line) < plan.top + plan.plotHeight + 1;
  }

  function isColumnInside(column) {
    return columnAt(column) > plan.left - 1 && columnAt(column) < plan.left + plan.plotWidth + 1;
  }

  // The labels of the cell pointed at, also those that are left out for want of room; their neighbours give way.
  function drawMarkedLabels(context, { map, palette }, { row: line, column }) {
    if (line !== null && isRowInside(line)) {
      context.fillStyle = palette.paper;
      context.fillRect(0, rowAt(line) - 8, plan.left - 3, 16);
      context.fillStyle = palette.mark;
      context.font = `bold ${LETTERS.usual}px ${FONT}`;
      writeRow(context, map, line);
    }
    if (column !== null && isColumnInside(column)) {
      context.font = `bold ${plan.letters}px ${FONT}`;
      const text = plan.label(context, "column", column, map.keys);
      const [long, high] = [context.measureText(text).width + 6, plan.letters + 4];
      const [wide, tall] = plan.stands(text) ? [high, long] : [long, high];
      context.fillStyle = palette.paper;
      context.fillRect(columnAt(column) - wide / 2, plan.top - 2 - tall, wide, tall);
      context.fillStyle = palette.mark;
      writeColumn(context, map, column);
    }
  }

  function drawMark(context, palette, { row: line, column }) {
    const { cell, row } = cellSize();
    context.save();
    context.beginPath();
    context.rect(plan.left - 2, plan.top - 2, plan.plotWidth + 4, plan.plotHeight + 4);
    context.clip();
    context.strokeStyle = palette.mark;
    context.lineWidth = 1;
    const [x, y] = [plan.left + (column ?? 0) * cell - zoom.x, plan.top + (line ?? 0) * row - zoom.y];
    if (line !== null) context.strokeRect(plan.left - 1, y - 1, plan.plotWidth + 1, row + 1);
    if (column !== null) context.strokeRect(x - 1, plan.top - 1, cell + 1, plan.plotHeight + 1);
    context.lineWidth = 2;
    if (line !== null && column !== null) context.strokeRect(x - 1, y - 1, cell + 1, row + 1);
    context.restore();
  }

  function drawLegend(context, { matrix, palette, range }) {
    const y = plan.height - LEGEND.height + 6;
    const position = positionOf(range, matrix.largest);
    const width = Math.min(LEGEND.width, plan.width - plan.left - 24);
    for (let x = 0; x < width; x += 1) {
      context.fillStyle = `rgb(${colourAt(palette.scale, x / (width - 1))})`;
      context.fillRect(plan.left + x, y, 1.5, LEGEND.bar);
    }
    context.font = `11px ${FONT}`;
    context.fillStyle = palette.soft;
    context.textAlign = "center";
    context.textBaseline = "top";
    legendTicks(range, matrix.largest).forEach((weight) => {
      const x = plan.left + position(weight) * width;
      context.fillRect(x - 0.5, y + LEGEND.bar, 1, 3);
      context.fillText(weight === 0 || weight === 1 ? String(weight) : String(Number(weight.toPrecision(2))), x, y + LEGEND.bar + 4);
    });
  }

  function cellAt(event) {
    const box = canvas.getBoundingClientRect();
    const { cell, row } = cellSize();
    const [x, y] = [event.clientX - box.left - plan.left, event.clientY - box.top - plan.top];
    const { map } = state();
    if (y < 0 || y >= plan.plotHeight || x >= plan.plotWidth || !map.columns) return null;
    const line = Math.min(Math.floor((y + zoom.y) / row), map.rows - 1);
    return { row: line, column: x < 0 ? null : Math.min(Math.floor((x + zoom.x) / cell), map.columns - 1) };
  }

  function move(x, y) {
    const { cell, row } = cellSize();
    const { map } = state();
    zoom.x = clamp(zoom.x + x, 0, Math.max(0, map.columns * cell - plan.plotWidth));
    zoom.y = clamp(zoom.y + y, 0, Math.max(0, map.rows * row - plan.plotHeight));
  }

  function zoomBy(by, at = { x: plan.left + plan.plotWidth / 2, y: plan.top + plan.plotHeight / 2 }) {
    const most = Math.max(1, LARGEST_CELL / Math.min(plan.cell, plan.row));
    const factor = clamp(zoom.factor * by, 1, most);
    const [x, y] = [at.x - plan.left, at.y - plan.top];
    const ratio = factor / zoom.factor;
    Object.assign(zoom, { factor, x: (zoom.x + x) * ratio - x, y: (zoom.y + y) * ratio - y });
    move(0, 0);
    ask();
  }

  function bringIntoView({ row: line, column }) {
    const { cell, row } = cellSize();
    const inside = (at, size, from, room) => (at * size < from ? at * size - from : (at + 1) * size > from + room ? (at + 1) * size - from - room : 0);
    move(inside(column ?? 0, cell, zoom.x, plan.plotWidth), inside(line ?? 0, row, zoom.y, plan.plotHeight));
  }

  function travel(event) {
    const { map } = state();
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -map.columns], End: [0, map.columns] };
    const zooms = { "+": () => zoomBy(ZOOM_STEP), "=": () => zoomBy(ZOOM_STEP), "-": () => zoomBy(1 / ZOOM_STEP), 0: () => zoomBy(1e-9) };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const place = placeIn(map, selection);
    if (event.key === "Escape") selection.clear();
    else if (event.key === "Enter") pointAt(map, selection, place.row ?? 0, place.column ?? 0, { pinned: !selection.pinned });
    else if (event.key in zooms) zooms[event.key]();
    else if (event.key in commands) commands[event.key]();
    else if (event.key in steps && event.shiftKey) {
      move(steps[event.key][1] * plan.plotWidth * 0.2, steps[event.key][0] * plan.plotHeight * 0.2);
      ask();
    } else if (event.key in steps && map.rows && map.columns) {
      const started = place.row !== null && place.column !== null;
      const [down, right] = started ? steps[event.key] : [0, 0];
      const next = { row: clamp((place.row ?? 0) + down, 0, map.rows - 1), column: clamp((place.column ?? 0) + right, 0, map.columns - 1) };
      bringIntoView(next);
      pointAt(map, selection, next.row, next.column, { pinned: true });
    } else return;
    event.preventDefault();
  }

  function dragOrPoint(event) {
    const held = pointers.get(event.pointerId);
    if (held && pointers.size === 2) {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, one]) => one);
      const apart = (one) => Math.hypot(one.x - other.x, one.y - other.y) || 1;
      const now = { x: event.clientX, y: event.clientY };
      const box = canvas.getBoundingClientRect();
      zoomBy(apart(now) / apart(held), { x: (now.x + other.x) / 2 - box.left, y: (now.y + other.y) / 2 - box.top });
      Object.assign(held, now);
      dragged = true;
    } else if (held && zoom.factor > 1) {
      move(held.x - event.clientX, held.y - event.clientY);
      dragged ||= Math.hypot(held.x - event.clientX, held.y - event.clientY) > 2;
      Object.assign(held, { x: event.clientX, y: event.clientY });
      ask();
    } else if (!selection.pinned) point(event);
  }

  function point(event, options) {
    const cell = cellAt(event);
    if (cell) pointAt(state().map, selection, cell.row, cell.column, options);
    else if (!selection.pinned) selection.clear();
  }

  canvas.addEventListener("pointermove", dragOrPoint);
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    dragged = false;
    if (zoom.factor > 1) canvas.setPointerCapture(event.pointerId);
    if (event.pointerType !== "mouse") point(event);
  });
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (dragged || !cell) return;
    const place = placeIn(state().map, selection);
    const again = selection.pinned && place.row === cell.row && place.column === cell.column;
    pointAt(state().map, selection, cell.row, cell.column, { pinned: !again });
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
  canvas.addEventListener("pointerleave", (event) => {
    pointers.delete(event.pointerId);
    if (event.pointerType === "mouse" && !selection.pinned) selection.clear();
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return; // the page scrolls, unless the map was clicked
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoomBy(Math.exp(-clamp(event.deltaY, -120, 120) / 300), { x: event.clientX - box.left, y: event.clientY - box.top });
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => zoomBy(2, { x: event.offsetX, y: event.offsetY }));
  canvas.addEventListener("keydown", travel);
  const unfollow = selection.follow(ask);

  return {
    element,
    canvas,
    redraw,
    ask,
    zoomBy,
    remove() {
      unfollow();
      ask.cancel();
      element.remove();
    },
  };
}

// Where everything stands before it is zoomed: labels lie where there is room and stand upright among longer words.
function planned(context, width, map) {
  const measure = (text, size) => { context.font = `${size}px ${FONT}`; return context.measureText(text).width; };
  const longest = (tokens, room, size) => Math.max(0, ...tokens.map((token) => Math.min(measure(visible(token).slice(0, 64), size), room)));
  const left = Math.ceil(longest(map.queries, width * LONGEST.row, LETTERS.usual)) + 10;
  const available = (width - left - 14) / Math.max(map.columns, 1);
  let letters = LETTERS.usual;
  let widest = longest(map.keys, LONGEST.column, letters);
  const characters = areCharacters(map.keys);
  const plan = { width, left, upright: false, stands: () => false };
  if (widest + 8 <= available) plan.cell = Math.min(available, Math.max(widest + 8, ROOMY));
  else if (characters) {
    const single = map.keys.filter((token) => [...token].length <= 2);
    plan.cell = Math.min(available, 22);
    while (letters > LETTERS.least && longest(single, LONGEST.column, letters) > plan.cell) letters -= 0.5;
    widest = longest(single, LONGEST.column, letters);
    plan.stands = (text) => [...text].length > 2;
  } else {
    plan.cell = Math.min(available, 24);
    plan.upright = true;
    plan.stands = () => true;
  }
  plan.row = Math.min(ROW, HIGHEST / Math.max(map.rows, 1));
  plan.plotWidth = plan.cell * map.columns;
  plan.plotHeight = plan.row * map.rows;
  const standing = map.keys.filter((token) => plan.stands(visible(token)));
  plan.top = Math.ceil(Math.max(LETTERS.usual, longest(standing, LONGEST.column, letters))) + 10;
  plan.height = plan.top + plan.plotHeight + 4 + LEGEND.height;
  Object.assign(plan, { letters, widest, label: labels(left) });
  return plan;
}

// Labels cut to their room; each is measured once.
function labels(left) {
  const kept = { row: [], column: [] };
  const rooms = { row: left - 8, column: LONGEST.column };
  return (context, side, index, tokens) => {
    kept[side][index] ??= fitting(visible(tokens[index]), rooms[side], (text) => context.measureText(text).width);
    return kept[side][index];
  };
}

function* visibleRange(from, size, room, count) {
  for (let at = Math.max(0, Math.floor(from / size)); at < Math.min(count, Math.ceil((from + room) / size)); at += 1) yield at;
}

function writeAbove(context, text, x, y, upright) {
  context.save();
  context.translate(x, y);
  context.textAlign = upright ? "left" : "center";
  context.textBaseline = upright ? "middle" : "alphabetic";
  if (upright) context.rotate(-Math.PI / 2);
  context.fillText(text, 0, 0);
  context.restore();
}
