// The attention viewer of a page, a notebook or the studio: which input, which models, which panes.

import { cut, make, makeButton, makeMenu, written } from "./elements.js";
import { COLOUR_RANGES } from "./colour_scale.js";
import { makeSelection } from "./selection.js";
import { PANES, showView } from "./viewer.js";

const NARROW = 760;
const SIDE_BY_SIDE = { narrow: 2, wide: 4 }; // models shown at first
const MOST_LINKS = [1, 2, 3, 5, 10];
const EVERY = 1e6; // links of a query: all of them
const LONG_SOURCE = 320; // characters, beyond which a source is folded
const KEYS =
  "Point at a token, or use the arrow keys; a click or Enter holds it, Escape lets go. In a map, + and − zoom (the wheel too, after a click), 0 shows all, shift and an arrow move it; " +
  "[ and ] change the head, page up and page down the layer.";

/**
 * Show a gallery, a list of views of the data contract: views of the same input stand side by side.
 * options: { dark: true, false or undefined for the system's choice, panes: names of the panes open at first }.
 * Returns { choose, redraw, remove, views }.
 */
export function showAttention(element, gallery, options = {}) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const selection = makeSelection();
  const settings = { threshold: 0, top: 3, range: undefined, columns: false, panes: new Set(options.panes ?? firstPanes(gallery)) };
  const inputs = groupedByInput(gallery);
  const models = [...new Set(gallery.map(({ model }) => model))];
  const most = matchMedia(`(max-width: ${NARROW}px)`).matches ? SIDE_BY_SIDE.narrow : SIDE_BY_SIDE.wide;
  const shown = new Set(models.slice(0, most));
  const root = make("div", { className: "attention-viewer" });
  if (options.dark !== undefined) root.dataset.theme = options.dark ? "dark" : "light";
  const chooser = makeMenu("example", [], 0, show);
  const facts = make("dl", { className: "attention-facts" });
  const tiles = make("div", { className: "attention-tiles" });
  const toolbar = make("div", { className: "attention-toolbar" });
  let [open, printing] = [[], false];
  chooser.className = "attention-example";
  chooser.append(...optionGroups(inputs));
  root.append(...choices(), facts, toolbar, tiles);
  element.replaceChildren(root);

  const isDark = () => options.dark ?? system.matches;
  const redraw = () => open.forEach((view) => view.redraw());

  function show() {
    open.forEach((view) => view.remove());
    selection.clear();
    const input = inputs[Number(chooser.value) || 0];
    if (!input) return root.replaceChildren(make("p", { textContent: "There is nothing to show." }));
    facts.replaceChildren(...factsOf(input));
    const views = input.views.filter(({ model }) => input.views.length === 1 || shown.has(model));
    tiles.classList.toggle("single", views.length === 1);
    tiles.replaceChildren();
    showToolbar(views);
    open = views.map((view) => {
      const stage = make("div", { className: "attention-stage" });
      const said = make("p", { className: "attention-explanation", textContent: view.explanation ?? "", hidden: !view.explanation });
      tiles.append(make("article", { className: "attention-tile" }, make("h3", { textContent: view.model || "Attention", dir: "auto" }), outcome(view), said, stage));
      return showView(stage, view, { settings, selection, isDark, printing: () => printing });
    });
    if (!views.length) tiles.append(make("p", { textContent: "None of the ticked models has this example." }));
  }

  function choices() {
    const row = make("div", { className: "attention-choices" });
    if (inputs.length > 1) row.append(make("div", { className: "attention-chooser" }, make("label", {}, make("span", { textContent: "Example" }), chooser), makeButton("previous", () => step(-1)), makeButton("next", () => step(1))));
    if (models.length > 1) row.append(modelChoice());
    return row.childElementCount ? [row] : [];
  }

  function step(by) {
    chooser.value = String((Number(chooser.value) + by + inputs.length) % inputs.length);
    show();
  }

  function modelChoice() {
    const boxes = models.map((model) => {
      const tick = make("input", { type: "checkbox", value: model, checked: shown.has(model) });
      tick.addEventListener("change", () => {
        if (tick.checked) shown.add(model);
        else shown.delete(model);
        show();
      });
      return make("label", {}, tick, make("bdi", { textContent: model }));
    });
    return make("fieldset", { className: "attention-models" }, make("legend", { textContent: "Models" }), ...boxes);
  }

  function showToolbar(views) {
    const fits = ([, pane]) => views.some((view) => view.maps.some((map) => pane.fits(view, fitted(map))) || pane.fits(view, undefined));
    const buttons = Object.entries(PANES).filter(fits).map(([name, { title }]) => {
      const button = makeButton(title, () => {
        if (!settings.panes.delete(name)) settings.panes.add(name);
        button.setAttribute("aria-pressed", String(settings.panes.has(name)));
        showOptions();
        redraw();
      });
      button.setAttribute("aria-pressed", String(settings.panes.has(name)));
      return button;
    });
    const looks = make("div", { className: "attention-looks", role: "group", ariaLabel: "what is shown" }, ...buttons);
    const range = makeMenu("colours", Object.entries({ "": "fitting", ...COLOUR_RANGES }), settings.range ?? "", (value) => {
      settings.range = value || undefined;
      redraw();
    });
    const top = makeMenu("links", [...MOST_LINKS.map((count) => [count, `${count} each`]), [EVERY, "all"]], settings.top, (value) => {
      settings.top = Number(value);
      redraw();
    });
    const sides = makeMenu("lines", [["", "one above the other"], ["columns", "side by side"]], settings.columns ? "columns" : "", (value) => {
      settings.columns = Boolean(value);
      redraw();
    });
    const linkOptions = [make("label", {}, "Links ", top), make("label", {}, "Lines ", sides)];
    const keys = make("p", { className: "attention-note", textContent: KEYS });
    const hint = make("details", { className: "attention-hint" }, make("summary", { textContent: "Keys" }), keys);
    const showOptions = () => linkOptions.forEach((option) => { option.hidden = !settings.panes.has("links"); });
    showOptions();
    toolbar.replaceChildren(looks, make("div", { className: "attention-options" }, thresholdSlider(), make("label", {}, "Colours ", range), ...linkOptions), hint);
    toolbar.hidden = !views.some((view) => view.maps.length);
  }

  function thresholdSlider() {
    const value = make("output", { textContent: written(settings.threshold) });
    const slider = make("input", { type: "range", name: "threshold", min: 0, max: 100, step: 1, value: Math.round(100 * Math.sqrt(settings.threshold)), ariaLabel: "threshold" });
    slider.addEventListener("input", () => {
      settings.threshold = (slider.value / 100) ** 2; // fine steps among small weights
      value.textContent = written(settings.threshold);
      slider.setAttribute("aria-valuetext", value.textContent);
      redraw();
    });
    return make("label", {}, "Weights from ", slider, value);
  }

  const print = (state) => () => { printing = state; redraw(); };
  const [beforePrint, afterPrint] = [print(true), print(false)];
  addEventListener("beforeprint", beforePrint);
  addEventListener("afterprint", afterPrint);
  system.addEventListener("change", redraw);
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    redraw();
  });
  observer.observe(root);
  show();

  return {
    redraw,
    selection,
    settings,
    get views() { return open; },
    /** Choose in every open view: { map (a name), layer, head, panes }; layers and heads count from 0. */
    choose({ map, layer, head, panes } = {}) {
      if (panes) {
        settings.panes = new Set(panes);
        showToolbar(open.map(({ view }) => view));
      }
      open.forEach((view) => {
        const index = view.maps.findIndex(({ name }) => name === map);
        if (index >= 0) view.choose({ map: index });
        if (layer !== undefined || head !== undefined) view.choose({ layer, head });
        view.redraw();
      });
    },
    remove() {
      removeEventListener("beforeprint", beforePrint);
      removeEventListener("afterprint", afterPrint);
      system.removeEventListener("change", redraw);
      observer.disconnect();
      open.forEach((view) => view.remove());
      element.replaceChildren();
    },
  };
}

// An image speaks for itself; else a map, and the text it is about.
function firstPanes(gallery) {
  return gallery.some(({ image }) => image) ? ["regions"] : ["levels", "map", "text"];
}

// A stored map with the sizes that panes ask for.
function fitted(map) {
  return { ...map, layers: map.shape[0], heads: map.shape[1] };
}

/** Views of the same input, whatever its tokens, as { kind, source, image, reference, views }. */
function groupedByInput(gallery) {
  const found = new Map();
  for (const view of gallery) {
    const key = [view.kind ?? "", view.image || view.source.replace(/\s+/g, "")].join("\u0001");
    if (!found.has(key)) found.set(key, { kind: view.kind, source: view.source, image: view.image, reference: view.reference, views: [] });
    found.get(key).views.push(view);
  }
  return [...found.values()];
}

function optionGroups(inputs) {
  const options = inputs.map((input, index) => {
    const alone = input.kind === "worst" && input.views.length === 1 ? `${input.views[0].model}: ` : "";
    return [input.kind === "worst", make("option", { value: index, textContent: alone + cut(input.source || input.reference || "an image", 60) })];
  });
  const worst = options.filter(([bad]) => bad).map(([, option]) => option);
  const others = options.filter(([bad]) => !bad).map(([, option]) => option);
  if (!worst.length) return others;
  return [make("optgroup", { label: "Chosen examples" }, ...others), make("optgroup", { label: "Worst examples" }, ...worst)].filter((group) => group.childElementCount);
}

function factsOf({ source, image, reference }) {
  const fact = (name, text) => [make("dt", { textContent: name }), make("dd", { dir: "auto" }, ...folded(text))];
  return [...(image ? [] : fact("Source", source)), ...(reference ? fact("Reference", reference) : [])];
}

// A long text in a few lines, with the rest behind a click.
function folded(text) {
  if (text.length <= LONG_SOURCE) return [text];
  const rest = make("details", { className: "attention-folded" }, make("summary", { textContent: cut(text, LONG_SOURCE) }), make("span", { textContent: text }));
  return [rest];
}

function outcome(view) {
  const known = typeof view.correct === "boolean";
  const line = make("p", { className: "attention-outcome" });
  if (known) line.append(make("span", { className: view.correct ? "right" : "wrong", textContent: view.correct ? "right" : "wrong" }), " ");
  line.append("predicted ", make("bdi", { textContent: view.output || "nothing" }));
  if (known && !view.correct && view.reference) line.append(", should be ", make("bdi", { textContent: view.reference }));
  if (Number.isFinite(view.score)) line.append(make("span", { className: "attention-score", textContent: `log-probability ${view.score.toFixed(2).replace("-", "−")}` }));
  return line;
}
