"""The rows of a comparison: a simple baseline, or a model trained from one or more seeds, and what they answered."""

import time
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any, NamedTuple

from atento.api.fit import peak_memory
from atento.api.outputs import read_outputs
from atento.api.run import find_device
from atento.api.side_by_side import Job
from atento.api.verdict import Row
from atento.bundle import METRICS, is_finished, read_json
from atento.data.lists import BETWEEN
from atento.data.stored import sample_of
from atento.errors import AtentoError, RunError
from atento.metrics.examine import Bands, examine, length_bands
from atento.metrics.intervals import Runs
from atento.metrics.metric import Metric
from atento.tasks.task import Baseline, Reading
from atento.training.events import Watcher

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
