// Where the model is wrong: which classes it confuses, which slices are hard, the worst rows, and why each is wrong.

import { button, make, problemCard } from "../elements.js";
import { answerCard, attentionBox, imageOf, noteOf, shadedTokens } from "../inside/answer.js";
import { differing } from "../inside/differing.js";
import { framed, viewAddress } from "../inside/frames.js";
import { reasonsOf } from "../inside/reasons.js";
import { loading, runHead } from "../inside/run_head.js";
import { placeOf } from "../places.js";

const LIMIT = 200; // rows that are asked for
const FIRST = 30; // rows that are shown at first
const MOST_LABELS = 16; // of a matrix; of more, the pairs that are confused most often
const SHADES = 9;

export const path = "/runs/:id/mistakes";
export const title = (words) => words("links.mistakes");

export async function show(box, { params, api, words }) {
  const loaded = loading(box, words);
  const [run, found] = await Promise.all([api.get(api.run(params.id)), api.get(`${api.run(params.id, "mistakes")}?limit=${LIMIT}`)]);
  loaded();
  const chosen = { expected: null, predicted: null, slice: null };
  const stops = new Set();
  const rows = make("ol", { className: "why-rows" });
  const head = make("div", { className: "rows-head" });
  const status = make("p", { className: "note", role: "status" });
  const isFar = ["numbers", "scores"].includes(found.kind); // nothing is wrong, some answers are far off
  let all = found.rows, total = found.chosen, many = FIRST, turn = 0;

  async function choose(change) {
    Object.assign(chosen, { expected: null, predicted: null, slice: null }, change);
    many = FIRST;
    const mine = (turn += 1);
    const asked = new URLSearchParams({ limit: LIMIT });
    ["expected", "predicted"].forEach((key) => chosen[key] !== null && asked.set(key, chosen[key]));
    const answer = chosen.expected === null && chosen.predicted === null ? found : await api.get(`${api.run(params.id, "mistakes")}?${asked}`);
    if (mine !== turn) return;
    [all, total] = [answer.rows, answer.chosen];
    draw();
    head.scrollIntoView({ block: "start", behavior: "smooth" });
    head.querySelector("h2").focus({ preventScroll: true });
  }

  function fitting() {
    const wanted = all.filter((row) => chosen.slice === null || row.slice === chosen.slice);
    return chosen.expected !== null || chosen.slice !== null ? wanted : wanted.filter((row) => !row.right);
  }

  // More rows may fit than were sent.
  function countOf(shown) {
    if (chosen.slice !== null) return shown.length;
    return Math.max(shown.length, chosen.expected === null ? found.mistakes : total);
  }

  function draw() {
    stops.forEach((stop) => stop());
    stops.clear();
    const shown = fitting();
    head.replaceChildren(...headOf(chosen, words, () => choose({}), isFar));
    status.textContent = found.kind === "numbers" ? words("mistakes.farthest", { count: shown.length }) : found.kind === "scores" ? words("mistakes.scored") : shown.length ? words("mistakes.shown", { shown: Math.min(many, shown.length), count: countOf(shown) }) : words("mistakes.none");
    rows.replaceChildren(...shown.slice(0, many).map((row) => rowItem(row)));
    if (shown.length > many) rows.append(make("li", { className: "more-rows" }, button(words("mistakes.more"), () => {
      many += FIRST;
      draw();
    })));
  }

  function rowItem(row) {
    const place = make("div", { className: "why", role: "region", ariaLabel: words("mistakes.why") });
    const opener = button("", () => toggle(), { kind: "why-opener", aria: { expanded: "false" } });
    opener.append(
      make("span", { className: "why-source", dir: "auto", textContent: row.shown }),
      make("span", { className: "why-pair" },
        make("span", {}, make("span", { className: "note", textContent: `${words("mistakes.predicted")} ` }), predictedText(row, found.kind, words)),
        make("span", {}, make("span", { className: "note", textContent: `${words("mistakes.expected")} ` }), make("bdi", { textContent: row.expected }))),
      make("span", { className: "why-ask", textContent: words(row.right || isFar ? "mistakes.why_right" : "mistakes.why") }));
    let stop = null;

    async function toggle() {
      if (stop) {
        stop();
        stops.delete(stop);
        stop = null;
        place.replaceChildren();
        opener.setAttribute("aria-expanded", "false");
        return;
      }
      opener.setAttribute("aria-expanded", "true");
      let over = false, removeViewer = () => {};
      stop = () => {
        over = true;
        removeViewer();
      };
      stops.add(stop);
      place.replaceChildren(make("p", { className: "note", role: "status", textContent: words("try.reading") }));
      try {
        const answer = await api.post(api.run(params.id, "explain"), { source: row.source });
        if (over) return;
        removeViewer = drawWhy(place, answer, row);
      } catch (error) {
        if (!over) place.replaceChildren(problemCard(error, words));
      }
    }
    return make("li", { data: { number: row.number } }, opener, place);
  }

  function drawWhy(place, answer, row) {
    place.replaceChildren(
      isFar || row.right ? "" : make("div", { className: "why-words" }, make("h3", { textContent: words("mistakes.why") }), reasonsOf(answer, row, words, { kind: found.kind, matrix: found.confusion })),
      run.task === "forecast" ? framed(viewAddress(params.id, "forecast", row.source), words("view.forecast")) : "",
      make("div", { className: "two-sides" },
        make("div", {}, make("h3", { textContent: words("try.answer") }), imageOf(answer.view, words), answerCard(answer.answer, words, { expected: row.expected_labels }), noteOf(answer.note)),
        answer.attribution && !answer.view?.image ? make("div", {}, make("h3", { textContent: words("inside.what_moved") }), shadedTokens(answer.attribution, words)) : null),
      make("p", { className: "why-links" },
        make("a", { href: placeOf("runs", params.id, "inside", { text: row.source }), textContent: words("mistakes.look_inside") }), isFar || answer.view?.image ? "" : " · ",
        isFar || answer.view?.image ? "" : make("a", { href: placeOf("runs", params.id, "try", { text: row.source }), textContent: words("mistakes.change_it") })));
    if (!answer.view?.maps.length) return () => {};
    const attention = make("details", { className: "rest" }, make("summary", { textContent: words("inside.attention") }));
    place.append(attention);
    let remove = () => {};
    attention.addEventListener("toggle", () => {
      if (attention.open && attention.children.length === 1) remove = attentionBox(attention, [{ ...answer.view, reference: row.expected, correct: row.right }]);
    });
    return () => remove();
  }

  box.append(
    runHead(run, "mistakes", words),
    make("p", { className: "verdict", textContent: summaryOf(found, words) }),
    make("div", { className: "two-sides wide-left" }, [matrixPart(found, words, choose), make("div", {}, slicePart(found, words, choose, () => all))].filter(Boolean)),
    classPart(found, words, choose) ?? "",
    make("section", { className: "tight" }, head, status, rows));
  draw();
  return () => stops.forEach((stop) => stop());
}

// Of a text, the words that differ from the expected ones are marked.
function predictedText(row, kind, words) {
  if (!row.predicted) return make("em", { textContent: words("inside.nothing") });
  if (kind === "texts" && !row.right) return make("bdi", { className: "why-output" }, differing(row.predicted, row.expected));
  return make("bdi", { className: row.right ? "right" : kind === "numbers" ? "" : "wrong", textContent: row.predicted });
}

function summaryOf(found, words) {
  const [value, low, high] = found.scores[found.metric] ?? [];
  const score = { metric: found.metric, value: words.score(value), low: words.score(low), high: words.score(high) };
  if (found.kind === "numbers" || found.kind === "scores") return words("mistakes.summary_numbers", { ...score, count: found.examples });
  return words("mistakes.summary", { ...score, some: found.mistakes, total: found.examples });
}

function headOf(chosen, words, clear, isFar) {
  const name = (text) => make("bdi", { className: "label-name", textContent: text });
  const title = make("h2", { tabIndex: -1 });
  if (chosen.slice !== null) title.append(...words.parts("mistakes.rows_of_slice", { slice: chosen.slice }));
  else if (chosen.expected !== null && chosen.predicted !== null) title.append(...words.parts("mistakes.rows_of_cell", { expected: name(chosen.expected), predicted: name(chosen.predicted) }));
  else if (chosen.expected !== null) title.append(...words.parts("mistakes.rows_of_class", { expected: name(chosen.expected) }));
  else return [Object.assign(title, { textContent: words(isFar ? "mistakes.farthest_head" : "mistakes.worst") })];
  return [title, button(words("mistakes.all"), clear, { kind: "small" })];
}

function matrixPart({ confusion }, words, choose) {
  if (!confusion) return null;
  const { labels, counts } = confusion;
  const heading = make("h2", { textContent: words("mistakes.confusion") });
  if (labels.length > MOST_LABELS) return make("section", { className: "tight" }, heading, pairList(labels, counts, words, choose));
  const cells = counts.map((line, at) => {
    const total = line.reduce((sum, one) => sum + one, 0);
    return line.map((count, to) => cellOf(count, total, labels[at], labels[to], at === to, words, choose));
  });
  const name = (label) => make("bdi", { className: "matrix-name", textContent: label, title: label });
  const table = make("table", { className: "details matrix" },
    make("caption", { textContent: words("mistakes.matrix_note") }),
    make("thead", {}, make("tr", {}, make("th", { scope: "col", textContent: words("mistakes.true_predicted") }), labels.map((label) => make("th", { scope: "col", className: "number" }, name(label))))),
    make("tbody", {}, cells.map((line, at) => make("tr", {}, make("th", { scope: "row" }, name(labels[at])), line))));
  table.addEventListener("keydown", (event) => travel(event, cells));
  cells[0][0].firstChild.tabIndex = 0;
  return make("section", { className: "tight" }, heading, make("div", { className: "scroll" }, table));
}

function cellOf(count, total, expected, predicted, right, words, choose) {
  const spoken = words(right ? "mistakes.cell_right" : "mistakes.cell", { some: count, total, expected, predicted });
  const press = button(words.number(count), () => choose({ expected, predicted }), { kind: "cell", tabIndex: -1, title: spoken, ariaLabel: spoken, disabled: !count });
  const shade = total ? Math.min(SHADES, Math.ceil((SHADES * count) / total)) : 0;
  return make("td", { className: `number heat${shade}${right ? " right" : ""}` }, press);
}

// The arrows go from cell to cell; those without examples are passed over.
function travel(event, cells) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  const here = event.target.closest("td");
  const row = cells.findIndex((line) => line.includes(here));
  if (!step || row < 0) return;
  event.preventDefault();
  let at = [row, cells[row].indexOf(here)];
  for (;;) {
    at = [at[0] + step[0], at[1] + step[1]];
    const next = cells[at[0]]?.[at[1]]?.firstChild;
    if (!next) return;
    if (next.disabled) continue;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    return;
  }
}

function pairList(labels, counts, words, choose) {
  const pairs = counts.flatMap((line, at) => line.map((count, to) => ({ count, expected: labels[at], predicted: labels[to], wrong: at !== to })));
  const worst = pairs.filter(({ count, wrong }) => count && wrong).sort((one, other) => other.count - one.count).slice(0, MOST_LABELS);
  return make("ul", { className: "confused" }, worst.map(({ count, expected, predicted }) => make("li", {},
    button(words("mistakes.pair", { count, expected, predicted }), () => choose({ expected, predicted }), { kind: "quiet" }))));
}

function slicePart({ slices, metric, smaller_is_better: isError }, words, choose, rowsNow) {
  const known = slices.filter(({ value }) => Number.isFinite(value));
  if (known.length < 2) return null;
  const unit = known[0].by ?? words("mistakes.characters");
  const largest = Math.max(isError ? 1e-12 : 1, ...known.map(({ value }) => Math.abs(value))); // most metrics end at 1, errors nowhere
  const canChoose = known.every(({ by }) => !by);
  const lines = known.map(({ label, count, value }) => {
    const bar = make("span", { className: "chance-bar" });
    bar.style.width = `${Math.max(0.4, (100 * Math.abs(value)) / largest)}%`;
    const some = canChoose && rowsNow().some((row) => row.slice === label);
    return make("tr", {}, make("th", { scope: "row" }, some ? button(label, () => choose({ slice: label }), { kind: "quiet" }) : label),
      make("td", {}, make("span", { className: "chance-track" }, bar)), make("td", { className: "number", textContent: words.score(value) }), make("td", { className: "number note", textContent: words.number(count) }));
  });
  return make("section", { className: "tight" }, make("h2", { textContent: words("mistakes.slices") }), make("div", { className: "scroll" }, make("table", { className: "details slices-table" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col", textContent: unit }), make("th", { scope: "col" }), make("th", { scope: "col", className: "number", textContent: metric }), make("th", { scope: "col", className: "number", textContent: words("mistakes.examples") }))),
    make("tbody", {}, lines))));
}

function classPart({ classes, channels }, words, choose) {
  if (channels.length) return tablePart(words("mistakes.channels"), [words("mistakes.channel"), "MAE", "RMSE", "sMAPE %"], channels.map((one) => [one.channel, words.score(one.mae), words.score(one.rmse), words.score(one.smape)]));
  if (!classes.length) return null;
  const order = [...classes].sort((one, other) => Number(other.support > 0) - Number(one.support > 0) || (one.f1 ?? 0) - (other.f1 ?? 0));
  const head = ["mistakes.class", "mistakes.precision", "mistakes.recall", "mistakes.f1", "mistakes.support"].map((key) => words(key));
  return tablePart(words("mistakes.classes"), head, order.map((one) => [
    one.support ? button(String(one.label), () => choose({ expected: String(one.label) }), { kind: "quiet", dir: "auto" }) : make("bdi", { textContent: one.label }),
    ...["precision", "recall", "f1"].map((key) => words.score(one[key])), words.number(one.support)]));
}

function tablePart(title, head, lines) {
  return make("section", { className: "tight" }, make("h2", { textContent: title }), make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: title }, make("table", { className: "details" },
    make("thead", {}, make("tr", {}, head.map((name, at) => make("th", { scope: "col", className: at ? "number" : "", textContent: name })))),
    make("tbody", {}, lines.map(([name, ...numbers]) => make("tr", {}, make("th", { scope: "row" }, name), numbers.map((text) => make("td", { className: "number", textContent: text }))))))));
}
