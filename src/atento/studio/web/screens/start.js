// Where one begins: a place to drop a file, the files there are, the built-in sets and the runs.

import { poll } from "../api.js";
import { button, keepingFocus, make, problemCard, progressBar, said } from "../elements.js";
import { placeOf } from "../places.js";
import { stateChip } from "../training/states.js";

const EVERY = 2000; // milliseconds between two looks at the folder
const KINDS = { comparison: "start.kind_comparison", search: "start.kind_search" };

export const path = "/";
export const title = (words) => words("start.title");

export async function show(box, { api, words, go }) {
  const troubles = make("div");
  const files = make("section"), builtin = make("section"), runs = make("section");
  const found = await api.get("/api/workspace");
  box.append(make("h1", { textContent: words("start.heading") }), make("p", { className: "more", textContent: words("start.lead") }));
  const drop = dropZone(api, words, go, troubles);
  box.append(drop.element, troubles, runs, files, builtin);
  builtin.append(...builtinCards(found, words));
  const progress = new Map(); // how far each running run is: { next, share }
  let drawn = "";

  async function draw(found) {
    const known = new Set(found.runs.map((run) => run.id)); // models of a comparison are shown on its own page
    const now = { ...found, runs: found.runs.filter(({ id }) => !known.has(id.slice(0, Math.max(0, id.lastIndexOf("/"))))) };
    await Promise.all(now.runs.filter((run) => run.state === "running" && run.kind === "run").map((run) => look(run.id)));
    const lists = JSON.stringify([now.files, now.runs, [...progress]]);
    if (lists === drawn) return;
    drawn = lists;
    keepingFocus(box, () => {
      runs.replaceChildren(...runList(now.runs, progress, { api, words, troubles, go }));
      files.replaceChildren(...fileList(now.files, words));
    });
  }

  async function look(id) {
    const known = progress.get(id) ?? { next: 0, share: null };
    const { events, next } = await api.get(`${api.run(id, "events")}?after=${known.next}`);
    const share = events.findLast((event) => Number.isFinite(event.progress))?.progress ?? known.share;
    progress.set(id, { next, share });
  }

  await draw(found);
  const stop = poll((signal) => api.get("/api/workspace", { signal }), draw, (error) => troubles.replaceChildren(problemCard(error, words)), EVERY);
  return () => {
    stop();
    drop.stop();
  };
}

// A file may be dropped anywhere on the page; the zone shows it. Two files at once are a text and its translation.
function dropZone(api, words, go, troubles) {
  const input = make("input", { type: "file", multiple: true, hidden: true });
  const state = make("p", { className: "note", role: "status" });
  const zone = make("div", { className: "drop" },
    make("p", { className: "drop-text", textContent: words("start.drop") }),
    button(words("start.choose"), () => input.click(), { kind: "primary" }), input,
    make("p", { className: "note", textContent: words("start.formats") }), state);
  const listening = new AbortController();

  async function take(list) {
    if (!list.length) return;
    troubles.replaceChildren();
    try {
      const names = [];
      for (const file of list) {
        state.textContent = words("start.copying", { file: file.name });
        names.push((await api.upload(`/api/files?name=${encodeURIComponent(file.name)}`, file)).name);
      }
      go(placeOf("data", names.length === 2 ? names.join(",") : names[0]));
    } catch (error) {
      state.textContent = "";
      troubles.replaceChildren(problemCard(error, words));
    }
  }

  const listen = (name, act) => document.addEventListener(name, (event) => {
    event.preventDefault();
    act(event);
  }, { signal: listening.signal });
  input.addEventListener("change", () => take([...input.files]));
  listen("dragover", () => zone.classList.add("over"));
  listen("dragleave", (event) => event.relatedTarget === null && zone.classList.remove("over"));
  listen("drop", (event) => {
    zone.classList.remove("over");
    take([...event.dataTransfer.files]);
  });
  return { element: zone, stop: () => listening.abort() };
}

function runList(runs, progress, tools) {
  const { words } = tools;
  const heading = make("h2", { textContent: words("start.runs") });
  if (!runs.length) return [heading, make("p", { className: "note", textContent: words("start.no_runs") })];
  return [heading, make("ul", { className: "rows" }, runs.map((run) => runRow(run, progress.get(run.id)?.share, tools)))];
}

function runRow(run, share, { api, words, troubles, go }) {
  const damaged = run.state === "damaged";
  const name = damaged ? make("bdi", { textContent: run.id }) : make("a", { href: placeOf("runs", run.id), data: { at: `run ${run.id}` } }, make("bdi", { textContent: run.id }));
  const about = [KINDS[run.kind] ? words(KINDS[run.kind]) : run.model, run.task, run.data].filter(Boolean).join(" · ");
  const resume = async (event) => {
    event.target.disabled = true;
    try {
      await api.post(api.run(run.id, "resume"));
      go(placeOf("runs", run.id));
    } catch (error) {
      event.target.disabled = false;
      troubles.replaceChildren(problemCard(error, words));
    }
  };
  return make("li", { className: "run" },
    make("div", { className: "run-name" }, name, make("span", { className: "note", dir: "auto", textContent: about })),
    make("div", { className: "run-state" },
      Number.isFinite(run.value) ? make("span", { className: "score" }, `${run.metric} `, make("strong", { textContent: words.score(run.value) })) : null,
      run.state === "running" && Number.isFinite(share) ? progressBar(share, words("watch.share")) : null,
      stateChip(run.state, words),
      run.state === "can be resumed" ? button(words("watch.resume"), resume, { kind: "small", data: { at: `resume ${run.id}` } }) : null),
    run.damage ? said(run.damage, "p", { className: "note wrong" }) : null);
}

function fileList(files, words) {
  const heading = make("h2", { textContent: words("start.files") });
  if (!files.length) return [heading, make("p", { className: "note", textContent: words("start.no_files") })];
  return [heading, make("ul", { className: "rows" }, files.map((file) => make("li", { className: "run" },
    make("div", { className: "run-name" }, make("a", { href: placeOf("data", file.name), data: { at: `file ${file.name}` } }, make("bdi", { textContent: file.name }))),
    make("div", { className: "run-state note", textContent: sizeOf(file.bytes, words) }))))];
}

function sizeOf(bytes, words) {
  const unit = bytes >= 1e9 ? ["GB", 1e9] : bytes >= 1e6 ? ["MB", 1e6] : bytes >= 1e3 ? ["kB", 1e3] : ["B", 1];
  return `${words.number(bytes / unit[1], bytes >= 1e3 && bytes / unit[1] < 10 ? 1 : 0)} ${unit[0]}`;
}

function builtinCards({ builtin, tasks }, words) {
  const order = tasks.map((task) => task.name);
  const sets = [...builtin].sort((one, other) => order.indexOf(one.task) - order.indexOf(other.task));
  const card = (set) => make("a", { className: "card set", href: placeOf("data", set.name) },
    said(set.task, "span", { className: "task", title: tasks.find((task) => task.name === set.task)?.summary ?? "" }),
    make("strong", { textContent: set.name }), said(set.summary, "span", { className: "note" }));
  return [
    make("h2", { textContent: words("start.builtin") }), make("p", { className: "note", textContent: words("start.builtin_note") }),
    make("ul", { className: "cards" }, sets.map((set) => make("li", {}, card(set)))),
  ];
}
