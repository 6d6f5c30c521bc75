// Links between the screens of one run.

import { make } from "./elements.js";
import { placeOf } from "./places.js";

const RUN = [["", "links.watch"], ["inside", "links.inside"], ["mistakes", "links.mistakes"], ["try", "links.try"], ["ship", "links.ship"]];
const COMPARISON = [["", "links.watch"], ["board", "links.board"]];

/** The screens of a run or a comparison; `here` is the one that is shown: "watch", "inside", "board" … */
export function runLinks(run, words, here) {
  const offered = run.kind === "run" ? RUN : COMPARISON;
  return make("nav", { className: "run-links", ariaLabel: words("links.label") }, make("ul", {}, offered.map(([screen, key]) => {
    const link = make("a", { href: screen ? placeOf("runs", run.id, screen) : placeOf("runs", run.id), textContent: words(key) });
    if ((screen || "watch") === here) link.setAttribute("aria-current", "page");
    return make("li", {}, link);
  })));
}
