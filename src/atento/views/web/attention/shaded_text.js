// Texts shaded by weights: the keys as one query sees them, both levels of a hierarchical model, and attributions.

import { areCharacters, make, onceAFrame, quoted, visible, written } from "./elements.js";
import { colourAt, positionOf } from "./colour_scale.js";
import { coverRegions } from "./regions.js";
import { placeIn, pointAt } from "./selection.js";
import { MEAN } from "./weights.js";

const FAINT = 0.14; // a place on the scale below which nothing is shaded: the root of 0.02
const PICTURE = 320; // side of an image, in pixels
const STRONG = 0.55; // a place on the scale above which the letters take the colour of the paper

/**
 * Show the queries as a line to choose from and the keys shaded by the weights of the chosen query; without one, by
 * the mean over all queries. Pointing at a token points at it everywhere.
 */
export function showShadedText({ state, selection }) {
  const asked = make("p", { className: "attention-text", dir: "auto" });
  const read = make("p", { className: "attention-text", dir: "auto" });
  const title = make("p", { className: "attention-note" });
  const element = make("div", { className: "attention-pane" }, asked, title, read);
  let [kept, queries, keys] = [{}, [], []];

  function redraw() {
    const { map, matrix, palette, range, threshold } = state();
    if (map !== kept.map) {
      queries = writeTokens(asked, map.queries, (index, pinned) => pointAt(map, selection, index, placeIn(map, selection).column, { pinned }));
      const alone = map.lines.query === map.lines.key; // one line of text that looks at itself: its tokens are the queries
      keys = writeTokens(read, map.keys, (index, pinned) => pointAt(map, selection, alone ? index : placeIn(map, selection).row, alone ? null : index, { pinned }));
      asked.hidden = map.rows < 2 || alone;
      kept = { map };
    }
    const place = placeIn(map, selection);
    const weights = place.row === null ? meanOfRows(matrix) : (column) => matrix.at(place.row, column);
    title.replaceChildren(...(place.row === null ? [map.rows > 1 ? `Shaded: the mean over all queries. Point at a ${asked.hidden ? "token to see where it looks" : "query above"}.` : "Shaded: the weights."] : ["Shaded: the weights of ", quoted(map.queries[place.row]), "."]));
    const shown = map.keys.map((_, column) => weights(column));
    const position = positionOf(range, Math.max(0, ...shown.filter(Number.isFinite)));
    const marked = asked.hidden && map.rows > 1 ? place.row : place.column;
    keys.forEach((token, column) => shade(token, shown[column], palette, position, threshold, column === marked));
    queries.forEach((token, row) => token.classList.toggle("here", row === place.row));
  }

  const ask = onceAFrame(redraw);
  element.addEventListener("pointerleave", () => !selection.pinned && selection.clear());
  element.addEventListener("click", (event) => event.target.dataset?.index === undefined && selection.clear());
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

  function writeTokens(line, tokens, point) {
    const spans = tokens.map((token, index) => make("span", { textContent: visible(token), data: { index } }));
    const apart = areCharacters(tokens) ? "" : " ";
    line.replaceChildren(...spans.flatMap((span) => [span, apart]));
    line.onpointerover = (event) => !selection.pinned && event.target.dataset.index && point(Number(event.target.dataset.index), false);
    line.onclick = (event) => event.target.dataset.index && point(Number(event.target.dataset.index), true);
    return spans;
  }
}

const means = new WeakMap(); // of matrices: they are asked for whenever nothing is pointed at

function meanOfRows(matrix) {
  if (!means.has(matrix)) {
    const [sums, counts] = [new Float64Array(matrix.columns), new Float64Array(matrix.columns)];
    matrix.values.forEach((weight, at) => {
      if (!Number.isFinite(weight)) return;
      sums[at % matrix.columns] += weight;
      counts[at % matrix.columns] += 1;
    });
    means.set(matrix, sums.map((sum, column) => (counts[column] ? sum / counts[column] : NaN)));
  }
  return (column) => means.get(matrix)[column];
}

function shade(token, weight, palette, position, threshold, here) {
  const place = position(weight);
  const seen = weight >= threshold && place >= FAINT;
  const look = [seen ? `rgb(${colourAt(palette.scale, place)})` : "", seen ? (place > STRONG ? palette.paper : palette.text) : "", here ? `2px solid ${palette.mark}` : ""];
  if (token.shaded === look.join()) return; // of a long text most tokens stay as they are
  token.shaded = look.join();
  [token.style.background, token.style.color, token.style.outline] = look;
}

/**
 * Show a document as a hierarchical model read it: a bar for the weight of each sentence, and in it the words shaded
 * by their weights within the sentence. `words` has a row for each sentence, `sentences` a column for each.
 */
export function showHierarchy({ state, selection, words, sentences }) {
  const rows = make("div", { className: "attention-sentences" });
  const element = make("div", { className: "attention-pane" }, make("p", { className: "attention-note", textContent: "The bar is the weight of a sentence, the shading the weight of each word within it." }), rows);
  const lines = [];

  function build() {
    const [inside] = [words.matrix(words.layers - 1, MEAN)];
    for (let sentence = 0; sentence < sentences.columns; sentence += 1) {
      const bar = make("span", { className: "attention-bar" });
      const number = make("span", { className: "attention-number" });
      const text = make("p", { className: "attention-text", dir: "auto" });
      const found = words.keys.map((token, column) => ({ token, column })).filter(({ column }) => Number.isFinite(inside.at(sentence, column)));
      const spans = found.map(({ token, column }) => {
        const span = make("span", { textContent: visible(token) });
        span.addEventListener("pointerenter", () => pointAt(words, selection, sentence, column));
        return { span, column };
      });
      const apart = areCharacters(words.keys) ? "" : " ";
      text.append(...spans.flatMap(({ span }) => [span, apart]));
      rows.append(make("div", { className: "attention-sentence" }, make("div", { className: "attention-weight" }, bar, number), text));
      lines.push({ bar, number, spans });
    }
  }

  function redraw() {
    if (!lines.length) build();
    const { palette, threshold } = state();
    const outer = sentences.matrix(sentences.layers - 1, MEAN);
    const inside = words.matrix(words.layers - 1, MEAN);
    const place = placeIn(words, selection);
    lines.forEach(({ bar, number, spans }, sentence) => {
      const weight = outer.at(outer.rows - 1, sentence);
      bar.style.width = `${Math.max(1, 100 * (Number.isFinite(weight) ? weight : 0))}%`;
      bar.style.background = `rgb(${colourAt(palette.scale, 0.75)})`;
      number.textContent = written(weight);
      const position = positionOf("root", inside.largest);
      spans.forEach(({ span, column }) => {
        const value = inside.at(sentence, column);
        span.title = written(value);
        shade(span, value, palette, position, threshold, place.row === sentence && place.column === column);
      });
    });
  }

  element.addEventListener("pointerleave", () => !selection.pinned && selection.clear());
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

/** Show how much each source token moved the output: blue for, orange against. */
export function showAttribution({ state, attribution, image, grid }) {
  const line = make("p", { className: "attention-text", dir: "auto" });
  const picture = make("canvas", { className: "region-large", role: "img", ariaLabel: "how much each region moved the output" });
  const drawn = image && grid && grid[0] * grid[1] === attribution.tokens.length ? make("img", { src: image }) : null;
  drawn?.decode().then(() => redraw(), () => picture.remove());
  const largest = Math.max(1e-12, ...attribution.values.map((value) => Math.abs(value)).filter(Number.isFinite));
  const apart = areCharacters(attribution.tokens) ? "" : " ";
  const spans = attribution.tokens.map((token, index) => make("span", { textContent: visible(token), title: signed(attribution.values[index]) }));
  line.append(...spans.flatMap((span) => [span, apart]));
  const strongest = attribution.values.map((value, index) => ({ value, index })).filter(({ value }) => Number.isFinite(value)).sort((one, other) => Math.abs(other.value) - Math.abs(one.value)).slice(0, 3);
  const most = strongest.flatMap(({ value, index }, at) => [at ? ", " : "", quoted(attribution.tokens[index]), ` ${signed(value)}`]);
  const about = make("p", { className: "attention-note" }, `Blue speaks for ${attribution.target || "the output"}, orange against it. Most: `, ...most, ".");
  const percent = Math.abs(100 * attribution.remainder);
  const gap = Number.isFinite(percent) ? ` Together the values miss ${percent < 0.1 ? "less than 0.1" : percent.toFixed(1)} % of that change.` : "";
  const caution = make("p", {
    className: "attention-caution",
    textContent:
      `Attention weights say how values are mixed inside one layer, not what the output depends on. ${capital(attribution.method || "attribution")} adds up how the output changes ` +
      `from an input without content to this one; it depends on that starting point, and tokens that matter only together share one credit.${gap}`,
  });
  const element = make("div", { className: "attention-pane attention-attribution" }, make("h4", { textContent: capital(attribution.method || "attribution") }), drawn ? picture : line, about, caution);

  function redraw() {
    const { palette, detail } = state();
    if (drawn?.naturalWidth) {
      const covers = attribution.values.map((value) => ({ colour: (value > 0 ? palette.more : palette.less).split(",").map(Number), cover: (0.85 * Math.abs(value)) / largest }));
      coverRegions(picture, drawn, covers, grid, Math.round(PICTURE * Math.max(detail, 2)));
    }
    spans.forEach((span, index) => {
      const value = attribution.values[index];
      const share = Number.isFinite(value) ? Math.abs(value) / largest : 0;
      span.style.background = share > 0.02 ? `rgba(${value > 0 ? palette.more : palette.less}, ${(0.85 * share).toFixed(3)})` : "";
      span.style.color = share > 0.6 ? palette.paper : "";
    });
  }

  return { element, redraw, ask: redraw, remove: () => element.remove() };
}

function signed(value) {
  return Number.isFinite(value) ? `${value > 0 ? "+" : "−"}${written(Math.abs(value))}` : "no number";
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
