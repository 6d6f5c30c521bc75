// A generated answer, token by token: what else could have been written, and the beam.

import { clamp, make, makeButton, onceAFrame, visible, written } from "./elements.js";
import { placeIn, pointAt } from "./selection.js";

/** Step through `steps`: [{ token, alternatives: [{ token, probability }], beam: [{ text, score }] }]. */
export function showAnswerSteps({ state, selection, steps, said, finished = [] }) {
  const line = make("p", { className: "attention-text attention-answer", dir: "auto", role: "group", ariaLabel: "tokens of the answer" });
  const tokens = steps.map(({ token }, index) => makeButton(visible(token), () => go(index)));
  tokens.forEach((token) => token.addEventListener("keydown", travel));
  line.append(...tokens.flatMap((token) => [token, " "]));
  const [title, bars, beams] = [make("p", { className: "attention-note", role: "status" }), make("ol", { className: "attention-alternatives" }), make("ol", { className: "attention-beam" })];
  const beamTitle = make("h4", { textContent: "The beam" });
  const beamPart = make("div", {}, beamTitle, beams);
  const tools = make("div", { className: "attention-tools" }, makeButton("previous token", () => go(at - 1)), makeButton("next token", () => go(at + 1)));
  const parts = make("div", { className: "attention-step" }, make("div", {}, make("h4", { textContent: "What could stand here" }), bars), beamPart);
  const element = make("div", { className: "attention-pane attention-steps" }, line, tools, title, parts);
  let at = 0;

  // Of a map whose queries are the answer, its row is marked with the step.
  function rowOf(index) {
    const { map } = state();
    return map && map.rows >= steps.length && map.queries[index] === steps[index]?.token ? index : null;
  }

  function go(index) {
    at = clamp(index, 0, steps.length - 1);
    if (rowOf(at) !== null) pointAt(state().map, selection, at, null, { pinned: true });
    redraw();
    if (line.contains(document.activeElement)) tokens[at].focus();
  }

  function travel(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    tokens[clamp(at + by, 0, steps.length - 1)].focus();
    go(at + by);
  }

  function redraw() {
    const { map } = state();
    const row = map ? placeIn(map, selection).row : null;
    if (row !== null && rowOf(row) === row) at = row;
    const step = steps[at];
    tokens.forEach((token, index) => {
      token.setAttribute("aria-pressed", String(index === at));
      token.tabIndex = index === at ? 0 : -1;
      token.classList.toggle("later", index > at);
    });
    title.replaceChildren(`Step ${at + 1} of ${steps.length}: `, make("bdi", { textContent: `“${visible(step.token)}”` }));
    bars.replaceChildren(...(step.alternatives ?? []).map(({ token, probability }) => {
      const bar = make("span", { className: "attention-bar" });
      bar.style.width = `${Math.max(0.5, 100 * probability)}%`;
      return make("li", { className: token === step.token ? "taken" : "" }, make("bdi", { textContent: visible(token) }), make("span", { className: "attention-number", textContent: written(probability) }), make("span", { className: "attention-track" }, bar));
    }));
    const last = at === steps.length - 1 && finished.length > 0;
    const found = last ? finished : step.beam ?? [];
    beamPart.hidden = !found.length;
    beams.replaceChildren(...found.map(({ text, score }) => make("li", { className: text === said ? "taken" : "" }, make("bdi", { textContent: text || "(nothing)" }), make("span", { className: "attention-number", textContent: Number.isFinite(score) ? score.toFixed(2).replace("-", "−") : "" }))));
    beamTitle.textContent = last ? "What the beam ended with, by log-probability" : "The beam here, by log-probability";
  }

  const ask = onceAFrame(redraw);
  const unfollow = selection.follow(ask);
  return {
    element,
    redraw,
    ask,
    remove() {
      unfollow();
      ask.cancel();
      element.remove();
    },
  };
}
