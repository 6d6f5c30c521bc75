// One forward pass, matrix by matrix: a list of all matrices, and one of them as a shaded table with its numbers.

const place = document.getElementById("steps");
const stored = document.getElementById("steps-data");
if (place && stored) showSteps(place, JSON.parse(stored.textContent).steps);

/** Walk through `steps`: [{ title, formula, shape, rows, columns, matrix, made_of }]. */
function showSteps(element, steps) {
  let at = 0;
  const { list, items } = listOfSteps(steps, (index) => go(index));
  const back = create("button", { type: "button", textContent: "← previous" });
  const next = create("button", { type: "button", textContent: "next →" });
  const count = create("span", { className: "step-count", role: "status" });
  back.addEventListener("click", () => go(at - 1));
  next.addEventListener("click", () => go(at + 1));
  const shown = create("div", { className: "step-matrix", tabIndex: -1 });
  const tools = create("div", { className: "step-tools" }, back, next, count);
  const matrices = create("div", { className: "step-nav", role: "navigation" }, list);
  matrices.setAttribute("aria-label", "all matrices");
  element.replaceChildren(matrices, create("div", { className: "step-main" }, tools, shown));
  element.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, PageUp: -1, ArrowRight: 1, PageDown: 1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(at + by);
  });

  function go(index) {
    at = Math.min(Math.max(index, 0), steps.length - 1);
    items.forEach((button, other) => button.toggleAttribute("aria-current", other === at));
    items[at].scrollIntoView({ block: "nearest" });
    [back.disabled, next.disabled] = [at === 0, at === steps.length - 1];
    count.textContent = `${at + 1} of ${steps.length}: ${steps[at].title}`;
    shown.replaceChildren(...matrixParts(steps, at, go));
  }

  if (steps.length) go(0);
}

/** All matrices by name; those of one attention stand below its name, each with its layer and head alone. */
function listOfSteps(steps, go) {
  const list = create("ol", { className: "step-list" });
  let group = "";
  const items = steps.map((step, index) => {
    const [before, after] = step.title.split(/, (?=layer \d)/);
    if (after && before !== group) list.append(create("li", { className: "step-group", textContent: before }));
    group = after ? before : "";
    const button = create("button", { type: "button", textContent: after ?? step.title });
    button.addEventListener("click", () => go(index));
    const item = create("li", { value: index + 1 }, button);
    list.append(item);
    return button;
  });
  return { list, items };
}

/** Title, formula and shape, the matrices it is made of, and the table. */
function matrixParts(steps, at, go) {
  const step = steps[at];
  const about = create("p", { className: "step-about" }, create("code", { textContent: step.formula }), ` · ${step.shape.join(" × ")}`);
  const earlier = (step.made_of ?? []).map((title) => steps.findLastIndex((other, index) => index < at && other.title === title)).filter((index) => index >= 0);
  const links = earlier.map((index) => {
    const button = create("button", { type: "button", textContent: steps[index].title });
    button.addEventListener("click", () => go(index));
    return button;
  });
  const made = create("p", { className: "step-made" }, links.length ? "made of " : "", ...links.flatMap((link, index) => (index ? [" and ", link] : [link])));
  const hidden = [step.shape[0] - step.rows.length, step.shape.at(-1) - step.columns.length];
  const rest = [[hidden[0], "rows"], [hidden[1], "columns"]].filter(([left]) => left > 0).map(([left, name]) => `${left} more ${name}`);
  return [create("h3", { textContent: step.title }), about, made, matrixTable(step), create("p", { className: "note", textContent: rest.length ? `… ${rest.join(", ")}` : "" })];
}

/** Numbers with a shade each: blue above zero, orange below, relative to the largest of the matrix. */
function matrixTable(step) {
  const largest = Math.max(1e-12, ...step.matrix.flat().map((number) => Math.abs(number)));
  const whole = step.matrix.flat().every(Number.isInteger);
  const head = create("tr", {}, create("td", {}), ...step.columns.map((name) => create("th", { scope: "col" }, create("bdi", { textContent: visibleSign(name) }))));
  const body = step.matrix.map((row, index) => {
    const cells = row.map((number) => {
      const cell = create("td", { className: "number", textContent: Number.isNaN(number) || number === null ? "" : whole ? String(number) : number.toFixed(3) });
      shadeCell(cell, number / largest);
      return cell;
    });
    return create("tr", {}, create("th", { scope: "row" }, create("bdi", { textContent: visibleSign(step.rows[index] ?? "") })), ...cells);
  });
  const table = create("table", {}, create("thead", {}, head), create("tbody", {}, ...body));
  const scroll = create("div", { className: "scroll", tabIndex: 0, role: "region" }, table);
  scroll.setAttribute("aria-label", `${step.title}, ${step.shape.join(" × ")}`);
  return scroll;
}

/** The share of the largest number as the strength of a colour that the style sheet names. */
function shadeCell(cell, share) {
  const strength = Math.round(70 * Math.sqrt(Math.min(Math.abs(share), 1)));
  if (strength) cell.style.backgroundColor = `color-mix(in srgb, var(${share > 0 ? "--step-above" : "--step-below"}) ${strength}%, transparent)`;
}

/** White space as a sign that can be seen. */
function visibleSign(token) {
  return String(token).trim() ? String(token) : "␣";
}

/** An element with properties and children. */
function create(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
