// How far a run is and how fast: share done, time, speed, step, loss.

import { fact, make, progressBar } from "../elements.js";

export function liveFacts(words) {
  const box = make("section", { className: "live-facts", ariaLabel: words("watch.facts") });
  return {
    element: box,
    update(history, state) {
      const { last, finished, start, validations } = history;
      box.hidden = state !== "running" && !last.step;
      const share = finished || state === "finished" ? 1 : last.progress;
      const left = state === "running" && last.progress > 0 && !finished ? (last.elapsed * (1 - last.progress)) / last.progress : null;
      const newest = validations.at(-1), [metric] = Object.keys(newest?.metrics ?? {});
      const shown = [
        ["watch.share", Number.isFinite(share) ? words.percent(Math.min(share, 1)) : "–"],
        ["watch.elapsed", words.time(last.elapsed)],
        ...(left === null ? [] : [["watch.left", words.time(left)]]),
        ["watch.speed", Number.isFinite(last.examples_per_second) ? words.number(last.examples_per_second) : "–"],
        ["watch.step", Number.isFinite(last.step) ? words.number(last.step) : "–"],
        ["watch.loss", words.score(last.loss)],
        ...(metric ? [[null, words.score(newest.metrics[metric]), metric]] : []),
        ...(start?.parameters ? [["watch.parameters", words.number(start.parameters)]] : []),
      ];
      box.replaceChildren(
        state === "running" ? progressBar(share, words("watch.share")) : "",
        make("dl", { className: "fact-row" }, shown.map(([key, value, name]) => fact(key ? words(key) : words("watch.axis_metric", { metric: name }), value))),
        state === "running" ? make("p", { className: "note", textContent: words(finished ? "watch.testing" : last.step ? "watch.learning" : "watch.preparing") }) : "",
      );
    },
  };
}
