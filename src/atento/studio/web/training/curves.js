// Learning curves that grow while one looks: the charts of the report, fed with the events of running models.

import { showChart } from "/static/charts/chart.js";
import { chartTexts } from "../chart_texts.js";
import { make } from "../elements.js";
import { tablesOf } from "./history.js";

const HEIGHT = 320; // pixels

/**
 * Two charts, of the losses and of the validation metrics, for series { name, colour, history }. Each chart appears with
 * its first point; `update` puts new points in without touching the zoom or the chosen axes.
 */
export function learningCurves(words, { metric = () => null } = {}) {
  const box = make("div", { className: "curves-row" });
  const charts = {};
  const across = [{ key: "elapsed", name: words("watch.axis_time"), kind: "duration" }, { key: "step", name: words("watch.axis_steps") }].map(axisOf);

  function put(name, y, series) {
    const drawn = series.map(({ name: own, colour, history }) => ({ name: own, colour, tables: tablesOf(history), levels: {}, style: "" })).filter(({ tables }) => y.some((axis) => tables[axis.table]?.[axis.key]));
    if (!drawn.length) return;
    const known = y.map(({ key, beside }) => `${key} ${beside}`).join();
    if (charts[name]?.known === known) {
      charts[name].data.series = drawn;
      charts[name].chart.redraw();
      return;
    }
    const figure = make("figure", { className: "live", data: { chart: name } });
    const before = charts[name];
    if (before) before.figure.replaceWith(figure);
    else box.append(figure);
    const data = { name, label: words(name === "losses" ? "watch.chart_losses" : "watch.chart_scores"), x: across, y, series: drawn, kind: "lines", smoothing: true, begins: null, height: HEIGHT, texts: chartTexts(words) };
    const chart = showChart(figure, data);
    charts[name] = { known, data, figure, chart };
    if (before?.chart.state.zoom) {
      chart.state.zoom = before.chart.state.zoom;
      chart.redraw();
    }
  }

  return {
    element: box,
    update(series) {
      const held = series.some(({ history }) => history.validations.some(({ loss }) => loss !== null));
      put("losses", [
        axisOf({ key: "loss", name: words(held ? "watch.axis_losses" : "watch.axis_loss"), table: "training", beside: held ? "validation loss" : "" }),
        axisOf({ key: "learning rate", name: words("watch.axis_rate"), table: "training" }),
        axisOf({ key: "examples per second", name: words("watch.axis_speed"), table: "training" }),
      ], series);
      const names = [...new Set(series.flatMap(({ history }) => history.metrics))];
      const headline = metric();
      if (names.includes(headline)) names.unshift(...names.splice(names.indexOf(headline), 1));
      if (names.length) put("scores", names.map((key) => axisOf({ key, name: words("watch.axis_metric", { metric: key }), table: "validation" })), series);
    },
  };
}

function axisOf(axis) {
  return { table: "points", kind: "number", smaller_is_better: null, log: false, beside: "", limits: null, ...axis };
}
