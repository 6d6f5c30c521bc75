"""Tune: try recipes on the validation part, train the best of them, and test it once beside the default."""

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from atento.api.compare import DEFAULT_BUDGET
from atento.api.fit import begin, fit, make_plan
from atento.api.folders import TRIALS, held, new_folder, require_free
from atento.api.outputs import read_outputs
from atento.api.recipes import LIMITS, Settings, assemble, gather_values
from atento.api.run import Run, find_device
from atento.bundle import write_atomically, write_json
from atento.errors import InputError, RunError
from atento.metrics.intervals import tied
from atento.spec import Recipe, parse_duration
from atento.tasks.task import Reading, Task, fill_sizes, learn_codec
from atento.training.events import Event, EventLog, Watcher, no_watcher
from atento.training.learner import new_learner
from atento.training.loop import require_sense, train
from atento.tuning.search import Trial, search
from atento.tuning.space import space_around

SHARE_FOR_SEARCH = 0.5  # of the budget; the rest trains the best recipe and the default, equally long
SECONDS_A_TRIAL = 30.0
FEWEST, MOST = 4, 40
FACTS, BEST = "tune.json", "best.toml"


class Hopeless(Exception):
    """A trial that others have long overtaken; caught in this file."""


@dataclass(frozen=True)
class Tuning:
    """The outcome of a search."""

    folder: Path
    facts: dict[str, Any]
    best: Run
    default: Run


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
    on_event: Watcher = no_watcher,
) -> Tuning:
    """Search over recipes for a share of the budget, then train the best one and the default, and test both once."""
    values = gather_values(str(data), task=task, model=model, settings=settings, seed=seed, budget=budget)
    seconds = float(values.pop("train.budget", 0) or parse_duration(DEFAULT_BUDGET))
    chosen, recipe, notes = assemble({**values, "train.budget": seconds})
    refuse_limits(values)
    folder = Path(out) if out else new_folder(recipe.data.train, "tune")
    require_free(folder, "search", resume=resume)
    reading = chosen.read(recipe.data, recipe.split_seed)
    recipe = fill_sizes(chosen, recipe, values, reading.train, device=find_device(device).type)
    for note in (*reading.notes, *notes):
        on_event({"event": "note", "text": note})
    if not reading.valid or not reading.test:
        raise InputError(
            "a search needs a validation and a test part.",
            found=f"data.split={recipe.data.split}",
            fix="--set data.split=80/10/10",
        )
    count = max(FEWEST, min(MOST, int(SHARE_FOR_SEARCH * seconds / SECONDS_A_TRIAL)))
    share = SHARE_FOR_SEARCH * seconds / count
    space, where = space_around(chosen, recipe, fixed=values), find_device(device)
    first = {key: recipe.flat()[key] for key in space}
    unseen = reading._replace(test=())  # what a trial is given

    def attempt(number: int, tried: dict[str, Any], report: Any) -> float | None:
        trial = recipe.with_values({**tried, "train.budget": share})
        return attempt_one(chosen, trial, unseen, where, number, report, on_event)

    with held(folder):
        trials = search(attempt, space, first=first, count=count, journal=folder / TRIALS, seed=recipe.train.seed)
        best = max((trial for trial in trials if trial.merit is not None), key=lambda one: one.merit or -math.inf)
        final = (1 - SHARE_FOR_SEARCH) / 2 * seconds
        tuned = recipe.with_values({**best.values, "train.budget": final})
        plain = recipe.with_values({"train.budget": final})
        write_atomically(folder / BEST, tuned.to_toml().encode())
        runs = [
            fit(path_of(folder, name, one), out=folder / name, device=device, resume=True, on_event=on_event)
            for name, one in (("best", tuned), ("default", plain))
        ]
        facts = outcome(chosen, reading, trials, best, runs, share=share, final=final)
        write_json(folder / FACTS, facts)
    return Tuning(folder, facts, *runs)


def refuse_limits(values: dict[str, Any]) -> None:
    """Time is shared among the trials; other limits would make them unequal."""
    for key in LIMITS:
        if values.get(key):
            raise InputError(f"{key} has no meaning in a search.", found=f"{key}={values[key]}", fix="give --budget")


def attempt_one(
    task: Task, recipe: Recipe, reading: Reading, device: torch.device, number: int, report: Any, on_event: Watcher
) -> float | None:
    """The best validation of one recipe; None where it failed or was given up."""
    seen: list[float] = []

    def watch(event: Event) -> None:
        if event["event"] == "validation":
            selects = task.selects or task.metrics(codec)[0]
            seen.append(max([*seen, selects.merit(event["metrics"][selects.name])]))
            if report(len(seen), seen[-1]):
                raise Hopeless

    failed = ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            codec = learn_codec(task, recipe, reading.train)
            torch.manual_seed(recipe.train.seed)
            module = task.build(recipe.model, codec)
            require_sense(task, module, recipe.train)
            if recipe.train.balance and task.weigh is not None:
                task.weigh(module, codec, recipe.train.balance)
            solved = task.start is not None and task.start(module, codec, reading.train)
            plan = make_plan(task, recipe, codec, reading, device, Path(folder), solved=bool(solved))
            learner = new_learner(module.to(device), recipe)
            log = EventLog(Path(folder), watch)
            begin(plan, learner, log, resume=False)
            train(plan, learner, log)
        except Hopeless:
            failed = "given up: others were better by then"
        except (InputError, RunError) as error:
            failed = error.problem
    merit = seen[-1] if seen and not failed else None
    on_event({"event": "trial", "number": number, "merit": merit, "why": failed})
    return merit


def path_of(folder: Path, name: str, recipe: Recipe) -> str:
    """The recipe as a file, which `fit` reads."""
    path = folder / f"{name}.toml"
    write_atomically(path, recipe.to_toml().encode())
    return str(path)


def outcome(
    task: Task, reading: Reading, trials: list[Trial], best: Trial, runs: list[Run], *, share: float, final: float
) -> dict[str, Any]:
    """What was found, and whether it is more than chance."""
    metric = task.metrics(runs[0].predictor.bundle.codec)[0]
    outputs = [read_outputs(run.folder) for run in runs]
    told = metric.on([question.source for question in reading.test])
    same = tied(told, outputs[0], outputs[1], [question.references for question in reading.test])
    scores = [run.metrics["scores"][metric.name] for run in runs]
    return {
        "task": task.name,
        "model": runs[0].recipe.model.name,
        "metric": metric.name,
        "smaller_is_better": metric.smaller_is_better,
        "best": {"values": best.values, "score": scores[0], "run": str(runs[0].folder), "trial": best.number},
        "default": {"score": scores[1], "run": str(runs[1].folder)},
        "tied": same,
        "trials": [trial._asdict() for trial in trials],
        "seconds_a_trial": share,
        "seconds_at_the_end": final,
        "test_examples": len(reading.test),
    }
