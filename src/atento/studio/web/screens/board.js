// A comparison that has ended: all models by quality with their intervals, what each cost, and the whole report.

import { showChart } from "/static/charts/chart.js";
import { element as drawn } from "/static/charts/drawing.js";
import { button, make, said } from "../elements.js";
import { framed } from "../inside/frames.js";
import { loading, runHead } from "../inside/run_head.js";
import { placeOf } from "../places.js";
import { sameDrawer } from "../same.js";

const STRIP = { width: 150, height: 28, margin: 8 };
const COLOURS = 8; // that lines have
const COSTS = [
  { key: "parameters", name: "board.parameters", kind: "number", smaller_is_better: true, log: true, text: (value, words) => words.number(value) },
  { key: "seconds", name: "board.training_time", kind: "duration", smaller_is_better: true, log: true, text: (value, words) => words.time(value) },
  { key: "predictions_per_second", name: "board.predictions_per_second", kind: "rate", smaller_is_better: false, log: true, text: (value, words) => words.number(value) },
  { key: "peak_mb", name: "board.peak_memory", kind: "memory", smaller_is_better: true, log: false, text: (value, words) => `${words.number(value)} MB` },
];

export const path = "/runs/:id/board";
export const title = (words) => words("links.board");

export async function show(box, { params, api, words }) {
  const loaded = loading(box, words);
  const [run, board] = await Promise.all([api.get(api.run(params.id)), api.get(api.run(params.id, "board"))]);
  loaded();
  const rows = ranked(board);
  const report = reportPart(params.id, words);
  box.append(
    runHead(run, "board", words),
    ...verdict(board, rows, words),
    resultsTable(params.id, board, rows, words),
    failures(board, words) ?? "",
    costChart(board, rows, words) ?? "",
    report,
    sameDrawer(run.same ?? { command: board.command }, words));
}

function ranked(board) {
  const sign = board.smaller_is_better ? 1 : -1;
  return board.rows.filter((row) => !row.failed && Number.isFinite(row.value))
    .sort((one, other) => sign * (one.value - other.value) || Number(other.model === board.winner) - Number(one.model === board.winner));
}

function verdict(board, rows, words) {
  if (!rows.length) return [make("p", { className: "verdict", textContent: words("board.nothing") })];
  const best = rows.find((row) => row.model === board.winner) ?? rows[0];
  const name = (model) => make("bdi", { textContent: model });
  const values = { metric: board.metric, value: words.score(best.value), low: words.score(best.low), high: words.score(best.high), model: name(best.model) };
  const others = make("span", {}, ...(board.ties ?? []).flatMap((model, at) => [at ? ", " : "", name(model)]));
  const trained = rows.find((row) => !row.baseline);
  return [
    make("p", { className: "verdict" }, ...(board.ties?.length ? words.parts("board.tie", { ...values, others }) : words.parts("board.winner", values))),
    best.baseline && trained ? make("p", { className: "more" }, ...words.parts("board.baseline_best", { model: name(trained.model), metric: board.metric, value: words.score(trained.value) })) : "",
    make("details", { className: "rest" }, make("summary", { textContent: words("board.in_full") }), (board.verdict ?? []).map((sentence) => said(sentence, "p", { className: "note" }))),
  ];
}

function standing(board, row, words) {
  const marks = [];
  if ((board.ties ?? []).includes(row.model) || (row.model === board.winner && board.ties?.length)) marks.push(["tied", words("board.tied")]);
  else if (row.model === board.winner) marks.push(["winner", words("board.best")]);
  if (row.baseline) marks.push(["baseline-word", words("board.baseline")]);
  if (row.improving) marks.push(["", words("board.improving")]);
  return marks.map(([kind, text]) => make("span", { className: `word ${kind}`, textContent: text }));
}

function columnsOf(board, words) {
  const others = Object.keys(board.metrics).filter((name) => name !== board.metric);
  return [
    { name: words("board.model"), of: (row) => row.model, first: "ascending" },
    { name: board.metric, of: (row) => row.value, first: board.smaller_is_better ? "ascending" : "descending", meaning: board.metrics[board.metric] },
    ...others.map((name) => ({ name, of: (row) => row.scores[name]?.[0] ?? null, first: "descending", text: words.score, meaning: board.metrics[name] })),
    ...COSTS.map(({ key, name, text }) => ({ name: words(name), of: (row) => (key === "parameters" && row.baseline ? null : row[key]), first: "descending", text: (value) => text(value, words) })),
  ];
}

function resultsTable(id, board, rows, words) {
  const columns = columnsOf(board, words);
  const scale = scaleOf(rows);
  const body = make("tbody", { role: "rowgroup" });
  const lines = new Map(rows.map((row) => [row, lineOf(id, board, row, columns, scale, words)]));
  const heads = columns.map((column, at) => {
    return make("th", { scope: "col", role: "columnheader", className: at ? "number" : "", title: column.meaning ?? "" }, button(column.name, () => sort(at), { kind: "sorter" }));
  });
  const choice = make("select", { name: "sort" }, columns.map(({ name }, at) => make("option", { value: at, textContent: name })));
  choice.addEventListener("change", () => sort(Number(choice.value), columns[choice.value].first));
  const said = make("p", { className: "hidden", role: "status" });

  function sort(at, wanted) {
    const column = columns[at];
    const now = heads[at].getAttribute("aria-sort");
    const way = wanted ?? (now ? (now === "ascending" ? "descending" : "ascending") : column.first);
    const sign = way === "ascending" ? 1 : -1;
    const order = [...rows].sort((one, other) => {
      const [a, b] = [column.of(one), column.of(other)];
      if (typeof a === "string") return sign * a.localeCompare(b);
      if (!Number.isFinite(a) || !Number.isFinite(b)) return Number(Number.isFinite(b)) - Number(Number.isFinite(a));
      return sign * (a - b);
    });
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[at].setAttribute("aria-sort", way);
    choice.value = String(at);
    body.replaceChildren(...order.map((row) => lines.get(row)));
    said.textContent = words("board.sorted", { column: column.name });
  }

  const first = heads.slice(0, 2), rest = heads.slice(2);
  const strip = make("th", { scope: "col", role: "columnheader", className: "interval-head", textContent: words("board.interval") });
  const table = make("table", { className: "results board-table", role: "table" },
    make("caption", { className: "hidden", textContent: words("board.caption", { metric: board.metric }) }),
    make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, first, strip, rest)), body);
  sort(1, columns[1].first);
  said.textContent = "";
  return make("section", { className: "tight" },
    make("label", { className: "sort-choice" }, `${words("board.sort_by")} `, choice),
    make("div", { className: "scroll", role: "region", ariaLabel: words("board.results"), tabIndex: 0 }, table), said);
}

function lineOf(id, board, row, columns, scale, words) {
  const link = row.folder ? make("a", { href: placeOf("runs", `${id}/${row.folder}`, ...(row.baseline ? ["mistakes"] : [])) }, make("bdi", { textContent: row.model })) : make("bdi", { textContent: row.model });
  const main = make("td", { className: "number main", role: "cell", data: { label: board.metric } },
    make("span", {}, make("strong", { textContent: words.score(row.value) }), make("span", { className: "bounds", textContent: `${words.score(row.low)}–${words.score(row.high)}` })));
  const cells = columns.slice(2).map(({ name, of, text }) => make("td", { className: "number", role: "cell", data: { label: name }, textContent: Number.isFinite(of(row)) ? text(of(row)) : "–" }));
  return make("tr", { role: "row", className: row.model === board.winner ? "winner" : "", data: { model: row.model } },
    make("th", { scope: "row", role: "rowheader", title: row.summary ?? "" }, link, " ", standing(board, row, words)),
    main, make("td", { className: "interval", role: "cell" }, stripOf(row, scale, row.model === board.winner)), cells);
}

function scaleOf(rows) {
  const ends = rows.flatMap((row) => [row.low, row.high, row.value]).filter(Number.isFinite);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const room = STRIP.width - 2 * STRIP.margin;
  return (value) => STRIP.margin + (most > least ? ((value - least) / (most - least)) * room : room / 2);
}

function stripOf(row, scale, accent) {
  const middle = STRIP.height / 2;
  const parts = [];
  if (Number.isFinite(row.low) && Number.isFinite(row.high)) {
    const [low, high] = [scale(row.low), scale(row.high)];
    parts.push(drawn("path", { class: "whisker", d: `M${low} ${middle - 4}v8M${high} ${middle - 4}v8M${low} ${middle}H${high}` }));
  }
  parts.push(drawn("circle", { class: accent ? "dot accent" : "dot", cx: scale(row.value), cy: middle, r: 4 }));
  return drawn("svg", { class: "chart strip", viewBox: `0 0 ${STRIP.width} ${STRIP.height}`, width: STRIP.width, height: STRIP.height, "aria-hidden": "true" }, ...parts);
}

function failures(board, words) {
  const failed = board.rows.filter((row) => row.failed);
  if (!failed.length) return null;
  return make("section", { className: "tight" }, make("h2", { textContent: words("board.failed") }),
    make("ul", {}, failed.map((row) => make("li", {}, make("strong", {}, make("bdi", { textContent: row.model })), ": ", said(row.failed)))));
}

function costChart(board, rows, words) {
  const costs = COSTS.filter(({ key }) => new Set(rows.map((row) => row[key]).filter(Number.isFinite)).size > 1);
  if (!costs.length || rows.length < 2) return null;
  const axis = (key, name, more) => ({ key, name, table: "points", kind: "number", smaller_is_better: null, log: false, beside: "", limits: null, ...more });
  const metrics = [board.metric, ...Object.keys(board.metrics).filter((name) => name !== board.metric)];
  const colours = [...rows].sort((one, other) => Number(other.model === board.winner) - Number(one.model === board.winner)).map((row) => row.model);
  const data = {
    name: "costs",
    label: words("board.against_cost", { metric: board.metric }),
    kind: "scatter",
    x: costs.map((cost) => axis(cost.key, words(cost.name), { kind: cost.kind, smaller_is_better: cost.smaller_is_better, log: cost.log })),
    y: metrics.map((name) => axis(name, name, { smaller_is_better: name === board.metric ? board.smaller_is_better : null })),
    series: rows.map((row) => ({ name: row.model, colour: colours.indexOf(row.model) % COLOURS, style: row.baseline ? "baseline" : "", levels: {}, tables: { points: pointOf(board, row) } })),
    smoothing: false,
    begins: null,
    height: 420,
  };
  const figure = make("figure", { className: "live" });
  const section = make("section", { className: "tight" }, make("h2", { textContent: words("board.against_cost", { metric: board.metric }) }), make("p", { className: "note", textContent: words("board.cost_note") }), figure);
  showChart(figure, data);
  return section;
}

function pointOf(board, row) {
  const columns = Object.fromEntries(COSTS.map(({ key }) => [key, [row[key] ?? null]]));
  const scores = { ...row.scores, [board.metric]: [row.value, row.low, row.high] };
  Object.entries(scores).forEach(([name, ends]) => ["", " low", " high"].forEach((end, at) => { columns[name + end] = [Number.isFinite(ends[at]) ? ends[at] : null]; }));
  return columns;
}

function reportPart(id, words) {
  const place = make("div");
  const address = `/pages/${encodeURIComponent(id)}/report.html`;
  const open = button(words("board.show_report"), () => {
    open.hidden = true;
    place.append(framed(address, words("board.report")));
  });
  return make("section", { className: "tight" }, make("h2", { textContent: words("board.report") }), make("p", { className: "note", textContent: words("board.report_note") }), open, place);
}
