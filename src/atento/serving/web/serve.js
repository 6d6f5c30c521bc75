// Try a served model: a form that fits its input, the answer with its probabilities, and what it attended to.

import { make } from "/static/attention/elements.js";
import { showAttention } from "/static/attention/gallery.js";

const MOST_BARS = 10;
const LONG = 60; // characters of an answer that is written smaller
const at = (id) => document.getElementById(id);

const card = await (await fetch("/model")).json();
const forms = { text: textForm, "two texts": pairForm, words: wordsForm, numbers: numbersForm, series: numbersForm, image: imageForm, "image and question": questionForm };
const readRow = (forms[card.input] ?? textForm)(at("form"));
const wantsAttention = make("input", { type: "checkbox", checked: card.attends });
const send = make("button", { type: "submit", textContent: card.streams ? "Write" : "Answer" });
at("form").append(make("div", { className: "row" }, send, card.attends ? make("label", {}, wantsAttention, "show what it attends to") : ""));
at("title").textContent = card.summary.replace(/\.$/, "");
document.title = `atento: ${card.task}`;
const labels = card.labels.length ? `; ${card.labels.length} labels: ${card.labels.slice(0, 6).join(", ")}${card.labels.length > 6 ? " …" : ""}` : "";
at("facts").textContent = `${card.model}, model ${card.id}${labels}`;
at("form").addEventListener("submit", ask);
at("form").addEventListener("input", showCommand);
at("form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("form").requestSubmit();
});
showCommand();

function area(form, name, title, note = "", properties = {}) {
  const box = make("textarea", { name, rows: 3, required: true, dir: "auto", ...properties });
  form.append(make("label", {}, title, box, make("span", { className: "note", textContent: note })));
  return box;
}

function textForm(form) {
  const box = area(form, "text", card.output === "completion" ? "A text to go on from" : "A text", card.output === "completion" ? "___ is a blank to be filled" : "Ctrl-Enter answers");
  return () => ({ text: box.value });
}

function pairForm(form) {
  const [first, second] = [area(form, "first", "The first text"), area(form, "second", "The second text", "Ctrl-Enter answers")];
  return () => ({ first: first.value, second: second.value });
}

function wordsForm(form) {
  const box = area(form, "words", "Words", "separated by spaces; a punctuation mark is a word of its own");
  return () => ({ words: box.value.split(/\s+/).filter(Boolean) });
}

function numbersForm(form) {
  const several = card.channels.length > 1;
  const wanted = card.look_back ? `at least ${card.look_back} ${card.look_back === 1 ? "row" : "rows"}, the newest last` : "any number of steps";
  const note = several ? `a row for each step: ${card.channels.slice(0, 6).join(", ")}${card.channels.length > 6 ? " …" : ""}, separated by commas; ${wanted}` : `numbers separated by spaces or lines; ${wanted}`;
  const box = area(form, "values", "Numbers", note, { className: "numbers", rows: 8, spellcheck: false });
  const numbers = (line) => line.split(/[\s,;]+/).filter(Boolean).map(Number);
  return () => ({ values: several ? box.value.trim().split(/\n+/).map(numbers) : numbers(box.value) });
}

function imageForm(form) {
  const file = make("input", { type: "file", accept: "image/*", required: true });
  const preview = make("img", { className: "preview", alt: "the image", hidden: true });
  let bytes = "";
  file.addEventListener("change", async () => {
    const url = await new Promise((done) => {
      const reader = new FileReader();
      reader.addEventListener("load", () => done(reader.result));
      reader.readAsDataURL(file.files[0]);
    });
    bytes = url.slice(url.indexOf(",") + 1);
    Object.assign(preview, { src: url, hidden: false });
    showCommand();
  });
  form.append(make("label", {}, "An image", file), preview);
  return () => ({ image: bytes });
}

function questionForm(form) {
  const image = imageForm(form);
  const question = make("input", { type: "text", required: true });
  form.append(make("label", {}, "A question about it", question));
  return () => ({ ...image(), question: question.value });
}

function showCommand() {
  const row = readRow();
  if (row.image) row.image = "BASE64";
  const body = JSON.stringify({ rows: [row], ...(wantsAttention.checked && card.attends ? { attention: true } : {}) });
  at("command").textContent = `curl ${location.origin}/predict -H 'Content-Type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;
}

async function ask(event) {
  event.preventDefault();
  send.disabled = true;
  at("attention").replaceChildren();
  try {
    const row = readRow();
    if (card.streams) await writeText(row);
    if (!card.streams || (card.attends && wantsAttention.checked)) await answer(row);
  } catch (error) {
    at("result").replaceChildren(make("p", { className: "problem", textContent: "The server cannot be reached." }), make("p", { className: "note", textContent: String(error) }));
  }
  send.disabled = false;
}

const post = (path, body) => fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

async function answer(row) {
  const response = await post("/predict", { rows: [row], attention: card.attends && wantsAttention.checked });
  const found = await response.json();
  const [result] = found.results ?? [found];
  if (result.error) return showProblem(result.error);
  if (!card.streams) at("result").replaceChildren(...shown(result.answer, row), made(found.model));
  if (result.attention) showWeights(result.attention);
}

async function writeText(row) {
  const response = await post("/stream", { row });
  if (!response.ok) return showProblem((await response.json()).error);
  const given = card.output === "completion" && !row.text.includes("___") ? row.text : "";
  const text = make("span", {});
  const model = make("p", { className: "note" });
  at("result").replaceChildren(make("p", { className: "answer-text long", dir: "auto" }, make("span", { className: "given", textContent: given }), text), model);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let [rest, part] = ["", await reader.read()]; !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split("\n");
    rest = lines.pop();
    for (const line of lines.map((one) => JSON.parse(one))) {
      if (line.error) return showProblem(line.error);
      if (line.piece !== undefined) text.textContent += line.piece;
      if (line.answer) {
        text.textContent = given && line.answer.text.startsWith(given) ? line.answer.text.slice(given.length) : line.answer.text;
        model.textContent = `log-probability ${line.answer.log_probability?.toFixed(3).replace("-", "−") ?? "unknown"}; model ${line.model}`;
      }
    }
  }
}

function showProblem({ problem, found, fix }) {
  at("result").replaceChildren(make("p", { className: "problem", textContent: problem }), ...[["found", found], ["fix", fix]].filter(([, text]) => text).map(([name, text]) => make("p", { className: "note", textContent: `${name}: ${text}` })));
}

const made = (model) => make("p", { className: "note", textContent: `model ${model}` });
const large = (text) => make("p", { className: text.length > LONG ? "answer-text long" : "answer-text", dir: "auto", textContent: text });
const rounded = (number) => (number === null ? "–" : Number(number.toPrecision(6)).toString());

function shown(answer, row) {
  if (card.output === "label") return [large(answer.label), bars(answer.probabilities, [answer.label])];
  if (card.output === "labels") return [large(answer.labels.join(", ") || "none"), bars(answer.probabilities, answer.labels)];
  if (card.output === "tags") return [make("p", { className: "tags" }, ...answer.tags.map((tag, index) => make("span", {}, make("bdi", { textContent: row.words[index] ?? "" }), make("small", { textContent: tag }))))];
  if (card.output === "number") return [large(rounded(answer.number))];
  if (card.output === "forecast") return [table(answer.forecast, card.channels)];
  if (card.output === "window") return [make("p", { textContent: `latent: ${answer.latent.map(rounded).join(", ")}` }), table(answer.window, card.channels)];
  if (card.output === "neighbours") return [large(answer.words.join(", ") || "no word is known")];
  return [large(answer.text)];
}

function bars(probabilities, said) {
  const known = Object.entries(probabilities ?? {}).sort((one, other) => other[1] - one[1]).slice(0, MOST_BARS);
  return make("ol", { className: "chances", ariaLabel: "probabilities" }, ...known.map(([label, share]) => {
    const bar = make("span", { className: "bar" });
    bar.style.width = `${Math.max(0.5, 100 * share)}%`;
    return make("li", { className: said.includes(label) ? "said" : "" }, make("bdi", { textContent: label }), make("span", { className: "track" }, bar), make("span", { className: "value", textContent: `${(100 * share).toFixed(1)} %` }));
  }));
}

function table(rows, names) {
  const head = make("tr", {}, make("th", { textContent: "step" }), ...names.map((name) => make("th", { textContent: name })));
  const lines = rows.map((row, index) => make("tr", {}, make("td", { textContent: String(index + 1) }), ...row.map((number) => make("td", { textContent: rounded(number) }))));
  return make("div", { className: "scrolled", tabIndex: 0 }, make("table", {}, head, ...lines));
}

function showWeights({ source = [], output = [], text = "", score, weights = [], image, grid, explanation }) {
  const [layers, heads, rows, columns] = [weights.length, weights[0]?.length ?? 0, weights[0]?.[0]?.length ?? 0, weights[0]?.[0]?.[0]?.length ?? 0];
  const box = at("attention");
  if (!layers * heads * rows * columns) return box.replaceChildren(make("p", { className: "note", textContent: explanation ?? "This model attends to nothing." }));
  const map = { name: "attention", kind: "cross", queries: output.slice(0, rows), keys: source, shape: [layers, heads, rows, columns], weights: weights.flat(3), ...(grid ? { grid } : {}) };
  const holder = make("div", { className: "viewer-box" });
  box.replaceChildren(make("h2", { textContent: "What it attended to" }), holder);
  showAttention(holder, [{ model: card.model, source: source.join(" "), output: text, score, explanation, maps: [map], ...(image ? { image } : {}) }]);
}
