"""The rows of a comparison and the verdict on them: who won, who tied, and what that means in words."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import Any, NamedTuple, TypedDict

from atento.api.fit import peak_memory
from atento.api.workers import Job
from atento.bundle import METRICS, is_finished, read_json, read_outputs
from atento.data.examples.batches import sample_of
from atento.errors import AtentoError, RunError
from atento.metrics.bootstrap import BandFunction, Runs, evaluate_runs, length_bands, tied
from atento.metrics.metric import Metric
from atento.models.builders.recurrent import CELLS
from atento.models.names import ModelName
from atento.predictor import find_device
from atento.tasks.task import Baseline, Dataset
from atento.training.events import EventCallback
from atento.views.report.board import Row
from atento.views.wording import score as number

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
    best = max(ran, key=lambda row: (metric.to_maximize(row.interval.value), row.baseline, -row.parameters))
    for row in ran:
        row.tied = row is best or tied(metric, outputs[best.model], outputs[row.model], references)
    ties = [row.model for row in ran if row.tied and row is not best]
    if best.interval.value <= 0 and not metric.smaller_is_better:  # nothing to rank
        nobody = f"No model gets above 0 in {metric.name}. Try a larger --budget, or more rows to learn from."
        return {"winner": best.model, "ties": ties, "verdict": [nobody]}
    sentences = [headline(best, ties, metric), *simplest(best, ran), *against_baseline(best, ran, metric)]
    sentences += [*unmoved(ran), *(memory(ran, metric) if writes else [])]
    return {"winner": best.model, "ties": ties, "verdict": sentences}


def score(row: Row) -> str:
    """0.987 (0.981–0.992)."""
    return f"{number(row.interval.value)} ({number(row.interval.low)}–{number(row.interval.high)})"


def headline(best: Row, ties: Sequence[str], metric: Metric) -> str:
    """The result in one line."""
    text = f"{best.model} is best: {metric.name} {score(best)}"
    return f"{text}, tied with {', '.join(ties)}." if ties else f"{text}; no other comes within its reach."


def simplest(best: Row, ran: Sequence[Row]) -> list[str]:
    """Among equals the smallest is worth naming."""
    equals = [row for row in ran if row.tied and not row.baseline]
    if len(equals) < 2:
        return []
    small = min(equals, key=lambda row: row.parameters)
    quick = max(equals, key=lambda row: row.predictions_per_second or 0.0)
    text = f"Of these equals {small.model} is the smallest ({small.parameters:,} parameters)"
    same = small is quick
    rate = f"{quick.predictions_per_second:,.0f} answers a second"
    return [f"{text} and answers fastest ({rate})." if same else f"{text}, {quick.model} answers fastest ({rate})."]


def against_baseline(best: Row, ran: Sequence[Row], metric: Metric) -> list[str]:
    """A simple model that wins is named the winner."""
    if best.baseline and best.interval.value >= 1 and not metric.smaller_is_better:  # nothing is left to learn
        return ["The simple baseline wins: it makes no mistake on the test part."]
    if best.baseline:
        return ["The simple baseline wins: no trained model is worth its cost here yet. Try a larger --budget."]
    simple = sorted((row for row in ran if row.baseline), key=lambda row: -metric.to_maximize(row.interval.value))
    rest = ", ".join(f"{row.model} {number(row.interval.value)}" for row in simple[1:])
    return (
        [f"The simple baseline {simple[0].model} reaches {score(simple[0])}{rest and f'; {rest}'}."] if simple else []
    )


def unmoved(ran: Sequence[Row]) -> list[str]:
    """Models that began as a simple one in closed form, and ended as it."""
    names = [row.model for row in ran if row.curve and not row.curve[0]["step"] and not row.best_step]
    where = "in closed form: no step of training was better by more than chance."
    return [f"{', '.join(names)} stayed where {'it' if len(names) == 1 else 'they'} began, {where}"] if names else []


def memory(ran: Sequence[Row], metric: Metric) -> list[str]:
    """What attention buys over one fixed vector, on the longest third of the sources."""
    found = []
    by_name = {row.model: row for row in ran if row.lengths}
    for name, fixed in by_name.items():
        rivals = [row for other, row in by_name.items() if other != name and str(ModelName.parse(other).bare) == name]
        if name not in CELLS or not rivals:
            continue
        best = max(rivals, key=lambda row: metric.to_maximize(row.lengths[-1]["value"]))
        with_, without = best.lengths[-1], fixed.lengths[-1]
        where = f"On the longest third of the sources ({with_['label']} characters)"
        kept, lost = number(with_["value"]), number(without["value"])
        figures = f"{best.model} keeps {kept}, {name} with one fixed vector {lost}"
        lower, higher = sorted((with_, without), key=lambda band: float(band["value"]))
        apart = higher["low"] > lower["high"]
        found.append(f"{where} {figures}{': the intervals do not meet.' if apart else ': a tie, the intervals meet.'}")
    return found


class Entry(NamedTuple):
    """A row of the board, and the outputs of each run behind it."""

    row: Row
    runs: Runs


def baseline_entry(
    make: Callable[[], Baseline],
    reading: Dataset,
    metrics: Sequence[Metric],
    on_event: EventCallback,
    *,
    bands: BandFunction = length_bands,
) -> Entry:
    """A simple model, fitted on the same training part, tested on the same test part; one that fails says why."""
    baseline = make()
    row = Row(model=baseline.name, baseline=True, summary=baseline.summary)
    started = time.perf_counter()
    try:
        pairs = sample_of(reading.train)
        baseline.fit([source for source, _ in pairs], [target for _, target in pairs])
        fitted = time.perf_counter()
        outputs = list(baseline.predict([question.source for question in reading.test]))
    except (AtentoError, ValueError, MemoryError) as error:
        row.failed = str(error).partition("\n")[0] or type(error).__name__
        on_event({"event": "failed", "model": row.model, "text": row.failed})
        return Entry(row, [])
    predicted = time.perf_counter() - fitted
    row = measured(row, metrics, reading, [outputs], bands)
    row.seconds = fitted - started
    row.predictions_per_second = len(outputs) / max(predicted, 1e-9)
    row.peak_mb = peak_memory(find_device("cpu"))
    on_event({"event": "baseline", "model": row.model, "metric": metrics[0].name, "value": row.value})
    return Entry(row, [outputs])


def trained_entry(
    name: str, jobs: Sequence[Job], reading: Dataset, metrics: Sequence[Metric], *, bands: BandFunction = length_bands
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
    if len(jobs) > 1:
        row.lost = lost
        row.seeds = [
            {"seed": one["seed"], "value": one["scores"][one["metric"]][0], "folder": job.folder.name}
            for one, job in zip(metrics_of, whole, strict=True)
        ]
        for key in AVERAGED:
            if all(one.get(key) for one in metrics_of):
                setattr(row, key, mean(one[key] for one in metrics_of))
    return Entry(measured(row, metrics, reading, runs, bands), runs)


def measured(row: Row, metrics: Sequence[Metric], reading: Dataset, runs: Runs, bands: BandFunction) -> Row:
    """The row with every metric over all runs; intervals hold both other examples and other seeds."""
    sources = [question.source for question in reading.test]
    found = evaluate_runs(metrics, sources, runs, [question.references for question in reading.test], bands=bands)
    value, low, high = found["scores"][found["metric"]]
    return replace(row, value=value, low=low, high=high, scores=found["scores"], lengths=found["lengths"])
