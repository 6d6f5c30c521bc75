"""Tune: try recipes on the validation part, train the best of them, and test it once beside the default."""

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from atento.api.comparison.contest import DEFAULT_BUDGET
from atento.api.fit import begin, fit
from atento.api.folders import OUTCOME, TRIALS, held, new_folder, require_free
from atento.api.prepare import LIMITS, Data, assemble, gather_values, prepare, read_data, tell
from atento.api.run import Run
from atento.bundle import Json, read_outputs, write_json
from atento.data.records import counted
from atento.data.tables.table import parsed_once
from atento.errors import InputError, RunError
from atento.metrics.bootstrap import tied
from atento.predictor import find_device
from atento.reprs import short_repr
from atento.spec import Recipe, parse_duration
from atento.spec.recipe import Settings, Values
from atento.tasks.sealed import final_examination
from atento.training.events import Event, EventCallback, EventLog, no_callback
from atento.training.loop import train
from atento.training.trackers import TrackedRun, require_trackers, tracked
from atento.tuning.search import Trial, search, space_around
from atento.views.notebook.results import ResultsView
from atento.views.wording import interval, score
from atento.writing import write_atomically

SHARE_FOR_SEARCH = 0.5  # of the budget; the rest trains the best recipe and the default, equally long
SECONDS_A_TRIAL = 30.0
FEWEST, MOST = 4, 40
BESIDE = ("folder", "best", "default", "values", "trial", "trials")  # fields that JSON holds in another form


class Pruned(Exception):
    """Ends a trial that is worse than others were by then; caught in this file."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The outcome of a search: the best recipe and the default, both trained equally long and tested once."""

    folder: Path
    task: str
    model: str
    metric: str
    smaller_is_better: bool
    best: Run
    default: Run
    values: Values  # of the best recipe, where it was searched
    trial: int  # the number of the best one
    trials: list[Trial]
    tied: bool  # whether the difference between best and default may be chance
    seconds_a_trial: float
    seconds_at_the_end: float
    test_examples: int

    def __repr__(self) -> str:
        return short_repr(self)

    def _repr_html_(self) -> str:
        """The best recipe beside the default, and the values that were found, for notebooks."""
        best, default = self.score(self.best), self.score(self.default)
        view = ResultsView(
            kind=f"search of {counted(len(self.trials), 'trial')}",
            title=f"{self.model}: {self.metric} {score(best[0])}, with the default recipe {score(default[0])}",
            said="The difference may be chance." if self.tied else "",
            headings=("", "best recipe", "default recipe"),
            rows=[
                (self.metric, score(best[0]), score(default[0])),
                ("95 % interval", interval(*best[1:]), interval(*default[1:])),
                *((key, str(value), str(self.default.recipe.flat()[key])) for key, value in self.values.items()),
            ],
        )
        return view._repr_html_()

    def score(self, run: Run) -> list[float]:
        """Value, low and high of the headline metric of one of the two runs.

        run: `best` or `default`.
        """
        return list(run.metrics["scores"][self.metric])

    def to_json(self) -> Json:
        """The same in dicts and lists, as tune.json holds it."""
        kept = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in BESIDE}
        best = {"values": self.values, "score": self.score(self.best), "run": str(self.best.folder)}
        return {
            **kept,
            "best": {**best, "trial": self.trial},
            "default": {"score": self.score(self.default), "run": str(self.default.folder)},
            "trials": [trial._asdict() for trial in self.trials],
        }


class Share(NamedTuple):
    """How time is shared out."""

    trials: int
    each: float  # seconds of a trial
    final: float  # seconds of each of the two runs at the end


@parsed_once()
def tune(
    data: str | Path,
    *,
    task: str = "auto",
    model: str = "auto",
    settings: Settings = (),
    seed: int | None = None,
    budget: str | float | None = None,
    device: str = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    track: str | Sequence[str] = (),
    on_event: EventCallback = no_callback,
) -> Tuning:
    """Search over recipes for a share of the budget, then train the best one and the default, and test both once."""
    track = require_trackers(track)
    values = gather_values(str(data), task=task, model=model, settings=settings, seed=seed, budget=budget)
    seconds = float(values.pop("train.budget", 0) or parse_duration(DEFAULT_BUDGET))
    chosen = assemble({**values, "train.budget": seconds})
    refuse_limits(values)
    folder = Path(out) if out else new_folder(chosen.recipe.data.train, "tune")
    require_free(folder, "search", resume=resume)
    where = find_device(device)
    found = read_data(chosen, values, device=where.type)
    tell(found.notes, on_event)
    require_parts(found)
    share = share_time(seconds)
    with held(folder):
        with tracked(track, {"": TrackedRun(folder, folder.name, found.recipe.flat())}, on_event) as watch:
            trials = try_recipes(found, values, share, where, folder / TRIALS, watch)
        best = max((trial for trial in trials if trial.merit is not None), key=lambda one: one.merit or -math.inf)
        runs = train_both(found.recipe, best, share, folder, device, track, on_event)
        tuning = outcome(folder, found, trials, best, runs, share)
        write_json(folder / OUTCOME, tuning.to_json())
    return tuning


def share_time(seconds: float) -> Share:
    """One part of the budget for the trials, one for the two runs at the end."""
    count = max(FEWEST, min(MOST, int(SHARE_FOR_SEARCH * seconds / SECONDS_A_TRIAL)))
    return Share(count, SHARE_FOR_SEARCH * seconds / count, (1 - SHARE_FOR_SEARCH) / 2 * seconds)


def require_parts(data: Data) -> None:
    """A search chooses by the validation part and ends on the test part."""
    if not data.reading.valid or not data.reading.test:
        raise InputError(
            "a search needs a validation and a test part.",
            found=f"data.split={data.recipe.data.split}",
            fix="--set data.split=80/10/10",
        )


def try_recipes(
    data: Data, values: Values, share: Share, device: torch.device, journal: Path, on_event: EventCallback
) -> list[Trial]:
    """Search around the recipe, over what the user left open; the first trial is the recipe as it is."""
    space = space_around(data.task, data.recipe, fixed=values)
    unseen = data.reading._replace(test=())  # what a trial is given

    def attempt(number: int, tried: Values, report: Any) -> float | None:
        recipe = data.recipe.with_values({**tried, "train.budget": share.each})
        return attempt_one(replace(data, recipe=recipe, reading=unseen), device, number, report, on_event)

    first = {key: data.recipe.flat()[key] for key in space}
    return search(attempt, space, first=first, count=share.trials, journal=journal, seed=data.recipe.train.seed)


def train_both(
    recipe: Recipe,
    best: Trial,
    share: Share,
    folder: Path,
    device: str,
    track: Sequence[str],
    on_event: EventCallback,
) -> tuple[Run, Run]:
    """The best recipe and the default, trained equally long."""
    tuned = recipe.with_values({**best.values, "train.budget": share.final})
    plain = recipe.with_values({"train.budget": share.final})
    for name, one in (("best", tuned), ("default", plain)):
        write_atomically(folder / f"{name}.toml", one.to_toml().encode())
    tuned_run, plain_run = (
        fit(folder / f"{name}.toml", out=folder / name, device=device, resume=True, track=track, on_event=on_event)
        for name in ("best", "default")
    )
    return tuned_run, plain_run


def refuse_limits(values: Values) -> None:
    """Time is shared among the trials; other limits would make them unequal."""
    for key in LIMITS:
        if values.get(key):
            raise InputError(f"{key} has no meaning in a search.", found=f"{key}={values[key]}", fix="give --budget")


def attempt_one(data: Data, device: torch.device, number: int, report: Any, on_event: EventCallback) -> float | None:
    """The best validation of one recipe; None where it failed or was given up."""
    seen: list[float] = []
    failed = ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            prepared = prepare(data)
            selects = data.task.judging.selects or data.task.judging.metrics(prepared.codec)[0]

            def watch(event: Event) -> None:
                if event["event"] == "validation":
                    score = event["metrics"][selects.name]
                    seen.append(max([*seen, -math.inf if score is None else selects.to_maximize(score)]))
                    if report(len(seen), seen[-1]):
                        raise Pruned

            log = EventLog(Path(folder), watch)
            train(*begin(prepared, Path(folder), device, log, resume=False), log)
        except Pruned:
            failed = "given up: others were better by then"
        except (InputError, RunError) as error:
            failed = error.problem
    merit = seen[-1] if seen and not failed else None
    on_event({"event": "trial", "number": number, "merit": merit, "why": failed})
    return merit


def outcome(folder: Path, data: Data, trials: list[Trial], best: Trial, runs: tuple[Run, Run], share: Share) -> Tuning:
    """What was found, and whether it is more than chance."""
    test = final_examination(data.reading)
    metric = data.task.judging.metrics(runs[0].predictor.bundle.codec)[0]
    bound = metric.for_sources([question.source for question in test])
    tuned, plain = (read_outputs(run.folder) for run in runs)
    return Tuning(
        folder=folder,
        task=data.task.name,
        model=runs[0].recipe.model.name,
        metric=metric.name,
        smaller_is_better=metric.smaller_is_better,
        best=runs[0],
        default=runs[1],
        values=best.values,
        trial=best.number,
        trials=trials,
        tied=tied(bound, [tuned], [plain], [question.references for question in test]),
        seconds_a_trial=share.each,
        seconds_at_the_end=share.final,
        test_examples=len(test),
    )
