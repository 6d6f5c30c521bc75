"""The mean of the models that several seeds gave, as one more model of a comparison.

It is made of all seeds, never of a choice among them, so the test part decides nothing. What a task leaves to the
validation part, such as thresholds, is chosen anew.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from atento.api.comparison.contest import Contest
from atento.api.comparison.scoreboard import Entry
from atento.api.comparison.workers import Job
from atento.api.finish import finish
from atento.api.folders import held
from atento.api.prepare import Prepared
from atento.api.starting.opening import open_run
from atento.bundle import METRICS, RECIPE, Bundle, is_finished, load_bundle, read_json, read_outputs
from atento.tasks.task import EvaluationExample
from atento.training.events import EventLog, no_callback
from atento.training.learner import Progress
from atento.training.loop import Plan
from atento.views.report.board import Row

LEAST = 2  # models that have a mean


def mean_entry(contest: Contest, name: str, jobs: Sequence[Job], test: Sequence[EvaluationExample]) -> Entry | None:
    """The ensemble of a model's seeds, tested and kept in a folder; None where answers have no mean, or fewer than two
    seeds have ended.
    """
    folders = [job.folder for job in jobs if not job.failed and is_finished(job.folder)]
    if len(folders) < LEAST or contest.data.task.learning.ensemble is None:
        return None
    own = folders[0].with_name(f"{folders[0].name}-mean")
    if not is_finished(own):
        bundles = [load_bundle(folder) for folder in folders]
        keep_mean(contest, bundles, join(contest, bundles), own, test)
    found, recipe = read_json(own, METRICS), (own / RECIPE).read_text(encoding="utf-8")
    value, low, high = found["scores"][found["metric"]]
    of_all = {"value": value, "low": low, "high": high, "folder": own.name, "recipe": recipe}
    row = Row.from_metrics(found, **{**of_all, "model": f"{name}, mean of {len(folders)}", "curve": []})
    return Entry(row, [read_outputs(own)])


def join(contest: Contest, bundles: Sequence[Bundle]) -> nn.Module:
    """The trained models as one."""
    learning, codec = contest.data.task.learning, bundles[0].codec
    if learning.ensemble is None:
        raise TypeError(f"answers of {contest.data.task.name} have no mean")
    module = learning.ensemble([bundle.module for bundle in bundles]).to(contest.device).eval()
    if learning.calibrate is not None:
        learning.calibrate(module, codec, contest.data.reading.valid)
    return module


def keep_mean(
    contest: Contest, bundles: Sequence[Bundle], module: nn.Module, own: Path, test: Sequence[EvaluationExample]
) -> None:
    """Test the ensemble, and leave it in a folder of its own, as any run."""
    first, reading = bundles[0], contest.data.reading
    recipe = first.recipe.with_values({"model.members": len(bundles)}, why="the mean of all seeds")
    notes = [*contest.notes, f"the mean of {len(bundles)} models, each from a seed of its own"]
    prepared = Prepared(first.task, recipe, reading, first.codec, module, tuple(notes), started=False, solved=False)
    trained = [bundle.metrics for bundle in bundles]
    progress = Progress(
        step=sum(one["steps"] for one in trained),
        elapsed=sum(one["seconds"] for one in trained),
        examples=round(sum(one["seconds"] * one["examples_per_second"] for one in trained)),
        stop_reason="the mean of trained models",
    )
    plan = Plan(
        task=first.task,
        recipe=recipe,
        codec=first.codec,
        examples=reading.train,
        validation=(),
        fingerprint=reading.fingerprint,
        device=contest.device,
        folder=own,
    )
    with held(own), torch.no_grad():
        open_run(own, prepared, resume=False)
        log = EventLog(own, no_callback)
        log.rewind(-1)
        log.add("finished", step=progress.step, why=progress.stop_reason)
        finish(plan, module, progress, reading, test, notes=notes)
