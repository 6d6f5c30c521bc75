"""The rows of a comparison and the verdict on them: who won, who tied, and what that means in words."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple, TypedDict

from atento.api.comparison.more_time import more_time
from atento.api.comparison.simple import FAILURES
from atento.api.comparison.workers import Job
from atento.api.finish import still_improving
from atento.api.fit import NO_CLOSED_FORM
from atento.bundle import METRICS, RECIPE, is_finished, read_json, read_outputs
from atento.data.examples.batches import sample_of
from atento.data.records import in_words
from atento.errors import RunError
from atento.metrics.bootstrap import BandFunction, Runs, evaluate_runs, length_bands, tied
from atento.metrics.metric import Metric
from atento.models.builders.recurrent import CELLS
from atento.models.names import ModelName
from atento.tasks.task import Baseline, Dataset, EvaluationExample
from atento.training.events import EventCallback
from atento.views.report.board import Row
from atento.views.wording import quality
from atento.views.wording import score as number

TEST = "paired bootstrap, 95 %"
MOST_NAMED = 8  # models in one sentence
CLOSED_FORM = "closed form"  # what a model is the same as where no baseline is
SAME = 1e-4  # relative difference of two values that are equal but for rounding
AVERAGED = ("seconds", "examples_per_second", "predictions_per_second", "peak_mb", "epochs")


class Verdict(TypedDict):
    """What a comparison says: the winner, those that tie with it, and a few plain sentences."""

    winner: str | None
    ties: list[str]
    verdict: list[str]


def judge(
    rows: Sequence[Row], outputs: Mapping[str, Runs], references: Any, metric: Metric, *, writes: bool = True
) -> Verdict:
    """The winner, those whose paired difference from it may be zero, and a few plain sentences; where models write
    what they read anew, also what attention buys on long sources.
    """
    ran = [row for row in rows if not row.failed]
    if not ran:
        return {"winner": None, "ties": [], "verdict": ["Every model failed; the reasons stand in the table."]}
    if not len(references):
        return {"winner": None, "ties": [], "verdict": ["There are no test rows, so no model has a score."]}
    best = max(ran, key=lambda row: (metric.to_maximize(row.interval.value), row.baseline, -row.parameters))
    mark_unmoved(ran)
    for row in ran:
        row.tied = are_the_same(row, best) or tied(metric, outputs[best.model], outputs[row.model], references)
    ties = [row.model for row in ran if row.tied and row is not best]
    if best.interval.value <= 0 and not metric.smaller_is_better:  # nothing to rank
        nobody = f"No model gets above 0 in {metric.name}. Try a larger --budget, or more rows to learn from."
        return {"winner": best.model, "ties": ties, "verdict": [nobody]}
    sentences = [headline(best, ties, ran, metric), *simplest(ran), *against_baseline(best, ran, metric)]
    sentences += [
        *unmoved(ran),
        *(more_time(ran, metric) or out_of_time(ran)),
        *(memory(ran, metric) if writes else []),
    ]
    return {"winner": best.model, "ties": ties, "verdict": sentences}


def score(row: Row) -> str:
    """0.987 (0.981–0.992)."""
    return quality(row.value, row.low, row.high)


def headline(best: Row, ties: Sequence[str], ran: Sequence[Row], metric: Metric) -> str:
    """The result in one line; of several that tie none is called best."""
    if ties:
        names = in_words([best.model, *ties], limit=MOST_NAMED)
        return f"{names} tie: {metric.name} {score(best)} at best; the differences may be chance ({TEST})."
    if len(ran) == 1:
        return f"{best.model}: {metric.name} {score(best)}."
    return f"{best.model} is best: {metric.name} {score(best)}. Every other model is significantly worse ({TEST})."


def simplest(ran: Sequence[Row]) -> list[str]:
    """Among equals the smallest is worth naming."""
    equals = [row for row in ran if row.tied and not row.baseline]
    if len([row for row in ran if row.tied]) < 2 or not equals:
        return []
    small = min(equals, key=lambda row: row.parameters)
    quick = max(equals, key=lambda row: row.predictions_per_second or 0.0)
    of = "the trained ones" if any(row.tied and row.baseline for row in ran) else "them"
    text = f"The smallest of {of} is {small.model} ({small.parameters:,} parameters)"
    rate = f"{quick.predictions_per_second:,.0f} answers per second"
    if small is quick:
        return [f"{text}; it is also the fastest ({rate})."]
    return [f"{text}, the fastest {quick.model} ({rate})."]


def against_baseline(best: Row, ran: Sequence[Row], metric: Metric) -> list[str]:
    """A simple model that wins, or ties, is named, with the folder that holds it."""
    simple = sorted((row for row in ran if row.baseline), key=lambda row: -metric.to_maximize(row.interval.value))
    equals = [row for row in simple if row.tied]
    if equals:
        first = best if best.baseline else equals[0]
        kept = f" It is kept as a run in the folder {first.folder}." if first.folder else ""
        if first.interval.value >= 1 and not metric.smaller_is_better:  # nothing is left to learn
            return [f"The simple baseline {first.model} makes no mistake on the test part.{kept}"]
        if len(equals) < len([row for row in ran if row.tied]):
            return [f"The simple baseline {first.model} is as good as the trained models.{kept}"]
        trained = [row for row in ran if not row.baseline]
        if not trained:
            return [f"The simple baseline {first.model} is the best of the simple ones.{kept}"]
        second = max(trained, key=lambda row: metric.to_maximize(row.interval.value))
        figures = f"{number(first.interval.value)} against {number(second.interval.value)} of {second.model}"
        what = f"{first.model} ({first.summary})" if first.summary else first.model
        return [f"The simple baseline {what} is better than every trained model: {figures}.{kept}"]
    rest = ", ".join(f"{row.model} {number(row.interval.value)}" for row in simple[1:])
    return (
        [f"The simple baseline {simple[0].model} reaches {score(simple[0])}{rest and f'; {rest}'}."] if simple else []
    )


def mark_unmoved(ran: Sequence[Row]) -> None:
    """Mark the models whose best weights are those they began with, in closed form, which may be a baseline. A wide
    part is a linear model of its own: where it has the score of a baseline, it is not that baseline.
    """
    for row in ran:
        if row.curve and not row.curve[0]["step"] and not row.best_step and row.value is not None:
            simple = [] if ModelName.parse(row.model).has("wide") else [one for one in ran if one.baseline]
            alike = (one for one in simple if one.value is not None and close(one.value, row.value))
            row.same_as = next((one.model for one in alike), CLOSED_FORM)


def are_the_same(one: Row, other: Row) -> bool:
    """Whether two rows are one model: the same row, or a network that ended as the baseline it began with."""
    return one is other or one.same_as == other.model or other.same_as == one.model


def close(one: float, other: float) -> bool:
    """Whether two values differ by rounding alone."""
    return abs(one - other) <= SAME * max(abs(one), abs(other))


def unmoved(ran: Sequence[Row]) -> list[str]:
    """Models that began as a simple one in closed form, and ended as it."""
    found = []
    for simple in dict.fromkeys(row.same_as for row in ran if row.same_as):
        names = [row.model for row in ran if row.same_as == simple]
        what = "closed-form solution" if simple == CLOSED_FORM else f"{simple} solution"
        starts = "it starts from" if len(names) == 1 else "they start from"
        found.append(
            f"{in_words(names, limit=MOST_NAMED)}: training did not improve on the {what} {starts}; "
            f"{NO_CLOSED_FORM} starts from random weights."
        )
    return found


def out_of_time(ran: Sequence[Row]) -> list[str]:
    """Models that may yet pass the winner: their time ended while they were still improving."""
    names = [row.model for row in ran if row.improving and not row.tied]
    if not names:
        return []
    were = "was still improving when its" if len(names) == 1 else "were still improving when their"
    return [f"{in_words(names, limit=MOST_NAMED)} {were} time was used up; a larger --budget may change the order."]


def memory(ran: Sequence[Row], metric: Metric) -> list[str]:
    """What attention buys over one fixed vector, on the longest sources."""
    of_cells = [(ModelName.parse(row.model), row) for row in ran if row.lengths and not row.baseline]
    of_cells = [(name, row) for name, row in of_cells if name.alone and name.family in CELLS]
    fixed = [row for name, row in of_cells if not name.decoder.added]
    attending = [row for name, row in of_cells if name.decoder.added]
    if not fixed or not attending:
        return []
    best, rival = (max(rows, key=lambda row: metric.to_maximize(last_value(row))) for rows in (attending, fixed))
    with_, without = best.lengths[-1], rival.lengths[-1]
    where = f"{with_['label']} {with_.get('by', 'characters')}"
    others = in_words([f"{row.model} {number(last_value(row))}" for row in fixed], limit=MOST_NAMED)
    lower, higher = sorted((with_, without), key=lambda band: float(band["value"]))
    apart = "do not overlap" if higher["low"] > lower["high"] else "overlap"
    figures = f"{best.model} has {number(last_value(best))} with attention; with one fixed vector: {others}"
    return [f"On the longest sources ({where}) {figures}. The intervals of {best.model} and {rival.model} {apart}."]


def last_value(row: Row) -> float:
    """The headline on the longest sources."""
    return float(row.lengths[-1]["value"])


class Entry(NamedTuple):
    """A row of the board, and the outputs of each run behind it."""

    row: Row
    runs: Runs


class FittedBaseline(NamedTuple):
    """A simple model before the final examination."""

    baseline: Baseline
    row: Row  # with the reason where it could not be fitted


def fit_baseline(make: Callable[[], Baseline], train: Sequence[Any]) -> FittedBaseline:
    """A simple model, fitted on the same training part as the others; one that fails says why."""
    baseline = make()
    row = Row(model=baseline.name, baseline=True, summary=baseline.summary)
    started = time.perf_counter()
    try:
        pairs = sample_of(train)
        baseline.fit([source for source, _ in pairs], [target for _, target in pairs])
    except FAILURES as error:
        row.failed = reason(error)
    row.seconds = time.perf_counter() - started
    return FittedBaseline(baseline, row)


def baseline_entry(fitted: FittedBaseline, keep: Callable[[FittedBaseline], Path], on_event: EventCallback) -> Entry:
    """A simple model tested on the same test part as the others, and kept in a folder as they are; one that fails says
    why.
    """
    row, folder = fitted.row, Path()
    try:
        if not row.failed:
            folder = keep(fitted)
    except FAILURES as error:
        row.failed = reason(error)
    if row.failed:
        on_event({"event": "failed", "model": row.model, "text": row.failed})
        return Entry(row, [])
    found, recipe = read_json(folder, METRICS), (folder / RECIPE).read_text(encoding="utf-8")
    value, low, high = found["scores"][found["metric"]]
    summary = fitted.baseline.summary
    more = {"value": value, "low": low, "high": high, "folder": folder.name, "recipe": recipe, "summary": summary}
    more["examples_per_second"] = None  # nothing is passed over again and again
    row = Row.from_metrics(found, baseline=True, **more)
    on_event({"event": "baseline", "model": row.model, "metric": found["metric"], "value": row.value})
    return Entry(row, [read_outputs(folder)])


def reason(error: BaseException) -> str:
    """Why a simple model failed, in one line."""
    return str(error).partition("\n")[0] or type(error).__name__


def trained_entry(
    name: str,
    jobs: Sequence[Job],
    reading: Dataset,
    test: Sequence[EvaluationExample],
    metrics: Sequence[Metric],
    *,
    bands: BandFunction = length_bands,
) -> Entry:
    """What a model's finished runs say of themselves; one that failed keeps its place and its reason."""
    recipe = jobs[0].recipe.read_text(encoding="utf-8")
    for job in jobs:
        if not job.failed and not is_finished(job.folder):
            job.failed = "it ended without a model"
    whole = [job for job in jobs if not job.failed]
    lost = [f"{job.name}: {job.failed}" if len(jobs) > 1 else job.failed for job in jobs if job.failed]
    if not whole:
        return Entry(Row(model=name, failed="; ".join(lost), folder=jobs[0].folder.name, recipe=recipe), [])
    metrics_of = [read_json(job.folder, METRICS) for job in whole]
    for one in metrics_of:
        if one["data"]["fingerprint"] != reading.fingerprint:
            raise RunError(f"{name} was trained on another split.", fix="compare again in a new folder")
    runs = [read_outputs(job.folder) for job in whole]
    row = Row.from_metrics(metrics_of[0], model=name, folder=whole[0].folder.name, recipe=recipe)
    row.improving = any(map(still_improving, metrics_of))
    if len(jobs) > 1:
        row.lost = lost
        row.seeds = [
            {"seed": one["seed"], "value": one["scores"][one["metric"]][0], "folder": job.folder.name}
            for one, job in zip(metrics_of, whole, strict=True)
        ]
        for key in AVERAGED:
            if all(one.get(key) for one in metrics_of):
                setattr(row, key, mean(one[key] for one in metrics_of))
    return Entry(measured(row, metrics, test, runs, bands), runs)


def measured(
    row: Row, metrics: Sequence[Metric], test: Sequence[EvaluationExample], runs: Runs, bands: BandFunction
) -> Row:
    """The row with every metric over all runs; intervals hold both other examples and other seeds."""
    sources = [question.source for question in test]
    found = evaluate_runs(metrics, sources, runs, [question.references for question in test], bands=bands)
    value, low, high = found["scores"][found["metric"]]
    further = {name: of_run for name, of_run in row.scores.items() if name not in found["scores"]}
    scores = {name: found["scores"].get(name, further.get(name)) for name in (row.scores or found["scores"])}
    return replace(row, value=value, low=low, high=high, scores=scores, lengths=found["lengths"])
