// The score of a finished run: its interval on one scale with the simple baselines.

import { make, said } from "../elements.js";

const STANDINGS = { better: "result.baseline_better", tied: "result.tied", worse: "result.model_better" };

/** Nothing, or a section with the score. */
export function resultOf(run, words) {
  const { metrics } = run;
  if (run.state !== "finished" || !metrics?.scores?.[metrics.metric]) return [];
  const [value, low, high] = metrics.scores[metrics.metric];
  const simple = Object.entries(metrics.baselines?.scores ?? {}).filter(([, score]) => Number.isFinite(score));
  const ends = [low, high, value, ...simple.map(([, score]) => score)].filter(Number.isFinite);
  const inside = ends.every((one) => one >= 0 && one <= 1);
  const [from, to] = inside ? [0, 1] : [Math.min(...ends), Math.max(...ends)];
  const place = (score) => `${(100 * (score - from)) / (to - from || 1)}%`;
  const standing = STANDINGS[metrics.baselines?.standing];
  return [make("section", { className: "result" },
    make("p", { className: "verdict" }, said(metrics.metric), " ", make("strong", { textContent: words.score(value) }), " ",
      make("span", { className: "note", textContent: words("result.interval", { low: words.score(low), high: words.score(high), count: metrics.examples }) })),
    metrics.metrics?.[metrics.metric] ? said(metrics.metrics[metrics.metric], "p", { className: "note" }) : null,
    standing ? make("p", { textContent: words(standing, { name: metrics.baselines.best }) }) : null,
    make("ul", { className: "levels" },
      level(run.model, value, [low, high], place, words, "own"),
      simple.sort(([, one], [, other]) => (metrics.smaller_is_better ? one - other : other - one)).map(([name, score]) => level(name, score, null, place, words, "simple"))),
    make("p", { className: "note" }, said(metrics.ended ?? "")))];
}

function level(name, score, interval, place, words, kind) {
  const dot = make("span", { className: "level-dot" }), whisker = interval && make("span", { className: "level-interval" });
  dot.style.left = place(score);
  if (whisker && interval.every(Number.isFinite)) {
    whisker.style.left = place(interval[0]);
    whisker.style.width = `calc(${place(interval[1])} - ${place(interval[0])})`;
  }
  return make("li", { className: kind }, make("bdi", { className: "level-name", textContent: name }), make("span", { className: "level-room", aria: { hidden: "true" } }, whisker, dot),
    make("span", { className: "level-score", textContent: words.score(score) }));
}
