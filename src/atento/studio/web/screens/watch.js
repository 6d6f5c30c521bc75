// A run while it learns and when it is done. Everything is rebuilt from its events, so a reload loses nothing.

import { poll } from "../api.js";
import { button, keepingFocus, make, problemCard, said } from "../elements.js";
import { placeOf } from "../places.js";
import { runLinks } from "../run_links.js";
import { sameDrawer } from "../same.js";
import { showComparison } from "../training/comparison.js";
import { learningCurves } from "../training/curves.js";
import { gradientStrip } from "../training/gradient_strip.js";
import { makeHistory } from "../training/history.js";
import { liveFacts } from "../training/live_facts.js";
import { resultOf } from "../training/result.js";
import { samplesPanel } from "../training/samples.js";
import { stateChip } from "../training/states.js";

const DEMANDS = { pause: "watch.pausing", resume: "watch.resuming", finish: "watch.finishing" };
const STOPPED = new Set(["can be resumed", "failed"]);
const QUIET = 3; // polls between two looks at a run that does not run

export const path = "/runs/:id";
export const title = (words) => words("watch.title");

export async function show(box, tools) {
  const run = await tools.api.get(tools.api.run(tools.params.id));
  return run.kind === "run" ? showRun(box, run, tools) : showComparison(box, run, { ...tools, controlsOf });
}

function showRun(box, first, { params, api, words, go }) {
  const { id } = params;
  const history = makeHistory();
  const head = make("div"), troubles = make("div"), result = make("div"), notes = make("div"), drawer = sameDrawer(first.same, words);
  const facts = liveFacts(words), strip = gradientStrip(words), samples = samplesPanel(words);
  let run = first, next = 0, demanded = null, turns = 0;
  const curves = learningCurves(words, { metric: () => run.metrics?.metric });
  box.append(head, troubles, result, facts.element, curves.element, samples.element, strip.element, notes, drawer);

  function drawRun() { // what changes with the state alone
    drawHead();
    result.replaceChildren(...resultOf(run, words));
    notes.replaceChildren(notesOf(run, words));
    drawer.update(run.same);
    drawHistory();
  }

  function drawHead() {
    keepingFocus(head, () => head.replaceChildren(...header(run, { words, demanded, demand, go })));
  }

  function drawHistory() {
    const share = history.last.progress;
    document.title = [run.state === "running" && Number.isFinite(share) ? words.percent(Math.min(share, 1)) : null, id, words("app.name")].filter(Boolean).join(" · ");
    facts.update(history, run.state);
    curves.update([{ name: run.model || id, colour: 0, history }]);
    strip.update(history.gradients);
    samples.update(history.validations);
  }

  async function demand(what) {
    demanded = what;
    troubles.replaceChildren();
    drawHead();
    try {
      await api.post(api.run(id, what));
    } catch (error) {
      demanded = null;
      troubles.replaceChildren(problemCard(error, words));
      drawHead();
    }
  }

  const events = (after, signal) => api.get(`${api.run(id, "events")}?after=${after}`, { signal });

  async function rebuild() { // a run that goes on takes back what came after its last checkpoint
    const all = await events(0);
    history.clear();
    history.add(all.events);
    next = all.next;
  }

  async function told(answer) {
    turns += 1;
    if (!answer) return;
    const { events: some, from, next: end, state } = answer;
    const wentOn = state !== run.state && STOPPED.has(run.state);
    const news = some.length > 0 || turns === 1;
    if (wentOn || from < next || history.goesBack(some)) await rebuild();
    else {
      next = end;
      history.add(some);
    }
    if (state !== run.state || (state === "finished" && !run.metrics)) {
      run = await api.get(api.run(id));
      demanded = null;
      drawRun();
    } else if (news) drawHistory();
  }

  const ask = (signal) => (run.state !== "running" && !demanded && turns % QUIET ? null : events(next, signal));
  drawRun();
  const stop = poll(ask, told, (error) => troubles.replaceChildren(problemCard(error, words)));
  return () => {
    stop();
    strip.stop();
  };
}

function header(run, tools) {
  const { words } = tools;
  return [
    make("p", { className: "kicker" }, make("a", { href: placeOf(), textContent: words("start.title") })),
    make("h1", { className: "watch-title" }, make("bdi", { textContent: run.id }), " ", stateChip(run.state, words)),
    make("p", { className: "more", dir: "auto", textContent: [run.model, run.task, run.data].filter(Boolean).join(" · ") }),
    run.state === "finished" ? runLinks(run, words, "watch") : null,
    controlsOf(run, tools),
    run.failure && run.state !== "running" && run.state !== "finished" ? make("div", { className: "card problem", role: "alert" }, make("strong", { textContent: words("watch.failed") }), said(run.failure, "pre", { className: "command" })) : null,
  ].filter(Boolean);
}

/** The buttons that fit a run's state. */
function controlsOf(run, { words, demanded, demand, go }) {
  const act = (what, key, kind = "") => button(words(demanded === what ? DEMANDS[what] : key), () => demand(what), { kind, disabled: Boolean(demanded), data: { act: what, at: what } });
  const isRun = run.kind === "run";
  const fixes = isRun && run.state === "failed" ? fixesIn(run.failure) : [];
  const buttons = [
    ...(run.state === "running" ? [act("pause", "watch.pause"), act("finish", "watch.finish")] : []),
    ...(fixes.length ? [button(words("watch.fork_fixed", { settings: fixes.join(", ") }), () => go(placeOf("train", run.data, { from: run.id, set: fixes })), { kind: "primary", data: { at: "fix" } })] : []),
    ...(STOPPED.has(run.state) ? [act("resume", "watch.resume", fixes.length ? "" : "primary")] : []),
    ...(isRun && run.data && run.state !== "damaged" ? [button(words("watch.fork"), () => go(placeOf("train", run.data, { from: run.id })), { data: { act: "fork", at: "fork" } })] : []),
  ];
  return make("div", { className: "actions" }, buttons, run.state === "can be resumed" && run.resume_command ? make("code", { className: "note", textContent: run.resume_command }) : null);
}

/** The settings that the fix of a failure names: "fix:   --set train.lr=0.001" is ["train.lr=0.001"]. */
function fixesIn(failure) {
  const [, fix = ""] = (failure ?? "").split(/^\s*fix:/m);
  return [...fix.matchAll(/--set ([\w.]+=[^\s,]+)/g)].slice(0, 1).map(([, setting]) => setting);
}

function notesOf(run, words) {
  if (!run.notes?.length) return "";
  return make("details", { className: "fold" }, make("summary", { textContent: words("inspect.guessed") }), make("ul", { className: "notes" }, run.notes.map((note) => said(note, "li"))));
}
