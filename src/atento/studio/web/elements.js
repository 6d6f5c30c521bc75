// Elements that several screens show: cards of problems, sentences in English from the toolkit, chips, bars.

import { make as plain } from "/static/attention/elements.js";
import { ServerGone } from "./api.js";

/** An element with properties, ARIA attributes and children; children that are null or false are left out. */
export function make(name, properties = {}, ...children) {
  return plain(name, properties, ...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
}

/** A button; `kind` is "primary", "quiet" or nothing. */
export function button(text, act, { kind = "", ...properties } = {}) {
  const made = make("button", { type: "button", textContent: text, className: kind, ...properties });
  made.addEventListener("click", act);
  return made;
}

/** A text that the toolkit wrote: it is in English, whatever the language of the page, and a screen reader should know. */
export function said(text, name = "span", properties = {}) {
  return make(name, { lang: "en", dir: "auto", textContent: text, ...properties });
}

/** What was refused: the problem, what was found, the fix. */
export function problemCard(error, words) {
  if (error instanceof ServerGone) return make("div", { className: "card problem", role: "alert" }, make("p", { textContent: words("problem.gone") }));
  if (error.status === 401) return make("div", { className: "card problem", role: "alert" }, make("p", { textContent: words("problem.token") }));
  const problem = error.problem ?? words("problem.unknown", { message: error.message });
  return make("div", { className: "card problem", role: "alert" },
    said(problem, "p", { className: "problem-text" }),
    error.found ? make("p", { className: "note" }, `${words("problem.found")} `, said(error.found)) : null,
    error.fix ? make("p", {}, make("strong", { textContent: `${words("problem.fix")} ` }), said(error.fix)) : null);
}

/** A bar with a share between 0 and 1. */
export function progressBar(share, label) {
  const bar = make("progress", { max: 1, className: "progress", ariaLabel: label });
  if (Number.isFinite(share)) bar.value = share;
  return bar;
}

/** A labelled number: <dt> above <dd>. */
export function fact(name, value, properties = {}) {
  return make("div", { className: "fact", ...properties }, make("dt", { textContent: name }), make("dd", {}, value));
}

/** Draw something anew in which someone may be tabbing: the focus stays on what has the same data-at. */
export function keepingFocus(box, act) {
  const kept = box.contains(document.activeElement) ? document.activeElement.dataset.at : null;
  act();
  if (kept) [...box.querySelectorAll("[data-at]")].find((one) => one.dataset.at === kept)?.focus();
}
