// The head of every screen about a trained model: where it belongs, what it is, and the way to its other screens.

import { make, said } from "../elements.js";
import { placeOf } from "../places.js";
import { runLinks } from "../run_links.js";

const PATIENCE = 300; // milliseconds before a reader is told to wait

/** Heading and links; `here` is the screen that is shown: "inside", "board" … */
export function runHead(run, here, words) {
  const board = run.id.includes("/") ? run.id.slice(0, run.id.lastIndexOf("/")) : null;
  const about = [run.model, run.task, nameOf(run.data)].filter(Boolean).join(" · ");
  return make("header", { className: "run-head" },
    board ? make("p", { className: "kicker" }, make("a", { href: placeOf("runs", board, "board") }, words("inside.up"), " ", make("bdi", { textContent: board }))) : null,
    make("h1", { className: "run-title" }, make("bdi", { textContent: run.id.slice(run.id.lastIndexOf("/") + 1) })),
    said(about, "p", { className: "kicker" }),
    runLinks(run, words, here));
}

function nameOf(data) {
  return typeof data === "string" ? data.slice(data.lastIndexOf("/") + 1) : data?.name ?? "";
}

/** Say that something is on its way, unless it comes at once; returns what takes the words away. */
export function loading(box, words) {
  const note = make("p", { className: "note", role: "status" });
  const timer = setTimeout(() => { note.textContent = words("inside.loading"); }, PATIENCE);
  box.append(note);
  return () => {
    clearTimeout(timer);
    note.remove();
  };
}
