"""Tune: try recipes on the validation part, train the best of them, and test it once beside the default."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import NamedTuple

import torch

from atento.api.comparison.cluster import workers_for
from atento.api.comparison.contest import DEFAULT_BUDGET
from atento.api.comparison.workers import Workers
from atento.api.fit import fit
from atento.api.folders import OUTCOME, TRIALS, held, new_folder, require_free
from atento.api.prepare import LIMITS, Data, assemble, gather_values, read_data, tell
from atento.api.run import Run
from atento.api.trials import attempt_one, attempt_together, without_test
from atento.bundle import Json, read_outputs, write_json
from atento.data.records import counted
from atento.data.tables.table import parsed_once
from atento.errors import InputError
from atento.metrics.bootstrap import tied
from atento.predictor import find_device
from atento.reprs import short_repr
from atento.spec import Recipe, parse_duration
from atento.spec.recipe import Settings, Values
from atento.tasks.sealed import final_examination
from atento.training.events import EventCallback, no_callback
from atento.training.trackers import TrackedRun, require_trackers, tracked
from atento.tuning.search import Asked, Trial, search, space_around
from atento.views.notebook.results import ResultsView
from atento.views.wording import interval, score
from atento.writing import write_atomically

SHARE_FOR_SEARCH = 0.5  # of the budget; the rest trains the best recipe and the default, equally long
SECONDS_A_TRIAL = 30.0
FEWEST, MOST = 4, 40
BESIDE = ("folder", "best", "default", "values", "trial", "trials")  # fields that JSON holds in another form


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
    together: int  # of them side by side
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
    cluster: str = "",
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
    shown = {"": TrackedRun(folder, folder.name, found.recipe.flat())}
    with held(folder):
        with (
            workers_for(cluster, where.type, tell=lambda text: tell([text], on_event)) as workers,
            tracked(track, shown, on_event) as watch,
        ):
            share = share_time(seconds, workers.capacity)
            trials = try_recipes(found, values, share, where, workers, folder, watch)
        best = max((trial for trial in trials if trial.merit is not None), key=lambda one: one.merit or -math.inf)
        runs = train_both(found.recipe, best, share, folder, device, track, on_event)
        tuning = outcome(folder, found, trials, best, runs, share)
        write_json(folder / OUTCOME, tuning.to_json())
    return tuning


def share_time(seconds: float, most: int) -> Share:
    """One part of the budget for the trials, at most so many of them side by side; one for the two runs at the end."""
    count = max(FEWEST, min(MOST, int(SHARE_FOR_SEARCH * seconds * most / SECONDS_A_TRIAL)))
    together = min(count, most)
    return Share(
        count, together, SHARE_FOR_SEARCH * seconds / -(-count // together), (1 - SHARE_FOR_SEARCH) / 2 * seconds
    )


def require_parts(data: Data) -> None:
    """A search chooses by the validation part and ends on the test part."""
    if not data.reading.valid or not data.reading.test:
        raise InputError(
            "a search needs a validation and a test part.",
            found=f"data.split={data.recipe.data.split}",
            fix="--set data.split=80/10/10",
        )


def try_recipes(
    data: Data,
    values: Values,
    share: Share,
    device: torch.device,
    workers: Workers,
    folder: Path,
    on_event: EventCallback,
) -> list[Trial]:
    """Search around the recipe, over what the user left open; the first trial is the recipe as it is."""
    space, unseen = space_around(data.task, data.recipe, fixed=values), without_test(data)

    def attempt(asked: Sequence[Asked]) -> list[float | None]:
        if share.together > 1 or workers.name:
            return attempt_together(unseen, share.each, asked, workers, folder, on_event)
        recipes = [data.recipe.with_values({**one.values, "train.budget": share.each}) for one in asked]
        return [
            attempt_one(replace(unseen, recipe=recipe), device, one, on_event)
            for recipe, one in zip(recipes, asked, strict=True)
        ]

    first = {key: data.recipe.flat()[key] for key in space}
    return search(
        attempt, space, first=first, count=share.trials, journal=folder / TRIALS, seed=data.recipe.train.seed,
        together=share.together,
    )  # fmt: skip


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
