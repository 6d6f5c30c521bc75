// The state of a run as a chip: a word and a sign, so that no colour has to be told apart.

import { make } from "../elements.js";

const STATES = {
  running: ["state.running", "▶"],
  finished: ["state.finished", "✓"],
  "can be resumed": ["state.resumable", "❚❚"],
  damaged: ["state.damaged", "✕"],
  failed: ["state.failed", "✕"],
  waiting: ["state.waiting", "…"],
};

export function stateChip(state, words) {
  const [key, sign] = STATES[state] ?? ["", ""];
  return make("span", { className: `state ${state.replaceAll(" ", "-")}` },
    make("span", { textContent: `${sign} `, aria: { hidden: "true" } }), key ? words(key) : state);
}
