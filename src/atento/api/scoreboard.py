"""The rows of a comparison: a simple baseline, or a model trained from one or more seeds, and what they answered.

Who won, who tied, and what that means in words.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

from atento.api.fit import peak_memory
from atento.api.run import find_device, read_outputs
from atento.api.workers import Job
from atento.bundle import METRICS, is_finished, read_json
from atento.data.examples.batches import sample_of
from atento.data.records import BETWEEN
from atento.errors import AtentoError, RunError
from atento.metrics.bootstrap import Bands, Runs, examine, length_bands, tied_over
from atento.metrics.metric import Metric
from atento.models.build.encoder_decoder import CELLS
from atento.models.names import ModelName
from atento.tasks.task import Baseline, Reading
from atento.training.events import Watcher
from atento.views.wording import score as number

Row = dict[str, Any]


def judge(
    rows: Sequence[Row], outputs: Mapping[str, Runs], references: Any, metric: Metric, *, writes: bool = True
) -> dict[str, Any]:
    """The winner, those whose paired difference from it may be zero, and a few plain sentences; where models write
    what they read anew, also what attention buys on long sources.
    """
    ran = [row for row in rows if not row["failed"]]
    if not ran:
        return {"winner": None, "ties": [], "verdict": ["Every model failed; the reasons stand in the table."]}
    best = max(ran, key=lambda row: (metric.merit(row["value"]), row["baseline"], -row["parameters"]))
    for row in ran:
        row["tied"] = row is best or tied_over(metric, outputs[best["model"]], outputs[row["model"]], references)
    ties = [row["model"] for row in ran if row["tied"] and row is not best]
    if best["value"] <= 0 and not metric.smaller_is_better:  # nothing to rank
        nobody = f"No model gets above 0 in {metric.name}. Try a larger --budget, or more rows to learn from."
        return {"winner": best["model"], "ties": ties, "verdict": [nobody]}
    sentences = [headline(best, ties, metric), *simplest(best, ran), *against_baseline(best, ran, metric)]
    sentences += [*unmoved(ran), *(memory(ran, metric) if writes else [])]
    return {"winner": best["model"], "ties": ties, "verdict": sentences}


def score(row: Row) -> str:
    """0.987 (0.981–0.992)."""
    return f"{number(row['value'])} ({number(row['low'])}–{number(row['high'])})"


def headline(best: Row, ties: Sequence[str], metric: Metric) -> str:
    """The result in one line."""
    text = f"{best['model']} is best: {metric.name} {score(best)}"
    return f"{text}, tied with {', '.join(ties)}." if ties else f"{text}; no other comes within its reach."


def simplest(best: Row, ran: Sequence[Row]) -> list[str]:
    """Among equals the smallest is worth naming."""
    equals = [row for row in ran if row["tied"] and not row["baseline"]]
    if len(equals) < 2:
        return []
    small = min(equals, key=lambda row: row["parameters"])
    quick = max(equals, key=lambda row: row["predictions_per_second"])
    text = f"Of these equals {small['model']} is the smallest ({small['parameters']:,} parameters)"
    same = small is quick
    rate = f"{quick['predictions_per_second']:,.0f} answers a second"
    return [f"{text} and answers fastest ({rate})." if same else f"{text}, {quick['model']} answers fastest ({rate})."]


def against_baseline(best: Row, ran: Sequence[Row], metric: Metric) -> list[str]:
    """A simple model that wins is named the winner."""
    if best["baseline"] and best["value"] >= 1 and not metric.smaller_is_better:  # nothing is left to learn
        return ["The simple baseline wins: it makes no mistake on the test part."]
    if best["baseline"]:
        return ["The simple baseline wins: no trained model is worth its cost here yet. Try a larger --budget."]
    simple = sorted((row for row in ran if row["baseline"]), key=lambda row: -metric.merit(row["value"]))
    rest = ", ".join(f"{row['model']} {number(row['value'])}" for row in simple[1:])
    return (
        [f"The simple baseline {simple[0]['model']} reaches {score(simple[0])}{rest and f'; {rest}'}."]
        if simple
        else []
    )


def unmoved(ran: Sequence[Row]) -> list[str]:
    """Models that began as a simple one in closed form, and ended as it."""
    names = [row["model"] for row in ran if row.get("curve") and not row["curve"][0]["step"] and not row["best_step"]]
    where = "in closed form: no step of training was better by more than chance."
    return [f"{', '.join(names)} stayed where {'it' if len(names) == 1 else 'they'} began, {where}"] if names else []


def memory(ran: Sequence[Row], metric: Metric) -> list[str]:
    """What attention buys over one fixed vector, on the longest third of the sources."""
    found = []
    by_name = {row["model"]: row for row in ran if row["lengths"]}
    for name, fixed in by_name.items():
        rivals = [row for other, row in by_name.items() if other != name and str(ModelName.parse(other).bare) == name]
        if name not in CELLS or not rivals:
            continue
        best = max(rivals, key=lambda row: metric.merit(row["lengths"][-1]["value"]))
        with_, without = best["lengths"][-1], fixed["lengths"][-1]
        where = f"On the longest third of the sources ({with_['label']} characters)"
        kept, lost = number(with_["value"]), number(without["value"])
        figures = f"{best['model']} keeps {kept}, {name} with one fixed vector {lost}"
        lower, higher = sorted((with_, without), key=lambda band: float(band["value"]))
        apart = higher["low"] > lower["high"]
        found.append(f"{where} {figures}{': the intervals do not meet.' if apart else ': a tie, the intervals meet.'}")
    return found


NOTHING: Row = {
    **dict.fromkeys(("value", "low", "high", "seconds", "examples_per_second", "predictions_per_second", "peak_mb")),
    "scores": {},
    "parameters": 0,
    "steps": 0,
    "epochs": 0.0,
    "lengths": [],
    "curve": [],
    "worst": [],
    "command": "",
}
AVERAGED = ("seconds", "examples_per_second", "predictions_per_second", "peak_mb", "epochs")


class Entry(NamedTuple):
    """A row of the board, and the outputs of each run behind it."""

    row: Row
    runs: Runs


def baseline_entry(
    make: Callable[[], Baseline],
    reading: Reading,
    metrics: Sequence[Metric],
    on_event: Watcher,
    *,
    bands: Bands = length_bands,
) -> Entry:
    """A simple model, fitted on the same training part, tested on the same test part; one that fails says why."""
    baseline = make()
    row: Row = {**NOTHING, "model": baseline.name, "baseline": True, "failed": "", "summary": baseline.summary}
    row |= {"folder": "", "recipe": ""}
    started = time.perf_counter()
    try:
        pairs = sample_of(reading.train)
        baseline.fit([source for source, _ in pairs], [target for _, target in pairs])
        fitted = time.perf_counter()
        outputs = list(baseline.predict([question.source for question in reading.test]))
    except (AtentoError, ValueError, MemoryError) as error:
        failed = str(error).partition("\n")[0] or type(error).__name__
        on_event({"event": "failed", "model": baseline.name, "text": failed})
        return Entry({**row, "failed": failed}, [])
    predicted = time.perf_counter() - fitted
    row |= measured(metrics, reading, [outputs], bands)
    row |= {
        "seconds": fitted - started,
        "predictions_per_second": len(outputs) / max(predicted, 1e-9),
        "peak_mb": peak_memory(find_device("cpu")),
    }
    on_event({"event": "baseline", "model": baseline.name, "metric": metrics[0].name, "value": row["value"]})
    return Entry(row, [outputs])


def trained_entry(
    name: str, jobs: Sequence[Job], reading: Reading, metrics: Sequence[Metric], *, bands: Bands = length_bands
) -> Entry:
    """What a model's finished runs say of themselves; one that failed keeps its place and its reason."""
    first = jobs[0]
    row: Row = {"model": name, "baseline": False, "failed": "", "folder": first.folder.name}
    row["recipe"] = first.recipe.read_text(encoding="utf-8")
    for job in jobs:
        if not job.failed and not is_finished(job.folder):
            job.failed = "it ended without a model"
    whole = [job for job in jobs if not job.failed]
    lost = [f"{job.name}: {job.failed}" if len(jobs) > 1 else job.failed for job in jobs if job.failed]
    if not whole:
        return Entry({**NOTHING, **row, "failed": "; ".join(lost)}, [])
    said = [read_json(job.folder, METRICS) for job in whole]
    for one in said:
        if one["data"]["fingerprint"] != reading.fingerprint:
            raise RunError(f"{name} was trained on another split.", fix="compare again in a new folder")
    runs = [read_outputs(job.folder) for job in whole]
    worst = [
        {**line, "output": line.get("text", line["output"]), "reference": ", ".join(line["references"])}
        for line in said[0]["worst"]
    ]
    row = {**said[0], **row, "folder": whole[0].folder.name, "worst": [readable(line) for line in worst]}
    if len(jobs) > 1:
        seeds = [
            {"seed": one["seed"], "value": one["scores"][one["metric"]][0], "folder": job.folder.name}
            for one, job in zip(said, whole, strict=True)
        ]
        averages = {key: mean(one[key] for one in said) for key in AVERAGED if all(one.get(key) for one in said)}
        row |= {**averages, "seeds": seeds, "lost": lost}
    return Entry({**row, **measured(metrics, reading, runs, bands)}, runs)


def measured(metrics: Sequence[Metric], reading: Reading, runs: Runs, bands: Bands) -> dict[str, Any]:
    """Every metric over all runs, with intervals that hold both other examples and other seeds."""
    sources = [question.source for question in reading.test]
    found = examine(metrics, sources, runs, [question.references for question in reading.test], bands=bands)
    value, low, high = found["scores"][found["metric"]]
    return {"value": value, "low": low, "high": high, "scores": found["scores"], "lengths": found["lengths"]}


def readable(line: dict[str, Any]) -> dict[str, Any]:
    """Lists as a person reads them; `asked` is the source as a model reads it."""
    texts = {key: line[key].replace(BETWEEN, " · ") for key in ("source", "output", "reference") if key in line}
    return {**line, "asked": line["source"], **{key: text for key, text in texts.items() if isinstance(text, str)}}
