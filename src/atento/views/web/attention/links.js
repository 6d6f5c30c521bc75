// Links between two lines of text: queries on one, keys on the other, a line for each weight, the wider the more.

import { areCharacters, clamp, cut, FONT, make, onceAFrame, readsLeftward, sized, visible, written } from "./elements.js";
import { strengthOf } from "./colour_scale.js";
import { placeIn, pointAt } from "./selection.js";
import { strongest } from "./weights.js";

const BAND = 190; // height between two lines of text
const MARGIN = 14;
const LINE = 22; // height of a token in a column
const LETTERS = 13;
const HIGHEST = 560; // of two columns, which scroll beyond it
const LONGEST = 24; // characters of a token
const GAPS = { words: 12, characters: 5 };
const WIDEST_LINK = 7;

/**
 * Show the links of the matrix that `state()` gives: { map, matrix, palette, threshold, top, columns, detail }.
 * `columns` puts queries left and keys right, else queries stand above keys.
 */
export function showLinks({ state, selection, label, commands = {} }) {
  const canvas = make("canvas", { tabIndex: 0, role: "application", className: "attention-links-canvas", aria: { roledescription: "links between tokens" } });
  const spacer = make("div", { className: "attention-links-spacer" }, canvas);
  const scroller = make("div", { className: "attention-scroller" }, spacer);
  const element = make("div", { className: "attention-pane attention-links" }, scroller);
  let [plan, links, kept] = [null, [], {}];

  function redraw() {
    const width = element.clientWidth;
    if (!width) return;
    const shown = state();
    const { map, matrix, threshold, top, columns, detail } = shown;
    if (map !== kept.map || width !== kept.width || columns !== kept.columns) {
      plan = (columns ? plannedColumns : plannedLines)(canvas.getContext("2d"), width, map);
      spacer.style.width = `${plan.width}px`;
      spacer.style.height = `${plan.height}px`;
      scroller.style.height = `${Math.min(plan.height, HIGHEST) + (plan.width > width ? 16 : 0)}px`; // room for the scroll bar
    }
    if (matrix !== kept.matrix || threshold !== kept.threshold || top !== kept.top) {
      links = Array.from({ length: map.rows }, (_, row) => strongest(matrix, row, top, threshold)).flat();
      canvas.links = links;
      canvas.setAttribute("aria-label", `${label()}: ${links.length} links`);
    }
    kept = { map, matrix, threshold, top, columns, width };
    draw(shown, detail);
  }

  function draw({ map, palette, matrix }, detail) {
    const [wide, high] = [Math.min(plan.width, scroller.clientWidth || plan.width), Math.min(plan.height, HIGHEST)];
    const context = sized(canvas, wide, high, detail);
    Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
    context.translate(-scroller.scrollLeft, -scroller.scrollTop);
    const place = placeIn(map, selection);
    const chosen = links.filter((link) => concerns(link, place));
    const some = place.row !== null || place.column !== null;
    const rest = some ? [] : links;
    const strength = strengthOf(matrix.largest);
    for (const link of [...rest, ...chosen].sort((one, other) => one.weight - other.weight)) drawLink(context, palette, link, strength(link.weight), some);
    const lit = new Map(chosen.map((link) => [place.row !== null ? link.column : link.row, link.weight]));
    drawTokens(context, palette, "query", map.queries, place.row, place.row === null && some ? lit : null, some);
    drawTokens(context, palette, "key", map.keys, place.column, place.row !== null ? lit : null, some);
    canvas.attention = { plan, left: scroller.scrollLeft, top: scroller.scrollTop };
  }

  // With a query its links, with a key alone the links to it; with both the query's, the key marked.
  function concerns(link, place) {
    if (place.row !== null) return link.row === place.row;
    return place.column !== null && link.column === place.column;
  }

  function drawLink(context, palette, { row, column }, share, alone) {
    context.strokeStyle = `rgba(${palette.link}, ${clamp(alone ? 0.25 + 0.75 * share : 0.08 + 0.8 * share, 0, 1)})`;
    context.lineWidth = Math.max(0.5, share * WIDEST_LINK);
    context.beginPath();
    plan.curve(context, plan.query[row], plan.key[column]);
    context.stroke();
  }

  function drawTokens(context, palette, side, tokens, here, lit, some) {
    context.textBaseline = "middle";
    tokens.forEach((token, index) => {
      const box = plan.box(side, index);
      if (box.x > scroller.scrollLeft + plan.width || box.y > scroller.scrollTop + HIGHEST + LINE || box.y + box.height < scroller.scrollTop - LINE) return;
      const marked = index === here;
      const weight = lit?.get(index);
      context.font = `${marked ? "bold " : ""}${LETTERS}px ${FONT}`;
      context.fillStyle = marked ? palette.mark : !some || weight !== undefined ? palette.text : palette.soft;
      context.textAlign = box.align;
      context.fillText(plan.text(token), box.textX, box.textY);
    });
  }

  function tokenAt(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left + scroller.scrollLeft, event.clientY - box.top + scroller.scrollTop];
    for (const side of ["query", "key"]) {
      const index = plan.nearest(side, x, y);
      if (index !== null) return { side, index };
    }
    return null;
  }

  function point(event, pinned = false) {
    const found = tokenAt(event);
    const { map } = state();
    if (found) pointAt(map, selection, found.side === "query" ? found.index : null, found.side === "key" ? found.index : null, { pinned });
    else if (!selection.pinned || pinned) selection.clear();
  }

  function travel(event) {
    const { map, columns } = state();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const along = columns ? { ArrowUp: -1, ArrowDown: 1 } : plan.leftward ? { ArrowLeft: 1, ArrowRight: -1 } : { ArrowLeft: -1, ArrowRight: 1 };
    const across = columns ? { ArrowLeft: "query", ArrowRight: "key" } : { ArrowUp: "query", ArrowDown: "key" };
    const place = placeIn(map, selection);
    const side = place.row !== null || place.column === null ? "query" : "key";
    const index = (side === "query" ? place.row : place.column) ?? -1;
    const go = (to, at) => {
      const most = (to === "query" ? map.rows : map.columns) - 1;
      const next = clamp(at, 0, most);
      bringIntoView(plan.box(to, next));
      pointAt(map, selection, to === "query" ? next : null, to === "key" ? next : null, { pinned: true });
    };
    if (event.key === "Escape") selection.clear();
    else if (event.key in along) go(side, index < 0 ? 0 : index + along[event.key]);
    else if (event.key in across) go(across[event.key], Math.max(index, 0));
    else if (event.key in commands) commands[event.key]();
    else return;
    event.preventDefault();
  }

  function bringIntoView(box) {
    if (box.x < scroller.scrollLeft) scroller.scrollLeft = box.x - MARGIN;
    if (box.x + box.width > scroller.scrollLeft + scroller.clientWidth) scroller.scrollLeft = box.x + box.width - scroller.clientWidth + MARGIN;
    if (box.y < scroller.scrollTop) scroller.scrollTop = box.y - MARGIN;
    if (box.y + box.height > scroller.scrollTop + HIGHEST) scroller.scrollTop = box.y + box.height - HIGHEST + MARGIN;
  }

  const ask = onceAFrame(redraw);
  canvas.addEventListener("pointermove", (event) => !selection.pinned && point(event));
  canvas.addEventListener("click", (event) => point(event, true));
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && !selection.pinned && selection.clear());
  canvas.addEventListener("keydown", travel);
  scroller.addEventListener("scroll", ask);
  const unfollow = selection.follow(ask);

  return {
    element,
    canvas,
    redraw,
    ask,
    drawing: () => ({ plan, links }),
    remove() {
      unfollow();
      ask.cancel();
      element.remove();
    },
  };
}

// Two lines of text, one above the other; the shorter line is spread so that both are equally long.
function plannedLines(context, room, map) {
  context.font = `bold ${LETTERS}px ${FONT}`;
  const leftward = readsLeftward([...map.keys, ...map.queries]);
  const measured = (tokens) => {
    const gap = areCharacters(tokens) ? GAPS.characters : GAPS.words;
    return { gap, widths: tokens.map((token) => context.measureText(shortened(token)).width) };
  };
  const sides = { query: measured(map.queries), key: measured(map.keys) };
  const length = ({ gap, widths }) => widths.reduce((sum, width) => sum + width + gap, 0);
  const width = Math.max(room, 2 * MARGIN + Math.max(length(sides.query), length(sides.key)));
  const boxes = {};
  for (const [side, { widths }] of Object.entries(sides)) {
    const total = widths.reduce((sum, one) => sum + one, 0);
    const most = areCharacters(side === "query" ? map.queries : map.keys) ? 22 : 48;
    const gap = Math.min((width - 2 * MARGIN - total) / Math.max(widths.length, 1), most);
    let at = (width - total - gap * widths.length) / 2;
    const y = side === "query" ? MARGIN : MARGIN + LINE + BAND;
    boxes[side] = widths.map((wide) => {
      const x = leftward ? width - at - wide - gap : at;
      at += wide + gap;
      return { x, y, width: wide + gap, height: LINE, align: "center", textX: x + (wide + gap) / 2, textY: y + LINE / 2 };
    });
  }
  return {
    width,
    leftward,
    height: 2 * MARGIN + 2 * LINE + BAND,
    text: shortened,
    box: (side, index) => boxes[side][index],
    query: boxes.query.map((box) => ({ x: box.textX, y: box.y + LINE })),
    key: boxes.key.map((box) => ({ x: box.textX, y: box.y })),
    nearest(side, x, y) {
      const line = boxes[side];
      if (!line.length || Math.abs(y - line[0].textY) > LINE) return null;
      const found = line.findIndex((box) => x >= box.x && x < box.x + box.width);
      return found < 0 ? null : found;
    },
    curve(pen, from, to) {
      const middle = (from.y + to.y) / 2;
      pen.moveTo(from.x, from.y);
      pen.bezierCurveTo(from.x, middle, to.x, middle, to.x, to.y);
    },
  };
}

// Two columns of tokens, queries left and keys right.
function plannedColumns(context, room, map) {
  context.font = `bold ${LETTERS}px ${FONT}`;
  const widest = (tokens) => Math.min(Math.max(20, ...tokens.map((token) => context.measureText(shortened(token)).width)), room * 0.34) + 10;
  const [left, right] = [widest(map.queries), widest(map.keys)];
  const width = Math.min(room, left + right + 420);
  const place = (side, index) => {
    const y = MARGIN + index * LINE;
    const x = side === "query" ? 0 : width - right;
    return { x, y, width: side === "query" ? left : right, height: LINE, align: side === "query" ? "right" : "left", textX: side === "query" ? left - 6 : x + 6, textY: y + LINE / 2 };
  };
  return {
    width,
    leftward: false,
    height: 2 * MARGIN + LINE * Math.max(map.rows, map.columns),
    text: shortened,
    box: place,
    query: map.queries.map((_, index) => ({ x: left, y: place("query", index).textY })),
    key: map.keys.map((_, index) => ({ x: width - right, y: place("key", index).textY })),
    nearest(side, x, y) {
      const inside = side === "query" ? x <= left : x >= width - right;
      const index = Math.floor((y - MARGIN) / LINE);
      return inside && index >= 0 && index < (side === "query" ? map.rows : map.columns) ? index : null;
    },
    curve(pen, from, to) {
      const middle = (from.x + to.x) / 2;
      pen.moveTo(from.x, from.y);
      pen.bezierCurveTo(middle, from.y, middle, to.y, to.x, to.y);
    },
  };
}

function shortened(token) {
  return cut(visible(token), LONGEST);
}

/** What a screen reader says of the strongest links of the selected token. */
export function linksInWords(map, matrix, place, { top, threshold }) {
  if (place.row === null) return "";
  const found = strongest(matrix, place.row, Math.min(top, 3), threshold);
  return found.map(({ column, weight }) => `${visible(map.keys[column])} ${written(weight)}`).join(", ");
}
