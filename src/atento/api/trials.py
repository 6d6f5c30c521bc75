"""The trials of a search: recipes that are trained and validated, and never tested.

One at a time they are trained here, on the data that was read once. Side by side each is a process of its own
(`atento.worker`), on this machine or on a cluster, which reads the data for itself.
"""

import math
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from atento.api.comparison.workers import Job, Workers, run_all
from atento.api.fit import begin
from atento.api.folders import held
from atento.api.prepare import Data, absolute, assemble, gather_values, learn, prepare, read_data
from atento.data.files.memory import lend
from atento.errors import InputError, RunError
from atento.metrics.metric import Metric
from atento.predictor import find_device
from atento.spec import Chosen
from atento.spec.recipe import Values
from atento.training.events import PAUSE, REQUEST, Event, EventCallback, EventLog
from atento.training.loop import train
from atento.tuning.search import Asked, Report
from atento.writing import write_atomically

FOLDERS = "trials"  # of those that are tried side by side, while they are
GIVEN_UP = "given up: others were better by then"


class Pruned(Exception):
    """Ends a trial that is worse than others were by then; caught in this file."""


class Merits:
    """The best validation of one trial so far, told to the search."""

    def __init__(self, selects: Metric, report: Report) -> None:
        self.selects, self.report, self.scores, self.pruned = selects, report, dict[int, float](), False

    def add(self, event: Event) -> None:
        """A validation; one that a resumed run repeats counts once."""
        score = event["metrics"][self.selects.name]
        self.scores[event["step"]] = -math.inf if score is None else self.selects.to_maximize(score)
        self.pruned |= self.report(len(self.scores), max(self.scores.values()))

    def merit(self, failed: str) -> float | None:
        """The best of them; None where the trial failed or was given up."""
        return max(self.scores.values()) if self.scores and not failed else None


def without_test(data: Data) -> Data:
    """What a trial is given."""
    return replace(data, reading=data.reading._replace(test=()))


def selecting_metric(data: Data, codec: object) -> Metric:
    """The metric by which validations are compared."""
    metrics: Sequence[Metric] = data.task.judging.metrics(codec)
    return data.task.judging.selects or metrics[0]


def attempt_one(data: Data, device: torch.device, asked: Asked, on_event: EventCallback) -> float | None:
    """The best validation of one recipe, trained here; None where it failed or was given up."""
    failed, merits = "", None
    with tempfile.TemporaryDirectory() as folder:
        try:
            prepared = prepare(data)
            merits = seen = Merits(selecting_metric(data, prepared.codec), asked.report)

            def watch(event: Event) -> None:
                if event["event"] == "validation":
                    seen.add(event)
                    if seen.pruned:
                        raise Pruned

            log = EventLog(Path(folder), watch)
            train(*begin(prepared, Path(folder), device, log, resume=False), log)
        except Pruned:
            failed = GIVEN_UP
        except (InputError, RunError) as error:
            failed = error.problem
    merit = merits.merit(failed) if merits is not None else None
    on_event({"event": "trial", "number": asked.number, "merit": merit, "why": failed})
    return merit


def attempt_together(
    data: Data, seconds: float, asked: Sequence[Asked], workers: Workers, folder: Path, on_event: EventCallback
) -> list[float | None]:
    """The best validations of recipes that are tried side by side, each for so many seconds."""
    selects, own = selecting_metric(data, learn(data)), folder / FOLDERS
    own.mkdir(exist_ok=True)
    jobs = {one.number: Job(str(one.number), own / f"{one.number}.toml", own / str(one.number), True) for one in asked}
    merits = {str(one.number): Merits(selects, one.report) for one in asked}
    lend((data.recipe.data.train, data.recipe.data.valid, data.recipe.data.test), own)
    for one in asked:
        write_atomically(jobs[one.number].recipe, trial_recipe(data, one.values, seconds).encode())

    def watch(event: Event) -> None:
        if event["event"] == "validation":
            seen = merits[event["model"]]
            seen.add(event)
            if seen.pruned:  # it saves, ends, and is removed
                write_atomically(own / event["model"] / REQUEST, PAUSE.encode())

    try:
        run_all(list(jobs.values()), folder, workers, slots=len(jobs), watcher=watch, what="search")
    finally:
        shutil.rmtree(own, ignore_errors=True)
    found = []
    for one in asked:
        seen = merits[str(one.number)]
        failed = GIVEN_UP if seen.pruned else jobs[one.number].failed
        found.append(seen.merit(failed))
        on_event({"event": "trial", "number": one.number, "merit": found[-1], "why": failed})
    return found


def trial_recipe(data: Data, values: Values, seconds: float) -> str:
    """The recipe that a process of its own reads."""
    alone = {"train.threads": Chosen(1, "several recipes are tried side by side"), "train.baselines": False}
    limits = {"train.budget": seconds, **alone}
    return data.recipe.with_values({**values, **limits, **absolute(data.recipe.data)}).to_toml()


def run_trial(recipe: str, folder: str, device: str) -> None:
    """Train what a recipe says, in this process, without its test part; its events tell the validations."""
    where = find_device(device)
    values = gather_values(recipe, task="auto", model="auto", settings=(), seed=None, budget=None)
    prepared = prepare(without_test(read_data(assemble(values, where=recipe), values, device=where.type)))
    with held(Path(folder)):
        log = EventLog(Path(folder))
        train(*begin(prepared, Path(folder), where, log, resume=True), log)
