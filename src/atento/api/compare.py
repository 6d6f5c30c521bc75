"""Compare: every family and its baselines on one file, honestly. Read from `compare` downwards."""

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from atento.api.advice import in_python
from atento.api.comparison.cluster import workers_for
from atento.api.comparison.contest import Contest, JobPlan, bound, enter_models, spread_seeds
from atento.api.comparison.continuing import continue_best, seconds_to_go_on
from atento.api.comparison.scoreboard import Entry, FittedBaseline, baseline_entry, fit_baseline, judge, trained_entry
from atento.api.comparison.seeds import mean_entry
from atento.api.comparison.workers import Job, Workers, run_all
from atento.api.explain.answers import alignments
from atento.api.explain.series import exhibited
from atento.api.finish import finish_simple, versions
from atento.api.folders import BOARD, COMMAND, folder_name, held, new_folder, require_free
from atento.api.prepare import (
    Prepared,
    assemble,
    facts_of,
    gather_values,
    tell,
)
from atento.api.report import REPORT, write_report
from atento.api.run import Run, load
from atento.api.starting.moved import moved_keys, require_same_data
from atento.api.starting.opening import is_begun, open_run, require_same_recipe
from atento.bundle import Json, is_finished, read_json, write_json
from atento.data.files.memory import is_in_memory, lend
from atento.data.tables.table import parsed_once
from atento.errors import Interrupted, RunError
from atento.predictor import find_device
from atento.spec.recipe import Settings, Values
from atento.tasks.baselines import BaselineModule, with_baseline
from atento.tasks.sealed import final_examination
from atento.tasks.task import EvaluationExample, baselines_of
from atento.training.events import EventCallback, no_callback
from atento.training.trackers import TrackedRun, require_trackers, tracked
from atento.views.report.board import Comparison
from atento.writing import write_atomically


@dataclass(kw_only=True)
class Board(Comparison):
    """A comparison in its folder: `rows`, `winner`, `ties`, `verdict` and all else that board.json holds."""

    folder: Path

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The board that a comparison left in its folder.

        folder: the folder.
        """
        return cls.from_json({**read_json(Path(folder), BOARD), "folder": Path(folder)})

    def best(self) -> Run:
        """The winner, ready to use: a network or a simple baseline, as the folder of the comparison gives it."""
        winner = [row for row in self.ranked() if row.model == self.winner and row.folder]
        if not winner:
            raise RunError("no model of this comparison can be used.", fix="look at the reasons in the report")
        return load(self.folder / (self.finished or winner[0].folder))

    def best_network(self) -> Run:
        """The best of the trained networks, ready to use; a simple baseline may be better."""
        trained = self.trained()
        if not trained:
            raise RunError("no model of this comparison was trained.", fix="look at the reasons in the report")
        return load(self.folder / trained[0].folder)

    def report(self, out: str | Path | None = None) -> Path:
        """Write the report as one HTML file.

        out: the file; None: report.html in the folder of the comparison.
        """
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
    finish: str | float | None = None,
    device: str = "auto",
    cluster: str = "",
    out: str | Path | None = None,
    resume: bool = False,
    track: str | Sequence[str] = (),
    on_event: EventCallback = no_callback,
) -> Board:
    """Train every model, from one or several seeds, for an equal share of the budget, test each once, and write a board
    and a report; the winner may then go on for a time of its own.
    """
    track, where, more = require_trackers(track), find_device(device), seconds_to_go_on(finish)
    values = bound(gather_values(str(data), task=task, model="auto", settings=settings, seed=seed, budget=budget))
    repeat = repeat_command(str(data), task, models, settings, seed, seeds, budget, finish, device, cluster, track)
    with workers_for(cluster, where.type, tell=lambda text: tell([text], on_event)) as workers:
        with parsed_once():  # the guess and the reading look at one file
            chosen = assemble(values)
            folder = Path(out) if out else new_folder(chosen.recipe.data.train, "compare")
            require_free(folder, "comparison", resume=resume)
            contest = enter_models(chosen, values, models, workers, seeds=seeds, device=where)
        plans = [plan for name, each in contest.recipes.items() for plan in spread_seeds(folder, name, each, seeds)]
        require_same_plans(plans, contest.data.reading.fingerprint)
        tell(contest.notes, on_event, refused=contest.data.reading.refused)
        started = time.perf_counter()
        with held(folder):
            baselines = fit_baselines(contest)
            train_all(plans, contest, workers, folder, repeat, track=track, on_event=on_event)
            test = final_examination(contest.data.reading)  # nothing is learned from here on
            entries = ask_baselines(contest, baselines, test, folder, on_event)
            entries += read_trained(contest, [job for job, _ in plans], seeds, test)
            facts = conditions(contest, values, seeds, repeat, took=time.perf_counter() - started)
            told = [entry.row.other.get("metrics", {}) for entry in entries]  # of a chaotic system also its valid time
            facts["metrics"] = max((facts["metrics"], *told), key=len)
            board = Board(folder=folder, rows=[entry.row for entry in entries], **facts)
            board = judge_entries(contest, entries, board, test)
            write_json(folder / BOARD, board.to_json())
            if more:
                board = continue_best(board, folder, more, device=device, track=track, on_event=on_event)
                write_json(folder / BOARD, board.to_json())
            board.report()
    return board


def train_all(
    plans: Sequence[JobPlan],
    contest: Contest,
    workers: Workers,
    folder: Path,
    repeat: str,
    *,
    track: Sequence[str],
    on_event: EventCallback,
) -> None:
    """Train every model in a process of its own, here or on a cluster, shown in the trackers that were asked for."""
    lent = write_recipes(plans, repeat)
    shown = {job.name: TrackedRun(job.folder, f"{folder.name}/{job.name}", own.flat()) for job, own in plans}
    jobs = [job for job, _ in plans]
    try:
        with tracked(track, shown, on_event) as watch:
            run_all(jobs, folder, workers, slots=contest.slots, watcher=watch)
    except Interrupted as stop:
        again = f"{repeat} {shlex.join(['--out', str(folder), '--resume'])}"
        raise Interrupted(stop.exit_code - 128, stop.problem, fix=f"go on with: {again}") from None
    finally:
        for path in lent:
            path.unlink(missing_ok=True)


def require_same_plans(plans: Sequence[JobPlan], fingerprint: str) -> None:
    """A comparison goes on as it began; its data may lie elsewhere by now."""
    for job, recipe in plans:
        if is_begun(job.folder):
            moved = moved_keys(job.folder, recipe)
            fix = "compare with the same options, or choose another --out"
            require_same_recipe(job.folder, recipe, but=moved, fix=fix)
            require_same_data(job.folder, recipe, moved, fingerprint)


def fit_baselines(contest: Contest) -> list[FittedBaseline]:
    """The task's simple models, fitted on the training part."""
    made = baselines_of(contest.data.task, contest.codec)
    return [fit_baseline(make, contest.data.reading.train) for make in made]


def ask_baselines(
    contest: Contest,
    baselines: Sequence[FittedBaseline],
    test: Sequence[EvaluationExample],
    folder: Path,
    on_event: EventCallback,
) -> list[Entry]:
    """What the task's simple models say; each is kept as a run, beside the trained models."""
    keep = partial(keep_baseline, contest, folder, test)
    return [baseline_entry(one, keep, on_event) for one in baselines]


def keep_baseline(contest: Contest, folder: Path, test: Sequence[EvaluationExample], fitted: FittedBaseline) -> Path:
    """Test a fitted baseline and leave it in a folder of its own, unless an earlier start of the comparison did."""
    name, data = fitted.row.model, contest.data
    own = folder / folder_name(name)
    if not is_finished(own):
        recipe = data.recipe.with_values({"model.name": name}, why="a simple baseline of the task")
        task, module = with_baseline(data.task, name), BaselineModule(fitted.baseline)
        prepared = Prepared(
            task, recipe, data.reading, contest.codec, module, tuple(contest.notes), started=False, solved=False
        )
        with held(own):
            open_run(own, prepared, resume=False)
            finish_simple(prepared, own, test, seconds=fitted.row.seconds or 0.0)
    return own


def write_recipes(plans: Sequence[JobPlan], repeat: str) -> list[Path]:
    """What each process will read, and the command that resumes them; data in memory is lent to them as files, whose
    paths are returned.
    """
    lent: list[Path] = []
    for job, recipe in plans:
        job.recipe.parent.mkdir(exist_ok=True)
        write_atomically(job.recipe, recipe.to_toml().encode())
        lent = lent or lend((recipe.data.train, recipe.data.valid, recipe.data.test), job.recipe.parent)
    if not lent:
        write_atomically(plans[0][0].recipe.with_name(COMMAND), repeat.encode())
    return lent


def read_trained(contest: Contest, jobs: Sequence[Job], seeds: int, test: Sequence[EvaluationExample]) -> list[Entry]:
    """What the processes left, model by model, and the mean of each model's seeds."""
    reading, metrics, bands = contest.data.reading, contest.metrics, contest.bands
    of_model = {name: jobs[at * seeds : (at + 1) * seeds] for at, name in enumerate(contest.recipes)}
    found = [trained_entry(name, own, reading, test, metrics, bands=bands) for name, own in of_model.items()]
    means = [mean_entry(contest, name, own, test) for name, own in of_model.items()] if seeds > 1 else []
    return [*found, *(mean for mean in means if mean is not None)]


def conditions(contest: Contest, values: Values, seeds: int, repeat: str, *, took: float) -> Json:
    """What was compared, on which data, and how."""
    task, reading, metrics = contest.data.task, contest.data.reading, contest.metrics
    return {
        "title": reading.name,
        "task": task.name,
        "created": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
        "command": in_python(repeat) if is_in_memory(contest.data.recipe.data.train) else repeat,
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


def judge_entries(contest: Contest, entries: Sequence[Entry], board: Board, test: Sequence[EvaluationExample]) -> Board:
    """The board with the verdict on its rows, and examples to look at."""
    task = contest.data.task
    outputs = {entry.row.model: entry.runs for entry in entries}
    metric = contest.metrics[0].for_sources([question.source for question in test])
    verdict = judge(board.rows, outputs, [question.references for question in test], metric, writes=board.writes)
    board = replace(board, **verdict)
    board.forecasts = exhibited(board, task, contest.codec, test, outputs)
    board.alignments = alignments(board.folder, [row for row in board.rows if not row.failed], test)
    return board


def repeat_command(
    data: str,
    task: str,
    models: Sequence[str],
    settings: Settings,
    seed: int | None,
    seeds: int,
    budget: str | float | None,
    finish: str | float | None,
    device: str,
    cluster: str,
    track: Sequence[str],
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
    parts += ["--finish", str(finish)] if finish is not None else []
    parts += ["--device", device] if device != "auto" else []
    parts += ["--cluster", cluster] if cluster else []
    parts += ["--track", ",".join(track)] if track else []
    return shlex.join(parts)
