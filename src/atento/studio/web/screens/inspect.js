// What a file is, what is wrong with it, and how to go on. The task and the settings that mend it stand in the address.

import { Refused } from "../api.js";
import { button, fact, make, problemCard, said } from "../elements.js";
import { placeOf } from "../places.js";
import { sameDrawer } from "../same.js";
import { asked, settingOf } from "../training/settings.js";

const SURE = [[0.85, "inspect.very_sure"], [0.6, "inspect.rather_sure"], [0, "inspect.not_sure"]];
const MOST_BARS = 12; // labels or lengths that are drawn
const MOST_GUESSES = 6; // tasks with a reason, before all others
const PARTS = { train: "inspect.part_train", valid: "inspect.part_valid", test: "inspect.part_test" };

export const path = "/data/:file";
export const title = (words) => words("inspect.title");

export async function show(box, { params, query, api, words, go }) {
  const { file } = params, { task, settings } = asked(query);
  const place = (change) => placeOf("data", file, asQuery({ task, settings, ...change }));
  const waiting = make("p", { className: "note", role: "status", textContent: words("inspect.reading") });
  box.append(make("h1", { dir: "auto", textContent: file }), waiting);
  const tools = { file, task, settings, place, words, go };
  try {
    const found = await api.ask("/api/inspect", { file, task, settings });
    waiting.remove();
    box.append(...inspection(found, tools, await api.get("/api/workspace")));
  } catch (error) {
    waiting.remove();
    box.append(...mended(tools), problemCard(error, words), ...choices(error instanceof Refused ? error.choices ?? [] : [], tools));
  }
}

function asQuery({ task, settings }) {
  return { task: task === "auto" ? null : task, set: Object.entries(settings).map(([key, value]) => `${key}=${value}`) };
}

function inspection(found, tools, { tasks }) {
  const { words } = tools;
  const usable = found.kind === "built-in" || Object.values(found.parts).some((count) => count > 0);
  const offered = found.choices ?? [];
  return [
    sentence(found, words),
    ...mended(tools),
    ...(usable ? [actions(found, tools)] : []),
    ...(offered.length ? choices(offered, tools) : []),
    ...(found.kind === "built-in" ? [] : [problems(found, tools)]),
    ...(found.examples.length ? [examples(found, words)] : []),
    ...(found.columns.length ? [columns(found, words)] : []),
    ...(found.channels.length ? [channels(found, words)] : []),
    ...(found.labels.length || found.lengths.length ? [histograms(found, words)] : []),
    ...(Object.keys(found.parts).length && !found.channels.length ? [parts(found, words)] : []),
    notes(found, words),
    otherTasks(found, tools, tasks),
    sameDrawer(found.same, words),
  ];
}

function sentence(found, words) {
  const guess = found.guesses[found.task];
  const rows = words("inspect.rows", { count: found.rows });
  if (!found.task) return make("p", { className: "verdict" }, `${rows}; `, words("inspect.no_task"));
  const used = Object.keys(found.used_as);
  const how = guess && words(SURE.find(([least]) => guess.likelihood >= least)[1]);
  return make("div", {},
    make("p", { className: "verdict" }, `${rows}; `, ...words.parts(found.kind === "built-in" ? "inspect.is" : "inspect.looks_like", { task: make("em", { className: "task", textContent: found.task }) }),
      ...(used.length ? [": ", ...used.flatMap((name, at) => [at ? " → " : "", make("code", { dir: "auto", textContent: name })])] : []), "."),
    guess ? make("p", { className: "note" }, `${how} (${words.percent(guess.likelihood)}): `, said(guess.reason), ".") : null);
}

function actions(found, { file, task, settings, words, go }) {
  const stops = found.problems.some((problem) => problem.about === "rows" && isNew(problem.settings, settings)); // a training would refuse the file
  const query = asQuery({ task: task === "auto" ? "auto" : found.task, settings });
  return make("div", { className: "actions" },
    button(words("inspect.train_one"), () => go(placeOf("train", file, query)), { kind: stops ? "" : "primary" }),
    button(words("inspect.compare"), () => go(placeOf("train", file, { ...query, families: "yes" }))),
    make("span", { className: stops ? "note wrong" : "note", textContent: words(stops ? "inspect.mend_first" : "inspect.what_next") }));
}

/** Whether a problem has settings that are not given yet. */
function isNew(mend, settings) {
  return Boolean(mend) && Object.entries(mend).some(([key, value]) => String(settings[key]) !== String(value));
}

function mended({ settings, place, words, go }) {
  const entries = Object.entries(settings);
  if (!entries.length) return [];
  return [make("ul", { className: "mended", ariaLabel: words("inspect.mended") }, entries.map(([key, value]) => make("li", {},
    make("span", { className: "right", textContent: `✓ ${words("inspect.mended")} ` }), make("code", { dir: "auto", textContent: `${key} = ${value}` }), " ",
    button(words("inspect.undo"), () => go(place({ settings: Object.fromEntries(entries.filter(([one]) => one !== key)) })), { kind: "small", aria: { label: `${words("inspect.undo")} ${key}` } }))))];
}

function choices(offered, { settings, place, words, go }) {
  if (!offered.length) return [];
  return [make("section", { className: "choices" }, make("h2", { textContent: words("inspect.choose") }),
    make("p", { className: "note", textContent: words("inspect.choose_note") }),
    make("div", { className: "actions" }, offered.map((one) => {
      const added = settingOf(one);
      const text = Object.entries(added).map(([key, value]) => `${key} = ${value}`).join(", ");
      return button(text, () => go(place({ settings: { ...settings, ...added } })), { kind: "code", dir: "auto" });
    })))];
}

function problems(found, { settings, place, task, words, go }) {
  const heading = make("h2", { textContent: words("inspect.wrong") });
  if (!found.problems.length) return make("section", {}, heading, make("p", {}, make("span", { className: "right", textContent: "✓ " }), words("inspect.nothing_wrong")));
  return make("section", {}, heading,
    make("ul", { className: "problems" }, found.problems.map((problem) => {
      const helps = isNew(problem.settings, settings);
      const mend = () => go(place({ settings: { ...settings, ...problem.settings }, task: problem.task && problem.task !== "auto" ? problem.task : task }));
      return make("li", { className: `about-${problem.about}` },
        said(problem.where, "p", { className: "problem-text" }),
        make("p", { className: "fix" }, make("strong", { textContent: `${words("problem.fix")} ` }), said(problem.fix)),
        helps ? make("p", {}, button(words("inspect.mend"), mend, { kind: "small primary" }), " ", make("code", { className: "note", dir: "auto", textContent: Object.entries(problem.settings).map(([key, value]) => `${key} = ${value}`).join(", ") })) : null,
        problem.command && !problem.settings ? make("p", {}, make("code", { className: "note", dir: "auto", textContent: problem.command })) : null);
    })),
    found.more_problems ? make("p", { className: "note", textContent: words("inspect.more_problems", { count: found.more_problems }) }) : null);
}

function examples(found, words) {
  return make("section", {}, make("h2", { textContent: words("inspect.examples") }),
    make("ul", { className: "pairs" }, found.examples.map(([source, target]) => make("li", {}, make("bdi", { textContent: source }), make("span", { className: "arrow", textContent: " → " }), make("bdi", { textContent: target })))));
}

function columns(found, words) {
  const hasRoles = Object.keys(found.used_as).length > 0; // a series has channels instead
  const role = (column) => make("td", { data: { label: words("inspect.used_as") } },
    found.used_as[column.name] ? said(found.used_as[column.name], "span", { className: "role" }) : make("span", { className: "note", textContent: words("inspect.unused") }));
  const row = (column) => make("tr", {},
    make("th", { scope: "row", dir: "auto", textContent: column.name }), hasRoles ? role(column) : null,
    ...cells([["inspect.distinct", words.number(column.distinct)], ["inspect.empty", words.percent(column.share_empty)]], words),
    make("td", { className: "example", dir: "auto", data: { label: words("inspect.example") }, textContent: column.examples?.[0] ?? "" }));
  const heads = ["inspect.column", ...(hasRoles ? ["inspect.used_as"] : []), "inspect.distinct", "inspect.empty", "inspect.example"];
  return table(words("inspect.columns"), heads, found.columns.map(row), words);
}

function channels(found, words) {
  const row = (channel) => make("tr", {}, make("th", { scope: "row", dir: "auto", textContent: channel.name }),
    ...cells([["inspect.mean", words.score(channel.mean)], ["inspect.deviation", words.score(channel.std)], ["inspect.least", words.score(channel.low)], ["inspect.greatest", words.score(channel.high)]], words),
    make("td", { className: "spark", data: { label: words("inspect.course") }, textContent: channel.line }));
  return table(words("inspect.channels"), ["inspect.channel", "inspect.mean", "inspect.deviation", "inspect.least", "inspect.greatest", "inspect.course"], found.channels.map(row), words);
}

const NUMBERS = new Set(["inspect.distinct", "inspect.empty", "inspect.mean", "inspect.deviation", "inspect.least", "inspect.greatest"]); // headings of them

function cells(entries, words) {
  return entries.map(([key, text]) => make("td", { className: "number", data: { label: words(key) }, textContent: text }));
}

function table(heading, heads, rows, words) {
  return make("section", {}, make("h2", { textContent: heading }),
    make("div", { className: "scroll" }, make("table", { className: "stacked" },
      make("thead", {}, make("tr", {}, heads.map((key) => make("th", { scope: "col", className: NUMBERS.has(key) ? "number" : "", textContent: words(key) })))),
      make("tbody", {}, rows))));
}

function histograms(found, words) {
  const drawings = found.lengths.map((one) => histogram(words("inspect.lengths", { of: one.of, unit: one.unit }), one.bins.map((bin) => ({ name: bin.name, ...bin })), words));
  if (found.labels.length) drawings.unshift(histogram(words("inspect.labels", { count: found.distinct_labels }), found.labels.map((one) => ({ name: one.label, ...one })), words));
  return make("section", {}, make("h2", { textContent: words("inspect.distributions") }), make("div", { className: "histograms" }, drawings));
}

function histogram(name, bars, words) {
  const most = Math.max(...bars.map((bar) => bar.count));
  return make("figure", {}, make("figcaption", { textContent: name }),
    make("ul", { className: "bars" }, bars.slice(0, MOST_BARS).map((bar) => {
      const drawn = make("span", { className: "bar-fill" });
      drawn.style.width = `${(100 * bar.count) / most}%`;
      return make("li", {}, make("bdi", { className: "bar-name", title: bar.name, textContent: bar.name }), make("span", { className: "bar-room", aria: { hidden: "true" } }, drawn),
        make("span", { className: "bar-count", textContent: `${words.number(bar.count)} · ${words.percent(bar.share, bar.share < 0.1 ? 1 : 0)}` }));
    })),
    bars.length > MOST_BARS ? make("p", { className: "note", textContent: words("inspect.more_bars", { count: bars.length - MOST_BARS }) }) : null);
}

function parts(found, words) {
  const all = Object.values(found.parts).reduce((sum, count) => sum + count, 0) || 1;
  return make("section", {}, make("h2", { textContent: words("inspect.parts") }),
    make("div", { className: "parts-bar", aria: { hidden: "true" } }, Object.entries(found.parts).map(([part, count]) => {
      const drawn = make("span", { className: `part-${part}` });
      drawn.style.flexGrow = String(count / all);
      return drawn;
    })),
    make("dl", { className: "fact-row" }, Object.entries(found.parts).map(([part, count]) => fact(words(PARTS[part]), `${words.number(count)} · ${words.percent(count / all)}`))));
}

function notes(found, words) {
  const all = [...found.tokens, ...found.notes];
  return make("details", { className: "fold" }, make("summary", { textContent: words("inspect.guessed") }),
    make("ul", { className: "notes" }, all.map((note) => said(note, "li"))));
}

function otherTasks(found, { task, place, words, go }, tasks) {
  if (found.kind === "built-in") return "";
  const guesses = Object.entries(found.guesses);
  const likely = guesses.filter(([, guess], at) => at < MOST_GUESSES && guess.likelihood > 0);
  const summary = (name) => tasks.find((one) => one.name === name)?.summary ?? "";
  const select = make("select", { ariaLabel: words("inspect.task") },
    make("option", { value: "auto", textContent: words("inspect.task_auto") }),
    guesses.map(([name]) => said(`${name}: ${summary(name)}`, "option", { value: name })));
  select.value = task;
  select.addEventListener("change", () => go(place({ task: select.value })));
  return make("details", { className: "fold", open: !found.task }, make("summary", { textContent: words("inspect.other_tasks") }),
    make("label", { className: "field" }, make("span", { textContent: words("inspect.task") }), select),
    make("dl", { className: "guesses" }, likely.map(([name, guess]) => make("div", {}, make("dt", {}, make("span", { className: "task", textContent: name }), ` ${words.percent(guess.likelihood)}`), said(guess.reason, "dd")))));
}
