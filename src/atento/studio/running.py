"""Runs: their list, their state and events, and how they are started, paused, resumed and finished.

A run is a process of its own (`jobs`), started with the very command that the page shows; whether it is running is
known from the lock of its folder, so that a server that is started anew knows as much as the one before it.
"""

import json
import shlex
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock

from atento.api.folders import (
    BOARD,
    COMMAND,
    OUTCOME,
    RECIPES,
    RUNS,
    folder_in_use,
    in_use,
    kind_of,
    list_runs,
    new_folder,
)
from atento.api.stop import is_complete, resume_words
from atento.bundle import EVENTS, METRICS, RECIPE, Json, is_finished, read_json
from atento.errors import AtentoError, InputError, unknown_name
from atento.spec import DEFAULT, Recipe, read_recipe
from atento.studio import jobs
from atento.studio.asking import (
    ComparisonAsked,
    ModelAsked,
    compare_call,
    compare_words,
    compared_by,
    same_as,
    train_call,
    train_words,
)
from atento.studio.inspecting import assembled
from atento.studio.workspace import FILE_KEYS, is_inside, relative_name, run_folders
from atento.tasks.baselines import require_model
from atento.tasks.filling import BY_USER

STARTING = Lock()  # two runs at once would choose one folder
SAID_APART = ("task", "model.name", "data.train", "train.seed", "train.budget")  # keys with an option of their own


class UnknownRun(InputError):
    """A request named a run that the workspace does not list."""


def find_run(name: str) -> Path:
    """The folder of a run by its ID; only those that the workspace lists."""
    folders = run_folders()
    if name not in folders:
        error = unknown_name("run", name[:200], folders)
        raise UnknownRun(error.problem, found=error.found, fix="`atento runs` lists them")
    return folders[name]


def state_of(folder: Path) -> str:
    """running, finished, failed, or `can be resumed`."""
    if is_complete(folder) or (kind_of(folder) == "search" and (folder / OUTCOME).exists()):
        return "finished"
    if in_use(folder):
        return "running"
    return "failed" if jobs.failure_of(folder) else "can be resumed"


def list_all() -> list[Json]:
    """Every run of the workspace, newest first, with what it learns and how good it is."""
    known = run_folders()
    found = []
    for entry in list_runs() if is_inside(RUNS) else []:
        folder = Path(entry.pop("folder"))
        name = folder.relative_to(RUNS).as_posix()
        if name not in known:
            continue
        if entry["state"] == "can be resumed" and jobs.failure_of(folder):
            entry["state"] = "failed"
        recipe = recipe_in(folder)
        facts = {
            "id": name,
            "data": relative_name(recipe.data.train) if recipe else "",
            "task": recipe.task if recipe else "",
            "modified": folder.stat().st_mtime,
            "started_by_studio": jobs.started_here(folder),
        }
        entry["model"] = entry["model"] or (recipe.model.name if recipe and entry["kind"] == "run" else "")
        found.append({**entry, **facts})
    return found


def recipe_in(folder: Path) -> Recipe | None:
    """The recipe of a run, or of a comparison the one of its first model; None where it cannot be read."""
    recipes = [folder / RECIPE, *sorted((folder / RECIPES).glob("*.toml"))]
    for path in recipes:
        if path.is_file():
            try:
                return read_once(path, path.stat().st_mtime_ns)
            except AtentoError:
                return None
    return None


@lru_cache(maxsize=256)
def read_once(path: Path, modified: int) -> Recipe:
    """A recipe as it was at a time."""
    return read_recipe(path)


def describe_run(name: str) -> Json:
    """All that is known of a run, a comparison or a search."""
    folder = find_run(name)
    kind, recipe = kind_of(folder), recipe_in(folder)
    chosen = {key: value for key, value in recipe.flat().items() if recipe.why(key) != DEFAULT} if recipe else {}
    finished = kind == "run" and is_finished(folder)
    metrics = read_json(folder, METRICS) if finished else None
    resumable = kind in ("run", "comparison") and not is_complete(folder)
    children = [other for other in run_folders() if other.startswith(f"{name}/")]
    return {
        "id": name,
        "kind": kind,
        "state": state_of(folder),
        "folder": str(folder),
        "task": recipe.task if recipe else "",
        "model": recipe.model.name if recipe and kind == "run" else "",
        "data": relative_name(recipe.data.train) if recipe else "",
        "recipe": chosen,
        "values": recipe.flat() if recipe else {},
        "why": {key: recipe.why(key) for key in chosen} if recipe else {},
        "metrics": metrics,
        "notes": metrics["data"]["notes"] if metrics else [],
        "failure": jobs.failure_of(folder),
        "started_by_studio": jobs.started_here(folder),
        "children": children,
        "planned": sorted(path.stem for path in (folder / RECIPES).glob("*.toml")) if kind == "comparison" else [],
        "same": same_run(folder, recipe) if kind == "run" else same_comparison(folder),
        "resume_command": again_command(folder) if resumable else "",
    }


def asked_for(recipe: Recipe) -> ModelAsked:
    """What a user typed to get a recipe: the values that are said to come from the user."""
    flat = recipe.flat()
    own = {key: flat[key] for key in flat if recipe.why(key) == BY_USER}
    return ModelAsked(
        file=relative_name(recipe.data.train),
        task=recipe.task,
        model=recipe.model.name,
        settings={
            key: relative_name(value) if key in FILE_KEYS else value
            for key, value in own.items()
            if key not in SAID_APART
        },
        budget=recipe.train.budget if "train.budget" in own else None,
        seed=recipe.train.seed if "train.seed" in own else None,
    )


def same_run(folder: Path, recipe: Recipe | None) -> Json | None:
    """The command, TOML and Python of a run."""
    if recipe is None:
        return None
    asked = asked_for(recipe)
    return same_as(train_words(asked), train_call(asked), toml=recipe.to_toml())


def same_comparison(folder: Path) -> Json | None:
    """The same of a comparison, by the command that it was made with."""
    written = folder / RECIPES / COMMAND
    if (folder / BOARD).is_file():
        words = shlex.split(str(read_json(folder, BOARD)["command"]))[1:]
    elif written.is_file():
        words = shlex.split(written.read_text(encoding="utf-8"))[1:]
    else:
        return None
    return same_as(words, compare_call(compared_by(words)))


def again_command(folder: Path) -> str:
    """What a user types to go on with a run or a comparison; nothing where nobody knows."""
    try:
        return shlex.join(resume_words(folder))
    except AtentoError:
        return ""


def events_of(name: str, after: int) -> Json:
    """The events of a run from a line on; `from` is smaller than asked for where the log was rewound."""
    folder = find_run(name)
    state = state_of(folder)  # asked first: what is written after it comes with the next question
    path = folder / EVENTS
    lines = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []  # what follows the last break is not whole
    first = after if 0 <= after <= len(lines) else 0
    events = []
    for line in lines[first:]:
        try:
            events.append(json.loads(line))
        except ValueError:  # a line that was cut off by a kill
            events.append({"event": "unreadable"})
    return {"events": events, "from": first, "next": len(lines), "state": state}


def board_of(name: str) -> Json:
    """The board of a comparison."""
    folder = find_run(name)
    if kind_of(folder) != "comparison":
        raise InputError(f"{name} is no comparison.", found=kind_of(folder), fix="open its own page")
    if not (folder / BOARD).is_file():
        raise InputError(f"{name}: this comparison has not ended.", found=state_of(folder), fix="wait until it has")
    return {**read_json(folder, BOARD), "same": same_comparison(folder)}


def start_training(asked: ModelAsked) -> Json:
    """Start a training as a process of its own; wrong input is refused before."""
    _, recipe, _ = assembled(asked)
    before = str(find_run(asked.start_from)) if asked.start_from else ""
    with STARTING:
        folder = new_folder(recipe.data.train, recipe.model.name)
        words = train_words(asked, before=before, out=str(folder))
        start(words, folder)
    same = same_as(words, train_call(asked, before=before, out=str(folder)), toml=recipe.to_toml())
    return {"id": folder.name, "same": same}


def start_comparison(asked: ComparisonAsked) -> Json:
    """Start a comparison as a process of its own."""
    first = ModelAsked(file=asked.file, task=asked.task, settings=asked.settings, budget=asked.budget, seed=asked.seed)
    task, recipe, _ = assembled(first)
    for model in asked.models:
        require_model(task, model)
    with STARTING:
        folder = new_folder(recipe.data.train, "compare")
        words = compare_words(asked, out=str(folder))
        start(words, folder)
    return {"id": folder.name, "same": same_as(words, compare_call(asked, out=str(folder)))}


def start(words: Sequence[str], folder: Path) -> None:
    """Run a command of ours as a process of its own."""
    jobs.start([sys.executable, "-m", "atento", *words, "--quiet"], folder)


def change_state(name: str, verb: str) -> Json:
    """Pause, resume or finish a run."""
    folder = find_run(name)
    state = state_of(folder)
    if verb == "resume":
        if state == "running":
            raise folder_in_use(folder)
        if state == "finished":
            raise InputError(f"{name} is already finished.", found=state, fix="train another one")
        jobs.resume(folder)
    elif state != "running":
        raise InputError(f"{name} is not running.", found=state, fix="start or resume it first")
    else:
        {"pause": jobs.pause, "finish": jobs.finish}[verb](folder)
    return {"state": state_of(folder)}
