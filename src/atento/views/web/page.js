// Sets up a page: its charts, its table of results, its matrices, and what can be copied.

import { showChart } from "./charts/chart.js";
import { copyButton, make } from "./charts/copying.js";
import { readableMatrix, workableBoard } from "./board.js";

/** Worst examples of one model: choose those of one class or length. */
function slicedExamples(list) {
  const items = [...list.children], slices = [...new Set(items.map((item) => item.dataset.slice).filter(Boolean))].sort();
  if (slices.length < 2) return;
  const select = make("select", { name: "slice" }, make("option", { value: "", textContent: "all" }), ...slices.map((slice) => make("option", { value: slice, textContent: slice })));
  select.addEventListener("change", () => items.forEach((item) => { item.hidden = select.value !== "" && item.dataset.slice !== select.value; }));
  list.before(make("label", { className: "slices" }, make("span", { textContent: list.dataset.slices || "Only" }), select));
}

function setUp() {
  const charts = [...document.querySelectorAll("figure[data-chart]")].map((figure) => {
    const data = JSON.parse(document.getElementById(`chart-${figure.dataset.chart}`).textContent);
    return { data, chart: showChart(figure, data) };
  });
  const followers = charts.filter(({ data }) => data.name === "learning" || data.name === "costs");
  document.querySelectorAll("table.results").forEach((table) => workableBoard(table, (names) => followers.forEach(({ chart }) => chart.hide(names))));
  document.querySelectorAll("table.matrix").forEach(readableMatrix);
  document.querySelectorAll("pre[data-copy]").forEach((block) => {
    block.before(copyButton(`Copy ${block.dataset.copy}`, block.dataset.copy, () => block.textContent));
    block.previousSibling.classList.add("copier");
  });
  document.querySelectorAll("ol.mistakes").forEach(slicedExamples);
}

setUp();
