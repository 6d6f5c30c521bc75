"""Compare: every family and its baselines on one file, honestly. Read from `compare` downwards."""

import os
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import torch

from atento.api.explain import alignments
from atento.api.explain_series import exhibited
from atento.api.fit import is_begun, require_same_recipe, versions
from atento.api.folders import BOARD, RECIPES, folder_name, held, new_folder, require_free
from atento.api.prepare import (
    LIMITS,
    Assembled,
    Data,
    absolute,
    assemble,
    build,
    facts_of,
    gather_values,
    learn,
    read_data,
    recipe_for,
    tell,
)
from atento.api.report import REPORT, write_report
from atento.api.run import Run, load
from atento.api.scoreboard import Entry, baseline_entry, judge, trained_entry
from atento.api.workers import Job, run_all
from atento.bundle import Json, read_json, write_atomically, write_json
from atento.data.tables.table import parsed_once
from atento.errors import InputError, Interrupted, RunError
from atento.metrics.bootstrap import BandFunction
from atento.metrics.metric import Metric
from atento.predictor import find_device
from atento.spec import Chosen, Recipe, parse_duration
from atento.spec.recipe import Settings, Values
from atento.tasks.filling import compared, fill_sizes
from atento.tasks.task import bands_of, baselines_of, suited
from atento.training.events import EventCallback, no_callback
from atento.views.report.board import Comparison

DEFAULT_BUDGET = "5m"
SHARE_FOR_LEARNING = 0.75  # of the budget; the rest starts processes, reads, tests and draws
LEAST_SHARE = 0.1  # seconds; a share of none would be no limit
NO_TEST = "give it a share, e.g. --set data.split=90/5/5, or a file: --set data.test=FILE"

JobPlan = tuple[Job, Recipe]  # one process, and what it will train


@dataclass(kw_only=True)
class Board(Comparison):
    """A comparison in its folder: `rows`, `winner`, `ties`, `verdict` and all else that board.json holds."""

    folder: Path

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The board that a comparison left in its folder."""
        return cls.from_json({**read_json(Path(folder), BOARD), "folder": Path(folder)})

    def best(self) -> Run:
        """The best trained model, ready to use."""
        trained = self.trained()
        if not trained:
            raise RunError("no model of this comparison was trained.", fix="look at the reasons in the report")
        return load(self.folder / trained[0].folder)

    def report(self, out: str | Path | None = None) -> Path:
        """Write the report as one HTML file, into the folder of the comparison unless told otherwise."""
        return write_report(self.folder, out=Path(out) if out else None)

    def to_frame(self) -> Any:
        """The table of results as a data frame of pandas or polars; where neither is installed, a dict of lists."""
        for name in ("pandas", "polars"):
            if find_spec(name) is not None:
                return import_module(name).DataFrame(self.to_columns())
        return self.to_columns()

    def to_json(self) -> Json:
        """The document that board.json holds."""
        return {**super().to_json(), "report": str(self.folder / REPORT)}

    def __repr__(self) -> str:
        return f"Board({str(self.folder)!r}, {len(self.rows)} rows, winner={self.winner!r})"


def compare(
    data: str | Path,
    *,
    task: str = "auto",
    models: Sequence[str] = (),
    settings: Settings = (),
    seed: int | None = None,
    seeds: int = 1,
    budget: str | float | None = None,
    device: str = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    on_event: EventCallback = no_callback,
) -> Board:
    """Train every model, from so many seeds, for an equal share of the budget, test each once, and write a board and a
    report.
    """
    values = bound(gather_values(str(data), task=task, model="auto", settings=settings, seed=seed, budget=budget))
    repeat = repeat_command(str(data), task, models, settings, seed, seeds, budget, device)
    with parsed_once():  # the guess and the reading look at one file
        chosen = assemble(values)
        folder = Path(out) if out else new_folder(chosen.recipe.data.train, "compare")
        require_free(folder, "comparison", resume=resume)
        contest = enter_models(chosen, values, models, seeds=seeds, device=device)
    plans = [plan for name, each in contest.recipes.items() for plan in spread_seeds(folder, name, each, seeds)]
    require_same_plans(plans)
    tell(contest.notes, on_event, refused=contest.data.reading.refused)
    started = time.perf_counter()
    with held(folder):
        entries = fit_baselines(contest, on_event)
        write_recipes(plans)
        try:
            run_all([job for job, _ in plans], slots=contest.slots, device=contest.device.type, watcher=on_event)
        except Interrupted as stop:
            again = f"{repeat} {shlex.join(['--out', str(folder), '--resume'])}"
            raise Interrupted(stop.exit_code - 128, stop.problem, fix=f"go on with: {again}") from None
        entries += read_trained(contest, [job for job, _ in plans], seeds)
        facts = conditions(contest, values, seeds, repeat, took=time.perf_counter() - started)
        board = judge_entries(contest, entries, Board(folder=folder, rows=[entry.row for entry in entries], **facts))
        write_json(folder / BOARD, board.to_json())
        board.report()
    return board


@dataclass(frozen=True)
class Contest:
    """What is compared: a data set with its codec, and one recipe a model."""

    data: Data
    codec: Any
    metrics: Sequence[Metric]
    bands: BandFunction
    recipes: dict[str, Recipe]
    notes: list[str]
    slots: int  # how many are trained at once
    device: torch.device


def enter_models(chosen: Assembled, values: Values, models: Sequence[str], *, seeds: int, device: str) -> Contest:
    """Read the data, learn its codec and fill in every recipe; a model that cannot be built is named before anything is
    written.
    """
    if seeds < 1:
        raise InputError("--seeds: a model is trained from one seed at least.", found=str(seeds), fix="--seeds 3")
    names, where = list(models) or list(compared(chosen.task, chosen.recipe.data.train)), find_device(device)
    count = len(names) * seeds
    slots = 1 if where.type == "cuda" else min(count, len(os.sched_getaffinity(0)))
    recipes = share_budget(chosen, values, names, rounds=-(-count // slots), alone=slots == 1)
    share = next(iter(recipes.values())).train  # of the time, the same for all
    limits = {"train.budget": share.budget, "train.threads": share.threads}
    data = read_data(chosen._replace(recipe=chosen.recipe.with_values(limits)), values, device=where.type)
    require_comparable(data)
    task, train = data.task, data.reading.train
    recipes = {name: fill_sizes(task, each, values, train, device=where.type) for name, each in recipes.items()}
    codec = learn(data)
    for each in recipes.values():
        build(task, each, suited(task, codec, each))
    guesses = (note for note in chosen.notes if note.startswith("task"))
    notes = [*guesses, *data.reading.notes, *codec.notes]
    return Contest(data, codec, task.judging.metrics(codec), bands_of(task, codec), recipes, notes, slots, where)


def require_comparable(data: Data) -> None:
    """All models are tested on one part, by what each of them can say."""
    if not data.reading.test:
        raise InputError("a comparison needs a test part.", found=f"data.split={data.recipe.data.split}", fix=NO_TEST)
    if data.recipe.train.objective == "masked":
        raise InputError(
            "a comparison needs a probability of each text, and a masked model has none.",
            found="train.objective=masked",
            fix="leave it out, or train one masked model: atento train FILE --task generate",
        )


def require_same_plans(plans: Sequence[JobPlan]) -> None:
    """A comparison goes on as it began."""
    for job, recipe in plans:
        if is_begun(job.folder):
            require_same_recipe(job.folder, recipe, fix="compare with the same options, or choose another --out")


def fit_baselines(contest: Contest, on_event: EventCallback) -> list[Entry]:
    """The task's simple models, fitted and tested here."""
    return [
        baseline_entry(make, contest.data.reading, contest.metrics, on_event, bands=contest.bands)
        for make in baselines_of(contest.data.task, contest.codec)
    ]


def write_recipes(plans: Sequence[JobPlan]) -> None:
    """What each process will read."""
    for job, recipe in plans:
        job.recipe.parent.mkdir(exist_ok=True)
        write_atomically(job.recipe, recipe.to_toml().encode())


def read_trained(contest: Contest, jobs: Sequence[Job], seeds: int) -> list[Entry]:
    """What the processes left, model by model."""
    reading, metrics, bands = contest.data.reading, contest.metrics, contest.bands
    return [
        trained_entry(name, jobs[at * seeds : (at + 1) * seeds], reading, metrics, bands=bands)
        for at, name in enumerate(contest.recipes)
    ]


def conditions(contest: Contest, values: Values, seeds: int, repeat: str, *, took: float) -> Json:
    """What was compared, on which data, and how."""
    task, reading, metrics = contest.data.task, contest.data.reading, contest.metrics
    return {
        "title": reading.name,
        "task": task.name,
        "created": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
        "command": repeat,
        "seed": contest.data.recipe.train.seed,
        "seeds": seeds,
        "budget": values["train.budget"] or None,
        "share": contest.data.recipe.train.budget or None,
        "took": took,
        "device": str(contest.device),
        "versions": versions(),
        "data": facts_of(reading, contest.notes),
        "metric": metrics[0].name,
        "smaller_is_better": metrics[0].smaller_is_better,
        "writes": task.learning.scheduled_sampling is not None,
        "metrics": {metric.name: metric.summary for metric in metrics},
    }


def judge_entries(contest: Contest, entries: Sequence[Entry], board: Board) -> Board:
    """The board with the verdict on its rows, and examples to look at."""
    task, test = contest.data.task, contest.data.reading.test
    outputs = {entry.row.model: entry.runs for entry in entries}
    metric = contest.metrics[0].for_sources([question.source for question in test])
    verdict = judge(board.rows, outputs, [question.references for question in test], metric, writes=board.writes)
    board = replace(board, **verdict)
    board.forecasts = exhibited(board, task, contest.codec, test, outputs)
    board.alignments = alignments(board.folder, [row for row in board.rows if not row.failed], test)
    return board


def bound(values: Values) -> Values:
    """The user's own limits, time in seconds; else the default budget."""
    limits = Recipe().with_values({key: values[key] for key in LIMITS if key in values}).train
    if not (limits.steps or limits.epochs or limits.budget):
        return {**values, "train.budget": parse_duration(DEFAULT_BUDGET)}
    return {**values, "train.budget": limits.budget}


def share_of(budget: float, runs: int) -> float:
    """The seconds of training that each of so many runs has."""
    return max(LEAST_SHARE, round(SHARE_FOR_LEARNING * budget / runs, 1))


def share_budget(
    chosen: Assembled, values: Values, names: Sequence[str], *, rounds: int, alone: bool
) -> dict[str, Recipe]:
    """One recipe a model: the same data, seed and limits, an equal share of the time."""
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--models names {twice} twice.", found=", ".join(names), fix="name each model once")
    shared = {**values, **absolute(chosen.recipe.data)}  # with the parts that were found
    if values["train.budget"]:
        share = share_of(values["train.budget"], rounds)
        shared["train.budget"] = Chosen(share, "an equal share of the comparison's time")
    if not alone:
        shared["train.threads"] = Chosen(1, "several models are trained side by side")
    return {name: recipe_for(chosen.task, {**shared, "model.name": name}).recipe for name in names}


def spread_seeds(folder: Path, name: str, recipe: Recipe, seeds: int) -> list[JobPlan]:
    """One job a seed, all on the same split."""
    plans = []
    for more in range(seeds):
        own = f"{folder_name(name)}{f'-seed-{more}' if more else ''}"
        title = name if seeds == 1 else f"{name} (seed {recipe.train.seed + more})"
        values = {"train.seed": recipe.train.seed + more, "data.seed": recipe.split_seed} if seeds > 1 else {}
        plans.append((Job(title, folder / RECIPES / f"{own}.toml", folder / own), recipe.with_values(values)))
    return plans


def repeat_command(
    data: str,
    task: str,
    models: Sequence[str],
    settings: Settings,
    seed: int | None,
    seeds: int,
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
    parts += ["--seeds", str(seeds)] if seeds != 1 else []
    parts += ["--budget", str(budget)] if budget is not None else []
    parts += ["--device", device] if device != "auto" else []
    return shlex.join(parts)
