"""Compare: every family and its baselines on one file, honestly. Read from `compare` downwards."""

import json
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from atento.api.card import versions
from atento.api.fit import is_begun, peak_memory, require_same_recipe
from atento.api.folders import BOARD, RECIPES, folder_name, held, new_folder, require_free
from atento.api.recipes import LIMITS, Settings, assemble, gather_values
from atento.api.run import Run, find_device, load
from atento.api.show import alignments
from atento.api.side_by_side import Job, run_all
from atento.api.verdict import Row, judge
from atento.bundle import METRICS, PREDICTIONS, is_finished, read_json, write_atomically, write_json
from atento.errors import InputError, Interrupted, RunError
from atento.looking.report import render_report
from atento.looking.standings import ranked
from atento.metrics.examine import examine
from atento.metrics.metric import Metric
from atento.spec import Recipe, parse_duration
from atento.tasks.task import Baseline, Reading, compared
from atento.training.events import Watcher, no_watcher
from atento.training.loop import require_sense

DEFAULT_BUDGET = "5m"
SHARE_FOR_LEARNING = 0.75  # of the budget; the rest starts processes, reads, tests and draws
LEAST_SHARE = 0.1  # seconds; a share of none would be no limit
REPORT = "report.html"
NO_TEST = "give it a share, e.g. --set data.split=90/5/5, or a file: --set data.test=FILE"


class Board:
    """The outcome of a comparison."""

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self.folder, self.facts = folder, facts
        self.rows: list[Row] = facts["rows"]
        self.winner: str | None = facts["winner"]
        self.report = folder / REPORT

    def best(self) -> Run:
        """The best trained model, ready to use."""
        trained = [row for row in ranked(self.facts) if not row["baseline"]]
        if not trained:
            raise RunError("no model of this comparison was trained.", fix="look at the reasons in the report")
        return load(self.folder / trained[0]["folder"])

    def __repr__(self) -> str:
        return f"Board({str(self.folder)!r}, winner={self.winner!r})"


def compare(
    data: str | Path,
    *,
    task: str = "auto",
    models: Sequence[str] = (),
    settings: Settings = (),
    seed: int | None = None,
    budget: str | float | None = None,
    device: str = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    on_event: Watcher = no_watcher,
) -> Board:
    """Train every model for an equal share of the budget, test each once, and write a board and a report."""
    values = bound(gather_values(str(data), task=task, model="auto", settings=settings, seed=seed, budget=budget))
    chosen, recipe, guesses = assemble(values)
    names = list(models) or list(compared(chosen, recipe.data.train))
    folder = Path(out) if out else new_folder(recipe.data.train, "compare")
    require_free(folder, "comparison", resume=resume)
    where = find_device(device)
    slots = 1 if where.type == "cuda" else min(len(names), len(os.sched_getaffinity(0)))
    recipes = share_budget(values, names, slots=slots)
    reading = chosen.read(recipe.data, recipe.train.seed)
    if not reading.test:
        raise InputError("a comparison needs a test part.", found=f"data.split={recipe.data.split}", fix=NO_TEST)
    codec = chosen.learn(recipe.tokens, reading.train)
    for each in recipes.values():
        module = chosen.build(each.model, codec)  # a model that cannot be built is named before anything is written
        require_sense(chosen, module, each.train)
        begun = folder / folder_name(each.model.name)
        if is_begun(begun):
            require_same_recipe(begun, each, fix="compare with the same options, or choose another --out")
    notes = [*(guess for guess in guesses if guess.startswith("task")), *reading.notes, *codec.notes]
    for note in notes:
        on_event({"event": "note", "text": note})
    for refusal in reading.refused:
        on_event({"event": "refused", "text": str(refusal)})
    started = time.perf_counter()
    with held(folder):
        metrics = chosen.metrics(codec)
        simple = [baseline_row(make(), reading, metrics, on_event) for make in chosen.baselines]
        jobs = [write_job(folder, name, each) for name, each in recipes.items()]
        try:
            run_all(jobs, slots=slots, device=where.type, watcher=on_event)
        except Interrupted as stop:
            repeat = repeat_command(str(data), task, models, settings, seed, budget, device)
            again = f"{repeat} {shlex.join(['--out', str(folder), '--resume'])}"
            raise Interrupted(stop.exit_code - 128, stop.problem, fix=f"go on with: {again}") from None
        rows = [row for row, _ in simple] + [trained_row(folder, job, reading) for job in jobs]
        outputs = {row["model"]: texts for row, texts in simple}
        outputs |= {job.name: read_outputs(job.folder) for job in jobs if not job.failed}
        facts = {
            "title": reading.name,
            "task": chosen.name,
            "created": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
            "command": repeat_command(str(data), task, models, settings, seed, budget, device),
            "seed": recipe.train.seed,
            "budget": values["train.budget"] or None,
            "share": next(iter(recipes.values())).train.budget or None,
            "took": time.perf_counter() - started,
            "device": str(where),
            "versions": versions(),
            "data": {
                "name": reading.name,
                "parts": {"train": len(reading.train), "valid": len(reading.valid), "test": len(reading.test)},
                "notes": notes,
                "refused": [str(refusal) for refusal in reading.refused],
                "fingerprint": reading.fingerprint,
            },
            "metric": metrics[0].name,
            "smaller_is_better": metrics[0].smaller_is_better,
            "metrics": {metric.name: metric.summary for metric in metrics},
            "rows": rows,
            **judge(rows, outputs, [question.references for question in reading.test], metrics[0]),
            "alignments": alignments(folder, [row for row in rows if not row["failed"]], reading.test),
        }
        write_atomically(folder / REPORT, render_report(facts).encode())
        write_json(folder / BOARD, {**facts, "report": str(folder / REPORT)})
    return Board(folder, facts)


def bound(values: dict[str, Any]) -> dict[str, Any]:
    """The user's own limits, time in seconds; else the default budget."""
    limits = Recipe().with_values({key: values[key] for key in LIMITS if key in values}).train
    if not (limits.steps or limits.epochs or limits.budget):
        return {**values, "train.budget": parse_duration(DEFAULT_BUDGET)}
    return {**values, "train.budget": limits.budget}


def share_budget(values: dict[str, Any], names: Sequence[str], *, slots: int) -> dict[str, Recipe]:
    """One recipe a model: the same data, seed and limits, an equal share of the time."""
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--models names {twice} twice.", found=", ".join(names), fix="name each model once")
    rounds = -(-len(names) // slots)
    shared = dict(values)
    if values["train.budget"]:
        shared["train.budget"] = max(LEAST_SHARE, round(SHARE_FOR_LEARNING * values["train.budget"] / rounds, 1))
    if slots > 1:
        shared["train.threads"] = 1
    return {name: assemble({**shared, "model.name": name})[1] for name in names}


def write_job(folder: Path, name: str, recipe: Recipe) -> Job:
    """The recipe on disk, for a process to read."""
    path = folder / RECIPES / f"{folder_name(name)}.toml"
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, recipe.to_toml().encode())
    return Job(name, path, folder / folder_name(name))


def baseline_row(
    baseline: Baseline, reading: Reading, metrics: Sequence[Metric], on_event: Watcher
) -> tuple[Row, list[Any]]:
    """A simple model, fitted on the same training part, tested on the same test part."""
    started = time.perf_counter()
    baseline.fit([source for source, _ in reading.train], [target for _, target in reading.train])
    fitted = time.perf_counter()
    sources = [question.source for question in reading.test]
    references = [question.references for question in reading.test]
    outputs = list(baseline.predict(sources))
    predicted = time.perf_counter() - fitted
    found = examine(metrics, sources, outputs, references)
    value, low, high = found["scores"][found["metric"]]
    on_event({"event": "baseline", "model": baseline.name, "metric": metrics[0].name, "value": value})
    row = {
        "model": baseline.name,
        "baseline": True,
        "failed": "",
        "summary": baseline.summary,
        "value": value,
        "low": low,
        "high": high,
        "scores": found["scores"],
        "parameters": 0,
        "seconds": fitted - started,
        "examples_per_second": None,
        "predictions_per_second": len(sources) / max(predicted, 1e-9),
        "peak_mb": peak_memory(find_device("cpu")),
        "steps": 0,
        "epochs": 0.0,
        "folder": "",
        "recipe": "",
        "command": "",
        "lengths": found["lengths"],
        "curve": [],
        "worst": [],
    }
    return row, outputs


def trained_row(folder: Path, job: Job, reading: Reading) -> Row:
    """What a finished run says of itself; a failed one keeps its place and its reason."""
    recipe = job.recipe.read_text(encoding="utf-8")
    row: Row = {"model": job.name, "baseline": False, "failed": job.failed, "folder": job.folder.name, "recipe": recipe}
    if not job.failed and not is_finished(job.folder):
        row["failed"] = "it ended without a model"
    if row["failed"]:
        nothing = dict.fromkeys(("value", "low", "high", "seconds", "examples_per_second", "peak_mb"))
        return {**row, **nothing, "scores": {}, "parameters": 0, "lengths": [], "curve": [], "worst": [], "command": ""}
    metrics = read_json(job.folder, METRICS)
    if metrics["data"]["fingerprint"] != reading.fingerprint:
        raise RunError(f"{job.name} was trained on another split.", fix="compare again in a new folder")
    value, low, high = metrics["scores"][metrics["metric"]]
    worst = [{**line, "reference": line["references"][0]} for line in metrics["worst"]]
    return {**metrics, **row, "value": value, "low": low, "high": high, "worst": worst}


def read_outputs(folder: Path) -> list[Any]:
    """The answers a run gave on the test part."""
    lines = (folder / PREDICTIONS).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["output"] for line in lines]


def repeat_command(
    data: str,
    task: str,
    models: Sequence[str],
    settings: Settings,
    seed: int | None,
    budget: str | float | None,
    device: str,
) -> str:
    """What a user types to make this comparison again."""
    pairs = [f"{key}={value}" for key, value in settings.items()] if isinstance(settings, Mapping) else list(settings)
    parts = ["atento", "compare", data]
    parts += ["--task", task] if task != "auto" else []
    parts += ["--models", ",".join(models)] if models else []
    parts += [part for pair in pairs for part in ("--set", pair)]
    parts += ["--seed", str(seed)] if seed is not None else []
    parts += ["--budget", str(budget)] if budget is not None else []
    parts += ["--device", device] if device != "auto" else []
    return shlex.join(parts)
