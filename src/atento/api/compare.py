"""Compare: every family and its baselines on one file, honestly. Read from `compare` downwards."""

import os
import shlex
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from atento.api.card import versions
from atento.api.entries import baseline_entry, trained_entry
from atento.api.fit import is_begun, require_same_recipe
from atento.api.folders import BOARD, RECIPES, folder_name, held, new_folder, require_free
from atento.api.forecasts import exhibited
from atento.api.recipes import LIMITS, Settings, assemble, gather_values
from atento.api.run import Run, find_device, load
from atento.api.show import alignments
from atento.api.side_by_side import Job, run_all
from atento.api.verdict import Row, judge
from atento.bundle import write_atomically, write_json
from atento.checking.leaks import require_no_leak
from atento.errors import InputError, Interrupted, RunError
from atento.looking.report import render_report
from atento.looking.standings import ranked
from atento.spec import Recipe, parse_duration
from atento.tasks.task import bands_of, baselines_of, compared, fill_sizes, learn_codec, suited
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
    seeds: int = 1,
    budget: str | float | None = None,
    device: str = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    on_event: Watcher = no_watcher,
) -> Board:
    """Train every model, from so many seeds, for an equal share of the budget, test each once, and write a board and a
    report.
    """
    values = bound(gather_values(str(data), task=task, model="auto", settings=settings, seed=seed, budget=budget))
    chosen, recipe, guesses = assemble(values)
    values = {**values, "task": chosen.name}  # the file is looked at once, not again for every model
    names = list(models) or list(compared(chosen, recipe.data.train))
    folder = Path(out) if out else new_folder(recipe.data.train, "compare")
    require_free(folder, "comparison", resume=resume)
    where = find_device(device)
    count = len(names) * require_seeds(seeds)
    slots = 1 if where.type == "cuda" else min(count, len(os.sched_getaffinity(0)))
    recipes = share_budget(values, names, rounds=-(-count // slots), alone=slots == 1)
    reading = chosen.read(recipe.data, recipe.split_seed)
    share = next(iter(recipes.values())).train  # of the time, the same for all
    recipe = recipe.with_values({"train.budget": share.budget, "train.threads": share.threads})
    recipe, *filled = (
        fill_sizes(chosen, each, values, reading.train, device=where.type) for each in (recipe, *recipes.values())
    )
    recipes = dict(zip(recipes, filled, strict=True))
    if not reading.test:
        raise InputError("a comparison needs a test part.", found=f"data.split={recipe.data.split}", fix=NO_TEST)
    if recipe.train.objective == "masked":
        raise InputError(
            "a comparison needs a probability of each text, and a masked model has none.",
            found="train.objective=masked",
            fix="leave it out, or train one masked model: atento train FILE --task generate",
        )
    codec = learn_codec(chosen, recipe, reading.train)
    require_no_leak(codec, reading)
    for each in recipes.values():
        # a model that cannot be built is named before anything is written
        module = chosen.build(each.model, suited(chosen, codec, each))
        require_sense(chosen, module, each.train)
    plans = [plan for name, each in recipes.items() for plan in spread_seeds(folder, name, each, seeds)]
    for job, each in plans:
        if is_begun(job.folder):
            require_same_recipe(job.folder, each, fix="compare with the same options, or choose another --out")
    notes = [*(guess for guess in guesses if guess.startswith("task")), *reading.notes, *codec.notes]
    for note in notes:
        on_event({"event": "note", "text": note})
    for refusal in reading.refused:
        on_event({"event": "refused", "text": str(refusal)})
    started = time.perf_counter()
    with held(folder):
        metrics, bands = chosen.metrics(codec), bands_of(chosen, codec)
        entries = [
            baseline_entry(make, reading, metrics, on_event, bands=bands) for make in baselines_of(chosen, codec)
        ]
        for job, each in plans:
            job.recipe.parent.mkdir(exist_ok=True)
            write_atomically(job.recipe, each.to_toml().encode())
        jobs = [job for job, _ in plans]
        repeat = repeat_command(str(data), task, models, settings, seed, seeds, budget, device)
        try:
            run_all(jobs, slots=slots, device=where.type, watcher=on_event)
        except Interrupted as stop:
            again = f"{repeat} {shlex.join(['--out', str(folder), '--resume'])}"
            raise Interrupted(stop.exit_code - 128, stop.problem, fix=f"go on with: {again}") from None
        by_model = [(name, jobs[at * seeds : (at + 1) * seeds]) for at, name in enumerate(names)]
        entries += [trained_entry(name, some, reading, metrics, bands=bands) for name, some in by_model]
        rows = [entry.row for entry in entries]
        outputs = {entry.row["model"]: entry.runs for entry in entries}
        facts = {
            "title": reading.name,
            "task": chosen.name,
            "created": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
            "command": repeat,
            "seed": recipe.train.seed,
            "seeds": seeds,
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
            **judge(
                rows,
                outputs,
                [question.references for question in reading.test],
                metrics[0].on([question.source for question in reading.test]),
                writes=chosen.mix is not None,
            ),
            "forecasts": exhibited(codec, reading.test, rows, outputs),
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


def require_seeds(seeds: int) -> int:
    """One at least."""
    if seeds < 1:
        raise InputError("--seeds: a model is trained from one seed at least.", found=str(seeds), fix="--seeds 3")
    return seeds


def share_budget(values: dict[str, Any], names: Sequence[str], *, rounds: int, alone: bool) -> dict[str, Recipe]:
    """One recipe a model: the same data, seed and limits, an equal share of the time."""
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--models names {twice} twice.", found=", ".join(names), fix="name each model once")
    shared = dict(values)
    if values["train.budget"]:
        shared["train.budget"] = max(LEAST_SHARE, round(SHARE_FOR_LEARNING * values["train.budget"] / rounds, 1))
    if not alone:
        shared["train.threads"] = 1
    return {name: assemble({**shared, "model.name": name})[1] for name in names}


def spread_seeds(folder: Path, name: str, recipe: Recipe, seeds: int) -> list[tuple[Job, Recipe]]:
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
