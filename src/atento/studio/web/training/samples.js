// What the model answers to the same few examples at each validation, with a slider through the validations.

import { make } from "../elements.js";

const MOST_WORDS = 400; // of two texts that are compared word by word

/** `update(validations)` shows the newest, unless an earlier one was chosen. */
export function samplesPanel(words) {
  const slider = make("input", { type: "range", min: 0, max: 0, value: 0, step: 1, ariaLabel: words("samples.slider"), className: "wide-slider" });
  const where = make("output", { className: "note" });
  const list = make("ol", { className: "samples" });
  const section = make("section", { hidden: true }, make("h2", { textContent: words("samples.title") }), make("p", { className: "note", textContent: words("samples.note") }),
    make("div", { className: "slider-row" }, slider, where), list);
  let validations = [], follows = true;

  function draw() {
    const at = slider.valueAsNumber, now = validations[at], before = validations[at - 1];
    if (!now) return;
    where.textContent = words("samples.where", { number: at + 1, all: validations.length, step: now.step });
    list.replaceChildren(...now.samples.map((sample, number) => row(sample, before?.samples[number]?.output, words)));
  }

  slider.addEventListener("input", () => {
    follows = slider.valueAsNumber === Number(slider.max);
    draw();
  });
  return {
    element: section,
    update(found) {
      validations = found.filter(({ samples }) => samples.length);
      section.hidden = !validations.length;
      slider.max = Math.max(0, validations.length - 1);
      if (follows) slider.value = slider.max;
      draw();
    },
  };
}

function row(sample, before, words) {
  const right = sample.output.trim() === sample.target.trim();
  return make("li", {},
    make("p", { className: "sample-source", dir: "auto", textContent: sample.source }),
    make("p", { className: "sample-output" }, make("span", { className: "arrow", textContent: "→ " }), make("bdi", {}, ...marked(sample.output, before, words)),
      make("span", { className: right ? "right judged" : "wrong judged", textContent: right ? `✓ ${words("samples.right")}` : `✕ ${words("samples.wrong")}` })),
    right ? null : make("p", { className: "note" }, `${words("samples.target")} `, make("bdi", { textContent: sample.target })));
}

/** An output with the words marked that were not there a validation before. */
function marked(output, before, words) {
  if (!output) return [make("span", { className: "note", textContent: words("samples.empty") })];
  if (before === undefined || before === output) return [output];
  const [now, old] = [output, before].map((text) => text.split(/(\s+)/).filter(Boolean));
  if (now.length + old.length > MOST_WORDS) return [output];
  const kept = commonPlaces(now, old);
  return now.map((word, at) => (kept.has(at) || !word.trim() ? word : make("mark", { className: "changed-word", textContent: word, title: words("samples.changed") })));
}

/** The places in `now` of a longest common subsequence with `old`. */
export function commonPlaces(now, old) {
  const lengths = Array.from({ length: now.length + 1 }, () => new Uint16Array(old.length + 1));
  for (let i = now.length - 1; i >= 0; i -= 1) {
    for (let j = old.length - 1; j >= 0; j -= 1) lengths[i][j] = now[i] === old[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  }
  const places = new Set();
  for (let i = 0, j = 0; i < now.length && j < old.length;) {
    if (now[i] === old[j]) {
      places.add(i);
      i += 1;
      j += 1;
    } else if (lengths[i + 1][j] >= lengths[i][j + 1]) i += 1;
    else j += 1;
  }
  return places;
}
