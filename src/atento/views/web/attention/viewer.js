// One model on one input: which map, layer and head is shown, the open panes, and what is said of the token pointed at.

import { clamp, make, makeButton, makeMenu, onceAFrame, quoted, visible, written } from "./elements.js";
import { showAnswerSteps } from "./answer_steps.js";
import { paletteOf } from "./colour_scale.js";
import { showHeadGrid } from "./head_grid.js";
import { showHeatMap } from "./heat_map.js";
import { linksInWords, showLinks } from "./links.js";
import { regionName, showRegions } from "./regions.js";
import { copy, heatMapSvg, linksSvg, save, savePng } from "./saving.js";
import { placeIn } from "./selection.js";
import { showAttribution, showHierarchy, showShadedText } from "./shaded_text.js";
import { showTable, showVectors } from "./tables.js";
import { csvOf, headName, jsonOf, MEAN, readMap, strongest } from "./weights.js";

const PRINT_DETAIL = 3; // dots a pixel on paper
const FIRST_KINDS = ["cross", "regions", "words"]; // the map shown at first, where a model has one
const LONGEST_COMMAND = 400; // characters of a source that a command repeats

/** The panes, in the order in which they stand; each says when it has something to show. */
export const PANES = {
  answer: { title: "Answer", fits: (view) => view.steps?.length > 0 },
  regions: { title: "Image", fits: (view, map) => view.image && map && isOverImage(map) },
  map: { title: "Map", fits: (view, map) => Boolean(map) },
  heads: { title: "Heads", fits: (view, map) => map && map.layers * map.heads > 1 },
  links: { title: "Links", fits: (view, map) => map && !isOverImage(map) },
  levels: { title: "Levels", fits: (view) => Boolean(levelsOf(view)) },
  text: { title: "Text", fits: (view, map) => map && !isOverImage(map) },
  attribution: { title: "Attribution", fits: (view) => view.attribution?.tokens?.length > 0 },
  vectors: { title: "Queries, keys, values", fits: (view, map) => Boolean(view.vectors?.[map?.name]) },
  table: { title: "Table", fits: (view, map) => Boolean(map) },
};

/** Whether the keys of a map are the regions of an image. */
function isOverImage(map) {
  return map.grid?.length === 2;
}

/** Both levels of a hierarchical model, where a view has them. */
function levelsOf(view) {
  const [words, sentences] = ["words", "sentences"].map((kind) => view.maps.find((map) => map.kind === kind));
  return words && sentences && words.shape[2] === sentences.shape[3] ? { words, sentences } : null;
}

/** Show one view inside an element; `settings` and `selection` are shared with the other views of a gallery. */
export function showView(element, view, { settings, selection, isDark, printing }) {
  const maps = view.maps.map(readMap);
  const chosen = { map: Math.max(0, maps.findIndex(({ kind }) => FIRST_KINDS.includes(kind))), layer: 0, head: MEAN };
  const panes = new Map();
  const controls = make("div", { className: "attention-controls" });
  const stack = make("div", { className: "attention-panes" });
  const readout = make("p", { className: "attention-readout", role: "status", aria: { live: "polite" } });
  const saving = make("details", { className: "attention-saving" }, make("summary", { textContent: "Save or copy" }));
  let detail = null; // of an image that is being saved
  chosen.layer = Math.max(0, (maps[chosen.map]?.layers ?? 1) - 1);
  if (maps[chosen.map]?.heads === 1) chosen.head = 0;
  const printed = make("p", { className: "attention-note attention-printed" }); // what the menus say, on paper
  element.replaceChildren(controls, printed, stack, readout, saving);

  function state() {
    const map = maps[chosen.map];
    const palette = paletteOf(isDark() && !printing());
    return { map, matrix: map?.matrix(chosen.layer, chosen.head), palette, chosen, detail: detail ?? (printing() ? PRINT_DETAIL : devicePixelRatio), ...settings };
  }

  function label() {
    const map = maps[chosen.map];
    return [`${map.name}${view.model ? ` of ${view.model}` : ""}`, headName(map, chosen.layer, chosen.head)].filter(Boolean).join(", ");
  }

  const commands = { "[": () => changeHead(-1), "]": () => changeHead(1), PageUp: () => changeLayer(-1), PageDown: () => changeLayer(1) };
  const shared = { state, selection, label, commands };
  const makers = {
    answer: () => showAnswerSteps({ ...shared, steps: view.steps, said: view.output, finished: view.finished }),
    regions: () => showRegions({ ...shared, image: view.image }),
    map: () => showHeatMap(shared),
    heads: () => showHeadGrid({ ...shared, open: (layer, head) => choose({ layer, head }) }),
    links: () => showLinks(shared),
    levels: () => showHierarchy({ ...shared, ...Object.fromEntries(Object.entries(levelsOf(view)).map(([kind, { name }]) => [kind, maps.find((map) => map.name === name)])) }),
    text: () => showShadedText(shared),
    attribution: () => showAttribution({ ...shared, attribution: view.attribution, image: view.image, grid: maps.find(isOverImage)?.grid }),
    vectors: () => showVectors({ ...shared, vectors: view.vectors }),
    table: () => showTable(shared),
  };

  function changeHead(by) {
    const { heads } = maps[chosen.map];
    if (heads < 2) return;
    const places = [MEAN, ...Array.from({ length: heads }, (_, head) => head)];
    choose({ head: places[clamp(places.indexOf(chosen.head) + by, 0, heads)] });
  }

  function changeLayer(by) {
    choose({ layer: clamp(chosen.layer + by, 0, maps[chosen.map].layers - 1) });
  }

  function choose({ map = chosen.map, layer = chosen.layer, head = chosen.head }) {
    const { layers, heads } = maps[map];
    const moved = map !== chosen.map;
    Object.assign(chosen, { map, layer: moved ? layers - 1 : clamp(layer, 0, layers - 1), head: heads === 1 ? 0 : moved || (head !== MEAN && head >= heads) ? MEAN : head });
    if (!moved) chosen.layer = clamp(layer, 0, layers - 1);
    showControls();
    redraw();
  }

  function showControls() {
    const map = maps[chosen.map];
    const number = (value) => (value === MEAN ? MEAN : Number(value));
    const menus = [];
    if (maps.length === 1) menus.push(make("span", { className: "attention-note", textContent: map.name }));
    else if (maps.length) menus.push(makeMenu("map", maps.map(({ name }, index) => [index, name]), chosen.map, (value) => choose({ map: Number(value) })));
    if (map?.averaged) menus.push(make("span", { className: "attention-note", textContent: `mean over ${map.averaged} heads` }));
    if (map?.layers > 1) menus.push(makeMenu("layer", Array.from({ length: map.layers }, (_, index) => [index, `layer ${index + 1}`]), chosen.layer, (value) => choose({ layer: number(value) })));
    if (map?.heads > 1) menus.push(makeMenu("head", [[MEAN, "mean over heads"], ...Array.from({ length: map.heads }, (_, index) => [index, `head ${index + 1}`])], chosen.head, (value) => choose({ head: number(value) })));
    const focused = controls.contains(document.activeElement) ? document.activeElement.name : null;
    controls.replaceChildren(...menus);
    controls.hidden = !menus.length;
    printed.textContent = map ? label() : "";
    if (focused) controls.querySelector(`[name="${focused}"]`)?.focus();
  }

  function redraw() {
    const map = maps[chosen.map];
    for (const [name, { fits }] of Object.entries(PANES)) {
      const open = settings.panes.has(name) && fits(view, map);
      if (open && !panes.has(name)) {
        panes.set(name, makers[name]());
        const later = Object.keys(PANES).slice(Object.keys(PANES).indexOf(name) + 1).map((next) => panes.get(next)?.element).find(Boolean);
        stack.insertBefore(panes.get(name).element, later ?? null);
      } else if (!open && panes.has(name)) {
        panes.get(name).remove();
        panes.delete(name);
      }
    }
    panes.forEach((pane) => pane.redraw());
    showSaving();
    describe();
  }

  function describe() {
    const map = maps[chosen.map];
    if (!map) return;
    const { row, column } = placeIn(map, selection);
    const matrix = map.matrix(chosen.layer, chosen.head);
    const token = (tokens, index) => [quoted(tokens[index]), ` (token ${index + 1})`];
    delete readout.dataset.weight;
    if (row !== null && column !== null) {
      const weight = matrix.at(row, column);
      readout.dataset.weight = String(weight);
      const where = isOverImage(map) ? [` on ${regionName(map, column)}`] : [" on ", ...token(map.keys, column)];
      readout.replaceChildren(make("strong", { textContent: written(weight) }), " for ", ...token(map.queries, row), ...where);
    } else if (row !== null) {
      readout.replaceChildren(...token(map.queries, row), `: ${linksInWords(map, matrix, { row }, { top: 3, threshold: 0 })}`);
    } else if (column !== null) {
      readout.replaceChildren(...token(map.keys, column), `: looked at most by ${mostOf(map, matrix, column)}`);
    } else readout.replaceChildren();
  }

  function mostOf(map, matrix, column) {
    const rows = map.queries.map((_, row) => ({ row, weight: matrix.at(row, column) })).filter(({ weight }) => weight > 0);
    const found = rows.sort((one, other) => other.weight - one.weight).slice(0, 3);
    return found.map(({ row, weight }) => `${visible(map.queries[row])} ${written(weight)}`).join(", ") || "no query";
  }

  function fileName(ending) {
    const parts = [view.model || "model", maps[chosen.map].name, headName(maps[chosen.map], chosen.layer, chosen.head)];
    return `${parts.filter(Boolean).join("-").replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase()}.${ending}`;
  }

  function showSaving() {
    const map = maps[chosen.map];
    saving.hidden = !map;
    if (!map) return;
    const drawn = ["map", "links", "regions"].filter((name) => panes.has(name));
    if (saving.dataset.drawn === drawn.join()) return;
    saving.dataset.drawn = drawn.join();
    const pictures = drawn.flatMap((name) => {
      const what = PANES[name].title.toLowerCase();
      const png = makeButton(`${what} as PNG`, () => savePng(fileName("png"), panes.get(name), redrawIn(name), state().palette.paper));
      if (name === "regions") return [png];
      return [png, makeButton(`${what} as SVG`, () => save(fileName("svg"), svgOf(name), "image/svg+xml"))];
    });
    const matrix = () => maps[chosen.map].matrix(chosen.layer, chosen.head);
    const csv = () => csvOf(maps[chosen.map], matrix());
    const numbers = [
      makeButton("numbers as CSV", () => save(fileName("csv"), csv(), "text/csv")),
      makeButton("numbers as JSON", () => save(fileName("json"), jsonOf(view, maps[chosen.map], matrix(), chosen), "application/json")),
      makeButton("copy CSV", (event) => copied(event.target, csv())),
      makeButton("copy command", (event) => copied(event.target, commandOf(view))),
      makeButton("copy Python", (event) => copied(event.target, pythonOf(view))),
    ];
    saving.replaceChildren(saving.firstChild, make("div", { className: "attention-tools" }, ...pictures, ...numbers));
  }

  function redrawIn(name) {
    return (wanted) => {
      detail = wanted;
      panes.get(name).redraw();
    };
  }

  function svgOf(name) {
    const pane = panes.get(name);
    if (name === "links") return linksSvg(state(), pane.drawing(), label());
    const { canvas } = pane;
    const { zoom, cell, row, ...plan } = canvas.attention;
    return heatMapSvg(state(), { ...plan, cell: cell / zoom, row: row / zoom }, canvas.getContext("2d"), label());
  }

  async function copied(button, content) {
    const name = button.textContent;
    await copy(content);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = name; }, 1500);
  }

  const ask = onceAFrame(describe);
  const unfollow = selection.follow(ask);
  showControls();
  redraw();
  return {
    view,
    maps,
    redraw,
    choose,
    chosen,
    panes,
    strongest: (row, most) => strongest(state().matrix, row, most, 0),
    remove() {
      unfollow();
      ask.cancel();
      panes.forEach((pane) => pane.remove());
      element.replaceChildren();
    },
  };
}

/** The command that writes this view as a page. */
export function commandOf(view) {
  return `atento look ${view.run ? shellQuoted(view.run) : "RUN"} ${shellQuoted(view.source)} --out attention.html`;
}

/** The Python line that does the same. */
export function pythonOf(view) {
  return `atento.load(${JSON.stringify(view.run || "RUN")}).explain(${JSON.stringify(shortSource(view.source))}).save("attention.html")`;
}

function shortSource(source) {
  return source.length <= LONGEST_COMMAND ? source : `${source.slice(0, LONGEST_COMMAND)}…`;
}

function shellQuoted(source) {
  return `'${shortSource(source).replaceAll("'", `'\\''`)}'`;
}
