// Set up a training or a comparison: model, time, seed, and any key of the recipe. A fork begins with the values of a run.

import { button, make, problemCard, said } from "../elements.js";
import { placeOf } from "../places.js";
import { sameDrawer } from "../same.js";
import { recipeTable } from "../training/recipe_table.js";
import { asked, typed } from "../training/settings.js";

const BUDGETS = [["30s", "train.budget_30s"], ["2m", "train.budget_2m"], ["5m", "train.budget_5m"], ["", "train.budget_recipe"]];
const FORM_KEYS = new Set(["task", "data.train", "model.name", "train.budget", "train.seed"]); // those with a field of their own
const BY_USER = "set by the user"; // the reason of a value that was typed; all others follow from these
const PAUSE = 250; // milliseconds after the last change until the recipe is asked for
const CARDS = 9; // models with a card; any other name can be typed

export const path = "/train/:file";
export const title = (words) => words("train.title");

export async function show(box, { params, query, api, words, go }) {
  const { file } = params, { task, settings } = asked(query), from = query.get("from"), compares = query.get("families") === "yes";
  const base = from ? await api.get(api.run(from)) : null;
  const wanted = {
    file, task: base?.task ?? task, model: base?.model ?? "auto", budget: base ? budgetOf(base) : "2m", seed: Number(base?.values?.["train.seed"] ?? 0),
    settings: base ? { ...forked(base), ...settings } : settings, models: [], seeds: 1, start_from: null,
  };
  const troubles = make("div"), recipe = make("div"), drawer = sameDrawer(null, words);
  const table = recipeTable({ words, base: base?.values ?? null, hidden: FORM_KEYS, changed: setKey });
  const starter = button(words(compares ? "train.start_compare" : "train.start"), begin, { kind: "primary big" });
  let turn = 0, timer = 0;

  function setKey(key, value) {
    if (value === null) delete wanted.settings[key];
    else wanted.settings[key] = value;
    refresh();
  }

  function change(values) {
    Object.assign(wanted, values);
    clearTimeout(timer);
    timer = setTimeout(refresh, PAUSE);
  }

  async function refresh() {
    const mine = (turn += 1);
    try {
      const found = await api.ask("/api/recipe", requestOf(wanted, wanted.model));
      if (mine !== turn) return;
      troubles.replaceChildren();
      table.update(found, wanted.settings);
      drawer.update(compares ? null : found.same);
    } catch (error) {
      if (mine === turn) troubles.replaceChildren(problemCard(error, words));
    }
  }

  async function begin() {
    starter.disabled = true;
    starter.textContent = words("train.starting");
    try {
      const { id } = compares
        ? await api.post("/api/compare", { file, task: wanted.task, models: wanted.models, settings: wanted.settings, budget: wanted.budget || null, seeds: wanted.seeds })
        : await api.post("/api/train", { ...requestOf(wanted, wanted.model), start_from: wanted.start_from });
      go(placeOf("runs", id));
    } catch (error) {
      troubles.replaceChildren(problemCard(error, words));
      troubles.scrollIntoView({ block: "nearest" });
      starter.disabled = false;
      starter.textContent = words(compares ? "train.start_compare" : "train.start");
    }
  }

  const filePlace = placeOf("data", file, { task: task === "auto" ? null : task, set: query.getAll("set") });
  let found;
  try {
    found = await firstRecipe(api, wanted);
  } catch (error) {
    box.append(make("h1", { dir: "auto", textContent: file }), problemCard(error, words), ...wayOut(error, { file, query, filePlace, words, go }));
    return undefined;
  }
  if (wanted.task === "auto") wanted.task = found.values.task.value;
  const { models } = await api.get(`/api/models?task=${encodeURIComponent(wanted.task)}`);
  box.append(
    make("p", { className: "kicker" }, make("a", { href: filePlace, dir: "auto", textContent: file })),
    make("h1", { textContent: words(from ? "train.fork_heading" : compares ? "train.compare_heading" : "train.heading") }),
    from ? make("p", { className: "more" }, ...words.parts("train.fork_lead", { run: make("a", { href: placeOf("runs", from), dir: "auto", textContent: from }) })) : "",
    make("form", { className: "set-up" },
      compares ? modelBoxes(models, words, change) : modelCards(models, wanted.model, words, change),
      budgetField(wanted.budget, words, change),
      make("div", { className: "fields" }, compares ? numberField(words("train.seeds"), 1, 1, (seeds) => change({ seeds })) : numberField(words("train.seed"), wanted.seed, 0, (seed) => change({ seed }))),
      from ? weightsBox(words, base.state === "finished", (checked) => change({ start_from: checked ? from : null })) : null),
    troubles, make("div", { className: "actions" }, starter), recipe, drawer);
  box.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    begin();
  });
  recipe.append(table.element);
  table.update(found, wanted.settings);
  drawer.update(compares ? null : found.same);
  if (found.refused) troubles.replaceChildren(problemCard(found.refused, words));
  return () => clearTimeout(timer);
}

/** What helps where the file cannot be used as it is: the settings that the error carries, and the page of the file. */
function wayOut(error, { file, query, filePlace, words, go }) {
  const added = Object.entries(error.settings ?? {}).map(([key, value]) => `${key}=${value}`);
  const mended = placeOf("train", file, { ...Object.fromEntries(query), set: [...query.getAll("set"), ...added] });
  return [make("div", { className: "actions" },
    added.length ? button(words("inspect.mend"), () => go(mended), { kind: "primary" }) : null,
    added.length ? make("code", { className: "note", textContent: added.join(", ") }) : null,
    make("a", { href: filePlace, textContent: words("train.back_to_file") }))];
}

/** The recipe, or where the settings are refused the one without them, so that they can be mended here. */
async function firstRecipe(api, wanted) {
  try {
    return await api.ask("/api/recipe", requestOf(wanted, wanted.model));
  } catch (refused) {
    if (!Object.keys(wanted.settings).length && wanted.model === "auto") throw refused;
    return { ...(await api.ask("/api/recipe", requestOf({ ...wanted, settings: {} }, "auto"))), refused };
  }
}

function requestOf({ file, task, settings, budget, seed }, model) {
  return { file, task, model: model || "auto", settings, budget: budget || null, seed };
}

function budgetOf(base) {
  const seconds = Number(base.values?.["train.budget"] ?? 0);
  return seconds ? `${seconds}s` : "";
}

function forked(base) {
  const own = Object.entries(base.recipe).filter(([key]) => base.why[key] === BY_USER && !FORM_KEYS.has(key));
  return Object.fromEntries(own.map(([key, value]) => [key, typed(value)]));
}

function modelCards(models, chosen, words, change) {
  const cards = [{ name: "auto", summary: words("train.model_auto") }, ...models.filter(({ name }) => name !== "auto").slice(0, CARDS)];
  const isOwn = !cards.some(({ name }) => name === chosen);
  const own = make("input", { type: "text", name: "own-model", value: isOwn ? chosen : "", placeholder: "lstm+additive", spellcheck: false, ariaLabel: words("train.model_own") });
  const names = make("datalist", { id: "model-names" }, models.map(({ name }) => make("option", { value: name })));
  own.setAttribute("list", "model-names");
  const radio = (value, checked) => {
    const made = make("input", { type: "radio", name: "model", value, checked });
    made.addEventListener("change", () => change({ model: value || own.value }));
    return made;
  };
  const last = radio("", isOwn);
  own.addEventListener("input", () => {
    last.checked = true;
    change({ model: own.value });
  });
  return make("fieldset", {}, make("legend", { textContent: words("train.model") }),
    make("div", { className: "choices-grid" }, cards.map(({ name, summary }) => make("label", { className: "card choice" }, radio(name, name === chosen), make("span", {}, make("strong", { textContent: name }), name === "auto" ? make("span", { className: "note", textContent: summary }) : said(summary, "span", { className: "note" })))),
      make("label", { className: "card choice" }, last, make("span", {}, make("strong", { textContent: words("train.model_own") }), own, names))));
}

function modelBoxes(models, words, change) {
  const boxes = models.slice(0, CARDS).map(({ name, summary }) => ({ name, summary, box: make("input", { type: "checkbox", name: "models", value: name }) }));
  const own = make("input", { type: "text", name: "own-models", placeholder: "lstm+additive,transformer", spellcheck: false, ariaLabel: words("train.models_own") });
  const tell = () => change({ models: [...boxes.filter(({ box }) => box.checked).map(({ name }) => name), ...own.value.split(",").map((name) => name.trim()).filter(Boolean)] });
  [own, ...boxes.map(({ box }) => box)].forEach((input) => input.addEventListener("input", tell));
  return make("fieldset", {}, make("legend", { textContent: words("train.models") }), make("p", { className: "note", textContent: words("train.models_note") }),
    make("div", { className: "choices-grid" }, boxes.map(({ name, summary, box }) => make("label", { className: "card choice" }, box, make("span", {}, make("strong", { textContent: name }), said(summary, "span", { className: "note" })))),
      make("div", { className: "card choice" }, make("label", {}, make("strong", { textContent: words("train.models_own") }), own))));
}

function budgetField(chosen, words, change) {
  const known = BUDGETS.some(([value]) => value === chosen);
  const own = make("input", { type: "text", name: "own-budget", value: known ? "" : chosen, placeholder: "90s, 10m, 1h", size: 9, ariaLabel: words("train.budget_own") });
  const radio = (value, checked) => {
    const made = make("input", { type: "radio", name: "budget", value: value ?? "own", checked });
    made.addEventListener("change", () => change({ budget: value ?? own.value.trim() }));
    return made;
  };
  const last = radio(null, !known);
  own.addEventListener("input", () => {
    last.checked = true;
    change({ budget: own.value.trim() });
  });
  return make("fieldset", {}, make("legend", { textContent: words("train.budget") }),
    make("div", { className: "pills" }, BUDGETS.map(([value, key]) => make("label", { className: "pill" }, radio(value, value === chosen), words(key))),
      make("label", { className: "pill" }, last, words("train.budget_own"), own)));
}

function numberField(name, value, min, changed) {
  const input = make("input", { type: "number", value, min, step: 1, className: "number-input" });
  input.addEventListener("input", () => Number.isInteger(input.valueAsNumber) && changed(input.valueAsNumber));
  return make("label", { className: "field" }, make("span", { textContent: name }), input);
}

function weightsBox(words, ready, changed) {
  const input = make("input", { type: "checkbox", name: "start-from", disabled: !ready });
  input.addEventListener("change", () => changed(input.checked));
  return make("label", { className: "check" }, input, make("span", {}, words("train.start_from"), make("span", { className: "note", textContent: ` ${words(ready ? "train.start_from_note" : "train.start_from_later")}` })));
}
