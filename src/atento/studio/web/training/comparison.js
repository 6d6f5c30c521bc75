// A comparison while it runs: the curves of all its models in one chart, and how far each is.

import { poll } from "../api.js";
import { keepingFocus, make, problemCard, progressBar, said } from "../elements.js";
import { placeOf } from "../places.js";
import { runLinks } from "../run_links.js";
import { sameDrawer } from "../same.js";
import { learningCurves } from "./curves.js";
import { makeHistory } from "./history.js";
import { stateChip } from "./states.js";

export function showComparison(box, first, { params, api, words, go, controlsOf }) {
  const { id } = params;
  const head = make("div"), troubles = make("div"), list = make("ul", { className: "rows children" });
  const curves = learningCurves(words), drawer = sameDrawer(first.same, words);
  const children = new Map(); // by ID: { history, next, state }
  const isSearch = first.kind === "search"; // of `atento tune`: it has no board
  let run = first, demanded = null, shown = "";
  box.append(head, troubles, list, curves.element, drawer);

  function drawHead() {
    const now = `${run.state} ${demanded}`;
    if (now === shown) return;
    shown = now;
    keepingFocus(head, () => head.replaceChildren(
      make("p", { className: "kicker" }, make("a", { href: placeOf(), textContent: words("start.title") })),
      make("h1", { className: "watch-title" }, make("bdi", { textContent: run.id }), " ", stateChip(run.state, words)),
      make("p", { className: "more", dir: "auto", textContent: [words(isSearch ? "start.kind_search" : "start.kind_comparison"), run.task, run.data].filter(Boolean).join(" · ") }),
      ...(run.state === "finished" && !isSearch ? [runLinks(run, words, "watch"), make("p", { className: "actions" }, make("a", { className: "button primary", href: placeOf("runs", id, "board"), textContent: words("compare.to_board") }))] : []),
      controlsOf(run, { words, demanded, demand, go }),
      ...(run.failure && run.state !== "running" && run.state !== "finished" ? [make("div", { className: "card problem", role: "alert" }, make("strong", { textContent: words("watch.failed") }), said(run.failure, "pre", { className: "command" }))] : [])));
  }

  function draw() {
    drawHead();
    const waiting = run.state === "running" ? (run.planned ?? []).filter((name) => !children.has(`${id}/${name}`)) : [];
    keepingFocus(list, () => list.replaceChildren(...[...children].map(([child, own]) => rowOf(child, own)), ...waiting.map((name) => make("li", { className: "run" },
      make("div", { className: "run-name" }, make("bdi", { textContent: name })), make("div", { className: "run-state" }, stateChip("waiting", words))))));
    curves.update([...children].map(([child, { history }], at) => ({ name: nameOf(child, id), colour: at, history })));
  }

  function rowOf(child, { history, state, tested }) {
    const name = nameOf(child, id);
    return make("li", { className: "run" },
      make("div", { className: "run-name" }, make("a", { href: placeOf("runs", child), data: { at: child } }, make("bdi", { textContent: name }))),
      make("div", { className: "run-state" }, scoreOf(history, tested, words), state === "running" ? progressBar(history.finished ? 1 : history.last.progress, `${words("watch.share")} ${name}`) : null, stateChip(state, words)));
  }

  async function demand(what) {
    demanded = what;
    draw();
    try {
      await api.post(api.run(id, what));
      if (what === "resume") children.clear();
    } catch (error) {
      demanded = null;
      troubles.replaceChildren(problemCard(error, words));
      draw();
    }
  }

  async function look(child, signal) {
    if (!children.has(child)) children.set(child, { history: makeHistory(), next: 0, state: "running", tested: null });
    const own = children.get(child);
    if (own.tested) return;
    const { events, from, next, state } = await api.get(`${api.run(child, "events")}?after=${own.next}`, { signal });
    if (from < own.next || own.history.goesBack(events)) {
      own.history.clear();
      own.next = 0;
      return;
    }
    own.history.add(events);
    Object.assign(own, { next, state });
    if (state === "finished") own.tested = (await api.get(api.run(child), { signal })).metrics;
  }

  draw();
  return poll(async (signal) => {
    const found = await api.get(api.run(id), { signal });
    await Promise.all(found.children.map((child) => look(child, signal)));
    return found;
  }, (found) => {
    if (found.state !== run.state) demanded = null;
    run = found;
    drawer.update(run.same);
    draw();
    return run.state !== "finished";
  }, (error) => troubles.replaceChildren(problemCard(error, words)), 1500);
}

function nameOf(child, id) {
  return child.startsWith(`${id}/`) ? child.slice(id.length + 1) : child;
}

function scoreOf(history, tested, words) {
  const newest = history.validations.at(-1)?.metrics ?? {}, metric = tested?.metric ?? Object.keys(newest)[0];
  if (!metric) return null;
  const name = words(tested ? "compare.on_test" : "watch.axis_metric", { metric });
  return make("span", { className: "score" }, `${name} `, make("strong", { textContent: words.score(tested ? tested.scores[metric]?.[0] : newest[metric]) }));
}
