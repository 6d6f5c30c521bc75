// Look inside: one source through the attention viewer, another model beside it, and every other view of the run.

import { button, make, problemCard } from "../elements.js";
import { attentionBox, noteOf } from "../inside/answer.js";
import { framed, viewAddress } from "../inside/frames.js";
import { loading, runHead } from "../inside/run_head.js";
import { quoted } from "../inside/shell.js";
import { newestOnly, sourceField } from "../inside/sources.js";
import { sameDrawer } from "../same.js";

const ATTENTION = "attention";
const WITHOUT_SOURCE = ["schedule", "histograms", "positions", "phase"]; // views of the run as such
const OF_A_WORD = ["embeddings"]; // views that take one word, not a source
const NAMES = {
  attention: "view.attention", attribution: "view.attribution", steps: "view.steps", states: "view.states", model: "view.model",
  positions: "view.positions", gradients: "view.gradients", tokens: "view.tokens", embeddings: "view.embeddings", context: "view.context",
  schedule: "view.schedule", histograms: "view.histograms", forecast: "view.forecast", phase: "view.phase",
};

export const path = "/runs/:id/inside";
export const title = (words) => words("links.inside");

export async function show(box, { params, query, api, words }) {
  const loaded = loading(box, words);
  const [run, examples, { views }, workspace] = await Promise.all([
    api.get(api.run(params.id)), api.get(api.run(params.id, "examples")), api.get(api.run(params.id, "views")), api.get("/api/workspace")]);
  loaded();
  const ask = newestOnly();
  const state = make("p", { className: "note", role: "status" });
  const panel = make("div", { className: "view-panel", role: "tabpanel", tabIndex: 0 });
  const drawer = sameDrawer({}, words);
  const field = sourceField(examples, { words, api, changed: draw, wait: 700 });
  const names = views.some(({ what }) => what === ATTENTION) ? views.map(({ what }) => what) : [ATTENTION, ...views.map(({ what }) => what)];
  const titles = Object.fromEntries(views.map(({ what, title }) => [what, title]));
  let chosen = names.includes(query?.get("view")) ? query.get("view") : names[0];
  let beside = query?.get("with") ?? "";
  let removeViewer = () => {};
  const tabs = tabList(names, (what) => nameOf(what, titles, words), () => chosen, (what) => {
    chosen = what;
    draw();
  }, words("inside.views"));
  const others = await otherRuns(run, workspace.runs, api);
  const besideMenu = menuOfRuns(others, beside, words, (id) => {
    beside = id;
    draw();
  });
  const asked = query?.get("text");
  if (asked) field.set(asked);
  box.append(runHead(run, "inside", words), make("section", { className: "tight" }, field.element), tabs.element, besideMenu, state, panel, drawer);

  async function draw() {
    const source = field.value();
    tabs.redraw();
    panel.setAttribute("aria-label", nameOf(chosen, titles, words));
    besideMenu.hidden = chosen !== ATTENTION || !others.length;
    removeViewer();
    removeViewer = () => {};
    if (chosen !== ATTENTION) {
      const text = WITHOUT_SOURCE.includes(chosen) ? "" : OF_A_WORD.includes(chosen) ? wordIn(source) : source;
      const address = viewAddress(params.id, chosen, text);
      drawer.update({ command: commandOf(run, chosen, text) });
      return showPage(address, nameOf(chosen, titles, words));
    }
    if (!source.trim()) return panel.replaceChildren(make("p", { className: "note", textContent: words("inside.type_something") }));
    state.textContent = words("try.reading");
    const ids = [params.id, ...(beside ? [beside] : [])];
    const found = await ask((signal) => Promise.all(ids.map((id) => api.post(api.run(id, "explain"), { source }, { signal }))));
    if (!found) return;
    state.textContent = "";
    if (found.error) return panel.replaceChildren(problemCard(found.error, words));
    drawer.update(beside ? { command: `${commandOf(run, ATTENTION, source)} --with ${quoted(`runs/${beside}`)}` } : found.answer[0].same);
    showViews(found.answer, source, ids);
  }

  // A page that the server refuses is told in our own words; one that it writes stands in a frame.
  async function showPage(address, name) {
    state.textContent = words("try.reading");
    const found = await ask((signal) => api.get(address, { signal }));
    if (!found) return;
    state.textContent = "";
    panel.replaceChildren(found.error ? problemCard(found.error, words) : framed(address, name));
  }

  function showViews(answers, source, ids) {
    const references = examples.expected?.[source] ?? [];
    const reference = references.join(", ");
    const views = answers.map(({ view }, at) => view && { ...view, model: at && view.model === answers[0].view?.model ? `${view.model} (${ids[at]})` : view.model, reference, ...(reference && run.task !== "forecast" ? { correct: references.includes(view.output) || view.output === reference } : {}) }).filter(Boolean);
    panel.replaceChildren(...answers.map(({ answer, view }) => (view ? "" : make("p", { className: "answer-text", dir: "auto", textContent: answer.text }))), ...answers.map(({ note }) => noteOf(note) ?? ""));
    if (!views.length) return;
    if (!views.some((view) => view.maps.length)) panel.append(make("p", { className: "note", textContent: words("inside.no_attention") }));
    removeViewer = attentionBox(panel, views, views.some((view) => view.maps.length) ? {} : { panes: ["attribution", "answer"] });
  }

  draw();
  return () => {
    field.stop();
    ask.stop();
    removeViewer();
  };
}

function nameOf(what, titles, words) {
  return what in NAMES ? words(NAMES[what]) : titles[what] ?? what;
}

function wordIn(source) {
  return /^[^\s|]{1,40}$/u.test(source) ? source : "";
}

function commandOf(run, what, text) {
  const view = what === ATTENTION ? [] : ["--what", what];
  return ["atento look", quoted(run.folder ?? `runs/${run.id}`), ...(text ? [quoted(text)] : []), ...view, "--out", `${what}.html`].join(" ");
}

function tabList(names, nameOf, current, choose, label) {
  const element = make("div", { className: "tabs view-tabs", role: "tablist", ariaLabel: label });
  const tabs = names.map((what) => button(nameOf(what), () => choose(what), { kind: "tab", role: "tab", data: { what } }));
  element.append(...tabs);
  element.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = Math.min(Math.max(names.indexOf(current()) + step, 0), names.length - 1);
    tabs[at].focus();
    choose(names[at]);
  });
  return {
    element,
    redraw: () => tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", String(names[at] === current()));
      tab.tabIndex = names[at] === current() ? 0 : -1;
    }),
  };
}

// Other finished runs of the same task; of comparisons, their models.
async function otherRuns(run, runs, api) {
  const boards = runs.filter((one) => one.kind === "comparison" && one.task === run.task && one.state === "finished");
  const inside = (await Promise.all(boards.map((one) => api.get(api.run(one.id)).catch(() => ({ children: [] }))))).flatMap(({ children }) => children);
  const alone = runs.filter((one) => one.kind === "run" && one.task === run.task && one.state === "finished").map(({ id }) => id);
  return [...new Set([...alone, ...inside])].filter((id) => id !== run.id);
}

function menuOfRuns(others, chosen, words, changed) {
  const menu = make("select", { name: "beside" }, make("option", { value: "", textContent: words("inside.nobody") }), others.map((id) => make("option", { value: id, textContent: id })));
  menu.value = others.includes(chosen) ? chosen : "";
  menu.addEventListener("change", () => changed(menu.value));
  return make("label", { className: "beside" }, make("span", { textContent: words("inside.beside") }), menu);
}
