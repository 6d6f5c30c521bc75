// The attention viewer: rows are output tokens, columns source tokens, darkness is weight.
// One module without dependencies; it styles itself and works in any page, notebook or studio.

const LIGHT = { zero: [238, 241, 244], one: [8, 48, 107], text: "#1c2127", soft: "#5c6670", mark: "#c2410c" };
const DARK = { zero: [38, 43, 50], one: [168, 208, 255], text: "#e7eaee", soft: "#a0a9b3", mark: "#ff9d5c" };
const FONT = "-apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', 'Helvetica Neue', Arial, sans-serif";
const LEGEND = { weights: [0, 0.1, 0.25, 0.5, 1], height: 26, step: 46 };
const ROW = 20; // height of a row
const LETTERS = { usual: 12, least: 8 }; // sizes of labels
const LONGEST = { row: 0.32, column: 96 }; // of the width; in pixels
const FAINT = 0.02; // a weight below this is not shaded in running text
const STRONG = 0.2; // ... and above this the text on it takes the other colour
const PRINT_DETAIL = 3; // dots a pixel on paper

/**
 * Show a model's attention inside an element.
 * weights: [layers][heads][output tokens][source tokens], numbers from 0 to 1.
 * Returns { choose(layer, head), redraw(), remove() }; head "mean" is the mean over heads.
 */
export function showAttention(element, { source, output, weights, label = "Attention", layer, head = "mean", dark }) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = { layer: layer ?? weights.length - 1, head };
  let active = null; // { row, column } under the pointer or the keyboard
  let printing = false;

  const canvas = make("canvas", { tabIndex: 0, role: "img" });
  Object.assign(canvas.style, { display: "block", width: "100%", height: "auto", touchAction: "pan-y", cursor: "crosshair" });
  const readout = make("p", { className: "attention-readout", role: "status" });
  Object.assign(readout.style, { minHeight: "1.5em", margin: "0.4em 0 0" });
  const reading = make("p", { className: "attention-source", dir: "auto" });
  Object.assign(reading.style, { margin: "0.2em 0 0", overflowWrap: "anywhere" });
  const words = source.map((token) => make("span", { textContent: visible(token) }));
  const apart = areCharacters(source) ? "" : " ";
  words.forEach((word) => reading.append(word, apart));
  const controls = makeControls(weights, chosen, redraw);
  element.replaceChildren(...(controls ? [controls] : []), canvas, reading, readout);

  function palette() {
    return !printing && (dark ?? system.matches) ? DARK : LIGHT;
  }

  function redraw() {
    if (!element.clientWidth) return; // hidden: drawn when it comes into view
    const matrix = matrixOf(weights, chosen);
    const plan = planned(canvas.getContext("2d"), element.clientWidth, source, output);
    draw(canvas, plan, { matrix, source, output, active, colours: palette(), detail: printing ? PRINT_DETAIL : devicePixelRatio });
    canvas.attention = plan; // where the cells are, for whoever wants to point at one
    canvas.setAttribute("aria-label", `${label}: ${output.length} output by ${source.length} source tokens`);
    describe(matrix);
  }

  function describe(matrix) {
    const weight = (column) => matrix[active.row]?.[column];
    words.forEach((word, column) => {
      word.style.background = active && weight(column) >= FAINT ? shade(weight(column), palette()) : "";
      word.style.color = active && weight(column) >= FAINT ? (weight(column) > STRONG ? `rgb(${palette().zero})` : palette().text) : "";
      word.style.outline = active?.column === column ? `1px solid ${palette().mark}` : "";
    });
    if (!active) {
      readout.textContent = "";
      return;
    }
    const value = weight(active.column);
    const shown = Number.isFinite(value) ? value.toFixed(3) : "no number";
    const quoted = (token) => make("bdi", { textContent: `“${visible(token)}”` });
    const place = ` (token ${active.column + 1})`;
    readout.replaceChildren(make("strong", { textContent: shown }), " for ", quoted(output[active.row]), " on ", quoted(source[active.column]), place);
  }

  function activate(cell) {
    if (cell?.row === active?.row && cell?.column === active?.column) return;
    active = cell;
    redraw();
  }

  function cellAt(event) {
    const box = canvas.getBoundingClientRect();
    const { left, top, cell, width } = canvas.attention;
    const zoom = width / box.width;
    const column = Math.floor(((event.clientX - box.left) * zoom - left) / cell);
    const row = Math.floor(((event.clientY - box.top) * zoom - top) / ROW);
    if (row < 0 || row >= output.length || column >= source.length || !source.length) return null;
    return { row, column: Math.max(column, 0) }; // a row's label stands for its first cell
  }

  function travel(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "Escape") return activate(null);
    if (!(event.key in steps) || !output.length || !source.length) return;
    event.preventDefault();
    const [down, right] = active ? steps[event.key] : [0, 0];
    const { row, column } = active ?? { row: 0, column: 0 };
    activate({ row: clamp(row + down, output.length), column: clamp(column + right, source.length) });
  }

  const print = (state) => () => { printing = state; redraw(); };
  const [beforePrint, afterPrint] = [print(true), print(false)];
  canvas.addEventListener("pointermove", (event) => activate(cellAt(event)));
  canvas.addEventListener("pointerdown", (event) => activate(cellAt(event)));
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && activate(null));
  canvas.addEventListener("keydown", travel);
  addEventListener("beforeprint", beforePrint);
  addEventListener("afterprint", afterPrint);
  system.addEventListener("change", redraw);
  const observer = new ResizeObserver(() => canvas.attention?.width !== element.clientWidth && redraw());
  observer.observe(element);
  redraw();

  return {
    redraw,
    choose(layer, head = "mean") {
      Object.assign(chosen, { layer, head });
      controls?.show(chosen);
      redraw();
    },
    remove() {
      removeEventListener("beforeprint", beforePrint);
      removeEventListener("afterprint", afterPrint);
      system.removeEventListener("change", redraw);
      observer.disconnect();
      element.replaceChildren();
    },
  };
}

function makeControls(weights, chosen, changed) {
  const layers = weights.length;
  const heads = weights[0]?.length ?? 0;
  const choices = {};
  if (layers > 1) choices.layer = weights.map((_, index) => [index, `layer ${index + 1}`]);
  if (heads > 1) choices.head = [["mean", "mean over heads"], ...weights[0].map((_, index) => [index, `head ${index + 1}`])];
  if (!Object.keys(choices).length) return null;
  const box = make("div", { className: "attention-controls" });
  const selects = Object.entries(choices).map(([name, options]) => {
    const select = make("select", { name, ariaLabel: name });
    select.append(...options.map(([value, textContent]) => make("option", { value, textContent })));
    select.addEventListener("change", () => {
      chosen[name] = select.value === "mean" ? "mean" : Number(select.value);
      changed();
    });
    box.append(select, " ");
    return select;
  });
  box.show = (state) => selects.forEach((select) => { select.value = String(state[select.name]); });
  box.show(chosen);
  return box;
}

function matrixOf(weights, { layer, head }) {
  const heads = weights[layer] ?? [];
  if (head !== "mean") return heads[head] ?? [];
  const mean = (row, column) => heads.reduce((sum, matrix) => sum + (matrix[row][column] ?? NaN), 0) / heads.length;
  return (heads[0] ?? []).map((cells, row) => cells.map((_, column) => mean(row, column)));
}

// Where everything stands: labels lie where there is room, are thinned among characters, and stand upright among words.
function planned(context, width, source, output) {
  const measure = (text, size) => { context.font = `${size}px ${FONT}`; return context.measureText(text).width; };
  const rows = output.map((token) => fitting(visible(token), width * LONGEST.row, (text) => measure(text, LETTERS.usual)));
  const left = Math.ceil(Math.max(0, ...rows.map((text) => measure(text, LETTERS.usual)))) + 10;
  const names = source.map((token) => fitting(visible(token), LONGEST.column, (text) => measure(text, LETTERS.usual)));
  const available = (width - left - 2) / Math.max(source.length, 1);
  const widest = Math.max(0, ...names.map((text) => measure(text, LETTERS.usual)));
  const plan = { width, left, rows, names, letters: LETTERS.usual, every: 1, upright: () => false };
  if (widest + 8 <= available) {
    plan.cell = Math.max(widest + 8, Math.min(available, 30));
  } else if (areCharacters(source)) {
    plan.cell = Math.min(available, 22);
    plan.upright = (text) => [...text].length > 2;
    const widestLying = (size) => Math.max(1, ...names.filter((text) => !plan.upright(text)).map((text) => measure(text, size)));
    while (plan.letters > LETTERS.least && widestLying(plan.letters) > plan.cell) plan.letters -= 0.5;
    plan.every = Math.ceil((widestLying(plan.letters) * 0.75) / plan.cell);
  } else {
    plan.cell = Math.min(available, 24);
    plan.upright = () => true;
    plan.every = Math.ceil(LETTERS.usual / plan.cell);
  }
  const standing = names.filter((text) => plan.upright(text)).map((text) => measure(text, plan.letters));
  plan.top = Math.ceil(Math.max(LETTERS.usual, ...standing)) + 8;
  plan.height = plan.top + output.length * ROW + 2 + LEGEND.height;
  plan.row = ROW;
  return plan;
}

function draw(canvas, plan, { matrix, source, output, active, colours, detail }) {
  canvas.width = Math.max(1, Math.round(plan.width * detail));
  canvas.height = Math.max(1, Math.round(plan.height * detail));
  const context = canvas.getContext("2d");
  context.scale(canvas.width / plan.width, canvas.height / plan.height);
  context.clearRect(0, 0, plan.width, plan.height);
  context.textBaseline = "middle";
  const crack = plan.cell > 5 ? 1 : 0;
  const x = (column) => plan.left + column * plan.cell;
  const y = (row) => plan.top + row * ROW;

  output.forEach((_, row) => {
    const here = active?.row === row;
    context.font = `${here ? "bold " : ""}${LETTERS.usual}px ${FONT}`;
    context.fillStyle = here || !active ? colours.text : colours.soft;
    context.textAlign = "right";
    context.fillText(plan.rows[row], plan.left - 8, y(row) + ROW / 2);
    source.forEach((_, column) => {
      context.fillStyle = shade(matrix[row]?.[column], colours);
      context.fillRect(x(column), y(row), plan.cell - crack + (crack ? 0 : 0.5), ROW - 1);
    });
  });
  drawLegend(context, plan, colours);
  source.forEach((_, column) => {
    const here = active?.column === column;
    const near = active && Math.abs(active.column - column) < plan.every;
    if (near && !here && plan.every > 1) return; // room for the label under the pointer
    if (!here && column % plan.every) return;
    context.font = `${here ? "bold " : ""}${plan.letters}px ${FONT}`;
    context.fillStyle = here ? colours.mark : colours.soft;
    writeAbove(context, plan.names[column], x(column) + (plan.cell - crack) / 2, plan.top - 5, plan.upright(plan.names[column]));
  });
  if (active) {
    context.strokeStyle = colours.mark;
    context.lineWidth = 1;
    context.strokeRect(plan.left - 1.5, y(active.row) - 1, source.length * plan.cell + 2, ROW + 1);
    context.lineWidth = 2;
    context.strokeRect(x(active.column) - 1, y(active.row) - 1, plan.cell + 1, ROW + 1);
  }
}

function drawLegend(context, plan, colours) {
  context.font = `${LETTERS.usual - 1}px ${FONT}`;
  context.textAlign = "left";
  const y = plan.height - LEGEND.height + 10;
  LEGEND.weights.forEach((weight, index) => {
    const x = plan.left + index * LEGEND.step;
    context.fillStyle = shade(weight, colours);
    context.fillRect(x, y, 12, 12);
    context.fillStyle = colours.soft;
    context.fillText(String(weight), x + 16, y + 6.5);
  });
}

function writeAbove(context, text, x, y, upright) {
  context.save();
  context.translate(x, y);
  context.textAlign = upright ? "left" : "center";
  if (upright) context.rotate(-Math.PI / 2);
  else context.textBaseline = "alphabetic";
  context.fillText(text, 0, 0);
  context.restore();
}

function shade(weight, { zero, one }) {
  if (!Number.isFinite(weight)) return "transparent";
  const amount = Math.sqrt(Math.min(Math.max(weight, 0), 1)); // the root lets small weights be seen; the legend says so
  return `rgb(${zero.map((from, index) => Math.round(from + (one[index] - from) * amount))})`;
}

function fitting(text, room, measure) {
  if (measure(text) <= room) return text;
  let letters = [...text].slice(0, 200); // longer ones never fit, and measuring them is slow
  while (letters.length > 1 && measure(`${letters.join("")}…`) > room) letters = letters.slice(0, -1);
  return `${letters.join("")}…`;
}

function visible(token) {
  return String(token).trim() === "" ? "␣" : String(token);
}

function areCharacters(tokens) {
  return tokens.filter((token) => [...token].length <= 1).length >= 0.8 * tokens.length;
}

function clamp(place, count) {
  return Math.min(Math.max(place, 0), count - 1);
}

function make(name, { role, ...properties } = {}) {
  const element = Object.assign(document.createElement(name), properties);
  if (role) element.setAttribute("role", role);
  return element;
}
