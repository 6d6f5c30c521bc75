// Why an answer is wrong, in sentences: how near the expected label was, which words decide, what was never seen.

import { visible } from "/static/attention/elements.js";
import { MEAN, readMap, strongest } from "/static/attention/weights.js";
import { make } from "../elements.js";

const SURE = 0.9; // a probability from which the label itself is doubted
const NEAR = 0.1; // a difference of two probabilities below which the model is undecided
const WEIGHTY = 0.03; // a change of a probability that is worth a sentence
const MOST_WORDS = 3;
const END = "<end>"; // the token that ends a text

const label = (text) => make("bdi", { className: "label-name", textContent: text });
const quoted = (text) => make("bdi", { textContent: `“${visible(text)}”` });

/** Items with commas, and the last one with the language's "and". */
export function listed(nodes, words) {
  return nodes.flatMap((node, at) => (at === 0 ? [node] : at === nodes.length - 1 ? [` ${words("why.and")} `, node] : [", ", node]));
}

/** The reasons as a list; `row` has expected and predicted, `kind` is what answers are, `matrix` the confusion matrix. */
export function reasonsOf(found, row, words, { kind, matrix = null }) {
  const makers = { classes: [howNear, whichWords, pushed], labels: [whichLabels, pushed], texts: [whereItLeft], tags: [whichTags] };
  const sentences = (makers[kind] ?? []).flatMap((maker) => maker(found, row, words));
  sentences.push(...neverSeen(found, words), ...(kind === "classes" ? howOften(row, matrix, words) : []));
  if (!sentences.length) sentences.push(words.parts("why.only_differs", { predicted: label(row.predicted), expected: label(row.expected) }));
  return make("ul", { className: "reasons" }, sentences.map((parts) => make("li", {}, ...parts)));
}

function howNear({ answer }, row, words) {
  const order = Object.entries(answer.probabilities).sort((one, other) => other[1] - one[1]);
  const [said, first] = order[0];
  const place = order.findIndex(([name]) => name === row.expected);
  const tell = (key, more = {}) => words.parts(key, { predicted: label(said), share: words.percent(first), expected: label(row.expected), ...more });
  if (said === row.expected) return [tell("why.right_now")];
  if (place < 0) return [tell("why.unknown_label")];
  const chance = order[place][1];
  const sentences = [tell("why.near", { chance: words.percent(chance, chance < 0.01 ? 1 : 0), place: words.number(place + 1), count: order.length })];
  if (first - chance < NEAR) sentences.push(tell("why.undecided", { points: words.number(100 * (first - chance), 1) }));
  if (first >= SURE) sentences.push(tell("why.check_label"));
  return sentences;
}

// Of a set of labels: those it left out and those it added, each with its probability.
function whichLabels({ answer }, row, words) {
  const chance = (name) => (Number.isFinite(answer.probabilities?.[name]) ? words.percent(answer.probabilities[name]) : "–");
  const tell = (key, names) => names.map((name) => words.parts(key, { label: label(name), share: chance(name) }));
  const { expected_labels: wanted, predicted_labels: said } = row;
  return [...tell("why.left_out", wanted.filter((name) => !said.includes(name))), ...tell("why.added", said.filter((name) => !wanted.includes(name)))];
}

// Of tags: the first words that got another one.
function whichTags(found, row, words) {
  const read = row.source.split("\t");
  const wrong = read.map((word, at) => ({ word, wanted: row.expected_labels[at], said: row.predicted_labels[at] })).filter(({ wanted, said }) => wanted !== said);
  return wrong.slice(0, MOST_WORDS).map(({ word, wanted, said }) => words.parts("why.tag", { word: quoted(word), said: label(said ?? "–"), wanted: label(wanted ?? "–") }));
}

// What the model says without each word is what it really says: no approximation.
function whichWords({ answer, occlusion = [] }, row, words) {
  const before = answer.probabilities;
  if (!occlusion.length || answer.text === row.expected) return [];
  const flips = occlusion.filter((one) => one.text === row.expected).sort((one, other) => other.probabilities[row.expected] - one.probabilities[row.expected]);
  if (flips.length) {
    const names = listed(flips.slice(0, MOST_WORDS).map((one) => quoted(one.word)), words);
    return [words.parts(flips.length > 1 ? "why.flips_each" : "why.flips", { words: holder(names), expected: label(row.expected), share: words.percent(flips[0].probabilities[row.expected]) })];
  }
  const changes = occlusion.map((one) => ({ word: one.word, by: before[answer.text] - one.probabilities[answer.text] })).sort((one, other) => other.by - one.by);
  const heavy = changes.filter(({ by }) => by >= WEIGHTY).slice(0, MOST_WORDS);
  if (!heavy.length) return [words.parts("why.no_single_word", { predicted: label(answer.text) })];
  const names = listed(heavy.map(({ word, by }) => make("span", {}, quoted(word), ` (−${words.number(100 * by)})`)), words);
  return [words.parts("why.heavy", { words: holder(names), predicted: label(answer.text), share: words.percent(before[answer.text]) })];
}

function pushed({ attribution, answer }, row, words) {
  if (!attribution) return [];
  const order = attribution.tokens.map((token, at) => ({ token, value: attribution.values[at] })).filter(({ token, value }) => value > 0 && /[\p{L}\p{N}]/u.test(token));
  const most = order.sort((one, other) => other.value - one.value).slice(0, 2);
  if (!most.length) return [];
  return [words.parts(most.length > 1 ? "why.pushed_both" : "why.pushed", { words: holder(listed(most.map(({ token }) => quoted(token)), words)), predicted: label(answer.text) })];
}

function neverSeen({ unknown = [] }, words) {
  if (!unknown.length) return [];
  const names = listed(unknown.slice(0, MOST_WORDS).map(quoted), words);
  return [words.parts(unknown.length > 1 ? "why.never_seen_words" : "why.never_seen", { words: holder(names) })];
}

function howOften(row, matrix, words) {
  const at = matrix?.labels.indexOf(row.expected) ?? -1, to = matrix?.labels.indexOf(row.predicted) ?? -1;
  if (at < 0 || to < 0 || at === to) return [];
  const total = matrix.counts[at].reduce((sum, one) => sum + one, 0);
  return [words.parts("why.often", { some: matrix.counts[at][to], total, expected: label(row.expected), predicted: label(row.predicted) })];
}

// Of a written text: the first token that differs, what else could have stood there, and what was looked at.
function whereItLeft({ view, answer }, row, words) {
  const steps = view?.steps ?? [];
  if (!steps.length || answer.text === row.expected) return [];
  const wanted = plain(row.expected);
  let written = "";
  const at = steps.findIndex(({ token }) => {
    written += plain(token);
    return !wanted.startsWith(written);
  });
  if (at >= 0 && steps[at].token === END) return [words.parts("why.ended_early", { written: label(answer.text) })];
  if (at < 0) return wanted.length > written.length ? [words.parts("why.ended_early", { written: label(answer.text) })] : [];
  const before = steps.slice(0, at).map(({ token }) => plain(token)).join("");
  const rest = wanted.slice(before.length);
  const step = steps[at];
  const own = step.alternatives?.find(({ token }) => token === step.token);
  const right = step.alternatives?.filter(({ token }) => plain(token) && rest.startsWith(plain(token))).sort((one, other) => plain(other.token).length - plain(one.token).length)[0];
  const values = { step: at + 1, total: steps.length, token: quoted(step.token), share: own ? words.percent(own.probability) : "–" };
  const sentences = [words.parts(at === 0 ? "why.left_at_once" : "why.left_at", values)];
  if (!rest) sentences.push(words.parts("why.went_on"));
  else if (right) sentences.push(words.parts("why.alternative", { right: quoted(right.token), share: words.percent(right.probability, right.probability < 0.1 ? 1 : 0) }));
  const looked = lookedAt(view, at);
  if (looked.length) sentences.push(words.parts("why.looked_at", { token: quoted(step.token), words: holder(listed(looked.map(quoted), words)) }));
  return sentences;
}

function lookedAt(view, at) {
  const stored = view.maps.find(({ kind, queries }) => kind === "cross" && queries.length > at);
  if (!stored) return [];
  const map = readMap(stored);
  return strongest(map.matrix(map.layers - 1, map.heads === 1 ? 0 : MEAN), at, MOST_WORDS, 0).map(({ column }) => map.keys[column]);
}

function plain(text) {
  return String(text).replace(/[\s￭▁]/gu, "");
}

function holder(nodes) {
  return make("span", {}, ...nodes);
}
