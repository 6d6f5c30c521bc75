// An answer and what it rests on: probabilities as bars, words shaded by what they did, and the attention viewer.

import { showAttention } from "/static/attention/gallery.js";
import { visible } from "/static/attention/elements.js";
import { make, said } from "../elements.js";

const MOST_BARS = 8;
const LONG = 60; // characters of an answer that is written smaller
const LEAST_SHADE = 0.05; // share of the largest attribution below which a token stays plain

/** The answer in large letters, how sure the model is, and a bar for each of the likeliest labels. */
export function answerCard(answer, words, { expected = [] } = {}) {
  const known = Object.entries(answer.probabilities ?? {}).sort((one, other) => other[1] - one[1]);
  const sure = !known.length && Number.isFinite(answer.score) ? words("inside.log_probability", { value: words.score(answer.score) }) : "";
  return make("div", { className: "answer" },
    make("p", { className: answer.text.length > LONG ? "answer-text long" : "answer-text", dir: "auto" }, answer.text ? make("bdi", { textContent: answer.text }) : make("em", { textContent: words("inside.nothing") })),
    sure ? make("p", { className: "note", textContent: sure }) : null,
    known.length ? bars(known, answer.text, expected.filter((label) => label !== answer.text), words) : null);
}

function bars(known, said, expected, words) {
  const shown = known.slice(0, MOST_BARS);
  const missing = known.slice(MOST_BARS).filter(([label]) => expected.includes(label));
  const list = make("ol", { className: "chance-list", ariaLabel: words("inside.probabilities") }, [...shown, ...missing].map(([label, share]) => {
    const bar = make("span", { className: "chance-bar" });
    bar.style.width = `${Math.max(0.4, 100 * share)}%`;
    const kind = label === said || said.split(", ").includes(label) ? "said" : expected.includes(label) ? "expected" : "";
    return make("li", { className: kind },
      make("bdi", { className: "chance-name", textContent: label, title: label }),
      make("span", { className: "chance-track" }, bar),
      make("span", { className: "chance-value", textContent: words.percent(share, share < 0.1 ? 1 : 0) }),
      expected.includes(label) ? make("span", { className: "chance-word", textContent: words("inside.expected_mark") }) : null);
  }));
  const rest = known.length - shown.length - missing.length;
  return make("div", {}, list, rest > 0 ? make("p", { className: "note", textContent: words("inside.more_labels", { count: rest }) }) : null);
}

/** The source with each token shaded: blue moved the model towards its answer, orange away from it. */
export function shadedTokens(attribution, words) {
  const { tokens, values } = attribution;
  const largest = Math.max(...values.map(Math.abs), 0) || 1;
  const apart = tokens.filter((token) => [...token].length <= 1).length >= 0.8 * tokens.length ? "" : " ";
  const line = make("p", { className: "shaded-words", dir: "auto" });
  tokens.forEach((token, at) => {
    const share = values[at] / largest;
    const span = make("span", { textContent: visible(token), title: `${values[at] > 0 ? "+" : "−"}${Math.abs(values[at]).toPrecision(2)}` });
    if (Math.abs(share) >= LEAST_SHADE) {
      span.className = share > 0 ? "towards" : "away";
      span.style.setProperty("--share", `${Math.round(8 + 52 * Math.abs(share))}%`);
    }
    line.append(span, apart);
  });
  return make("figure", { className: "shaded-figure" }, line, make("figcaption", { className: "note" },
    make("span", { className: "key towards" }, words("inside.towards")), " ", make("span", { className: "key away" }, words("inside.away")), " ", words("inside.attribution_note")));
}

/** The attention viewer in a box; returns what removes it. Its own words are English. */
export function attentionBox(box, views, { panes } = {}) {
  const holder = make("div", { lang: "en", className: "viewer-box" });
  box.append(holder);
  const viewer = showAttention(holder, views, panes ? { panes } : {});
  return () => viewer.remove();
}

/** The image that was read, where the source is one. */
export function imageOf(view, words) {
  return view?.image ? make("img", { className: "read-image", src: view.image, alt: words("inside.image") }) : null;
}

/** What the toolkit says beside an answer, such as why there is no attention. */
export function noteOf(note) {
  return note ? said(note, "p", { className: "note" }) : null;
}
