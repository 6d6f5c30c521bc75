"""Folders of runs: their names, that two runs never share one, and a list of them, newest first."""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from atento.bundle import (
    CHECKPOINT,
    EVENTS,
    METRICS,
    RECIPE,
    VOCABULARY,
    Json,
    check_manifest,
    damaged,
    is_finished,
    read_json,
)
from atento.errors import AtentoError, InputError, unwritable
from atento.lines import lines_of
from atento.system import is_locked, portable_name, take_lock
from atento.training.checkpoints import check_checkpoint
from atento.training.events import REQUEST

RUNS = Path("runs")
LOCK = ".lock"
BOARD = "board.json"
RECIPES = "recipes"
COMMAND = "command.txt"  # among them: what a user types to make the comparison again
TRIALS = "trials.log"
OUTCOME = "tune.json"  # of a search
BEST = "best"  # the folder of the best recipe that a search found
SMALL = 2**20  # bytes of a file that a list of runs reads whole to see whether it is damaged
EARLY = (LOCK, REQUEST, VOCABULARY, RECIPE, EVENTS)  # what a run that ended before its first checkpoint may leave


def folder_name(text: str) -> str:
    """A model's or a data set's name as the name of a folder."""
    return portable_name(re.sub(r"[^\w.+-]+", "-", text).strip("-.") or "run")


def new_folder(data: str, model: str) -> Path:
    """runs/DATA-MODEL-1, or the next number that is free."""
    return free_folder(f"{folder_name(Path(data.split(',')[0]).stem)}-{folder_name(model)}")


def last_folder(data: str, model: str) -> Path:
    """The newest folder of that name, where its run has not ended and nobody holds it; else a new one."""
    new = new_folder(data, model)
    stem, _, number = new.name.rpartition("-")
    last = RUNS / f"{stem}-{int(number) - 1}"
    return last if last.is_dir() and not is_finished(last) and not in_use(last) else new


def free_folder(stem: str) -> Path:
    """runs/STEM-1, or the next number that is free."""
    number = 1
    while (RUNS / f"{stem}-{number}").exists():
        number += 1
    return RUNS / f"{stem}-{number}"


def kind_of(folder: Path) -> str:
    """`run`, `comparison`, `search`, or nothing where the folder holds none of them."""
    if (folder / RECIPE).exists():
        return "run"
    if (folder / TRIALS).exists():
        return "search"
    return "comparison" if (folder / RECIPES).is_dir() or (folder / BOARD).exists() else ""


class ModelFolder(NamedTuple):
    """The folder of one model, and where it stands for a comparison or a search, a note that says so."""

    folder: Path
    note: str = ""


def find_model(folder: Path, *, network: bool = False) -> ModelFolder:
    """A run's folder as it is; of a comparison or a search, that of its best model, or of its best network."""
    match kind_of(folder):
        case "comparison":
            return best_of_comparison(folder, network=network)
        case "search" if is_finished(folder / BEST):
            return ModelFolder(folder / BEST, f"{folder} is a search: this is the best recipe that it found")
        case "search":
            raise not_ended(folder, "search")
    return ModelFolder(folder)


def best_of_comparison(folder: Path, *, network: bool) -> ModelFolder:
    """The winner of a comparison that has ended; where that is a baseline and a network is asked for, the best one."""
    if not (folder / BOARD).is_file():
        raise not_ended(folder, "comparison")
    board = read_json(folder, BOARD)
    try:
        folders = {row["model"]: row["folder"] for row in board["rows"] if not row["failed"] and row["folder"]}
        winner, ties, finished = board["winner"], list(board["ties"]), str(board.get("finished", ""))
        networks = [row for row in board["rows"] if not row["baseline"] and row["model"] in folders] if network else []
    except (LookupError, TypeError) as error:
        raise damaged(folder, BOARD, f"{type(error).__name__}: {error}") from None
    if winner not in folders or any(Path(name).name != name for name in (folders[winner], finished)):
        raise InputError(
            f"{folder}: no model of this comparison can be used.", found=f"winner {winner}", fix="compare again"
        )
    if networks and winner not in {row["model"] for row in networks}:
        sign = 1 if board["smaller_is_better"] else -1
        best = min(networks, key=lambda row: sign * row["value"])["model"]
        note = f"{folder} is a comparison: {best} is taken, its best network; {winner}, the winner, is a baseline"
        return ModelFolder(folder / folders[best], note)
    if finished:
        return ModelFolder(folder / finished, f"{folder} is a comparison: {winner} is taken, which went on after it")
    also = f"; it ties with {', '.join(ties)}" if ties else ""
    return ModelFolder(folder / folders[winner], f"{folder} is a comparison: {winner} is taken, its best model{also}")


def not_ended(folder: Path, kind: str) -> InputError:
    """The one message for a comparison or a search without a result."""
    inside = next((place for place in sorted(folder.iterdir()) if is_finished(place)), None)
    fix = (
        f"use a model inside it that has ended: {shlex.quote(str(inside))}"
        if inside is not None
        else "make it again with --resume"
    )
    return InputError(f"{folder}: this {kind} has not ended.", found=f"a {kind} without a result", fix=fix)


def require_free(folder: Path, kind: str, *, resume: bool) -> None:
    """Nobody's work is written over; what is resumed is of the same kind."""
    if folder.is_file():
        raise InputError(f"{folder} is a file.", found="a file", fix="choose another --out")
    if not folder.exists():
        return
    holds = kind_of(folder)
    if holds and not resume and in_use(folder):
        raise folder_in_use(folder)
    if holds and (not resume or holds != kind):
        over = is_finished(folder) or (folder / BOARD).exists()
        state = f"a finished {holds}" if over else f"a {holds} that can be resumed"
        fix = "choose another --out, or add --resume" if holds == kind else "choose another --out"
        raise InputError(f"{folder} already holds {state}.", found=state, fix=fix)
    foreign = sorted(entry.name for entry in folder.iterdir() if entry.name.removesuffix(".tmp") not in EARLY)
    if not holds and foreign:
        raise InputError(f"{folder} is not empty.", found=", ".join(foreign[:8]), fix="choose another --out")


def require_place(out: Path, endings: Sequence[str]) -> None:
    """Whether a file of that name can be written; asked before any work is done."""
    if out.suffix.lower() not in endings:
        raise InputError(
            f"--out {out}: the name must end in {' or '.join(endings)}.",
            found=out.name,
            fix=shlex.join(["--out", str(out.with_suffix(endings[0]))]),
        )
    if not out.parent.is_dir():
        fix = shlex.join(["mkdir", "-p", str(out.parent)])
        raise InputError(f"--out {out}: there is no such folder.", found=str(out.parent), fix=fix)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder for one process; the system lets go of it however the process ends. A request to stop that lies in
    it is for a process before this one, and none is left behind.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("ab")
    except OSError as error:
        raise unwritable(folder, error) from None
    with file:
        if not take_lock(file.fileno()):
            raise folder_in_use(folder)
        remove_request(folder)
        for leftover in folder.glob("*.tmp"):  # of a write that was killed
            leftover.unlink(missing_ok=True)
        try:
            yield
        finally:
            remove_request(folder)


def remove_request(folder: Path) -> None:
    """Remove a request to stop that nobody obeyed."""
    with suppress(OSError):
        (folder / REQUEST).unlink(missing_ok=True)


def in_use(folder: Path) -> bool:
    """Whether another process holds the folder now."""
    return (folder / LOCK).exists() and is_locked(folder / LOCK)


def folder_in_use(folder: Path) -> InputError:
    """The one message for two runs in one folder."""
    return InputError(
        f"{folder} is in use by another run.",
        found="a lock held by a running process",
        fix="wait, or choose another --out",
    )


def list_runs(folder: Path = RUNS) -> list[Json]:
    """One entry for each run, comparison or search, followed by the models inside it; a damaged one says so."""
    if not folder.is_dir():
        return []
    places = sorted((place for place in folder.iterdir() if kind_of(place)), key=lambda place: -place.stat().st_mtime)
    found = []
    for place in places:
        inside = sorted(place.iterdir()) if kind_of(place) != "run" else []
        found += [describe(place), *(describe(own) for own in inside if (own / RECIPE).exists())]
    return found


def describe(place: Path) -> Json:
    """What a folder holds."""
    entry: Json = {"folder": str(place), "kind": "run", "state": "finished", "model": "", "metric": "", "damage": ""}
    try:
        entry["kind"] = kind_of(place)
        if entry["kind"] == "search":
            best = describe(place / BEST) if is_finished(place / BEST) else {"model": "", "metric": "", "value": None}
            entry["state"] = "finished" if (place / OUTCOME).exists() else "can be resumed"
            return {**entry, **{key: best[key] for key in ("model", "metric", "value")}}
        if entry["kind"] == "comparison":
            if (place / BOARD).is_file():
                board = read_json(place, BOARD)
                best = next((row for row in board["rows"] if row["model"] == board["winner"]), {"value": None})
                return {**entry, "model": board["winner"], "metric": board["metric"], "value": best["value"]}
        elif is_finished(place):
            check_manifest(place, hashed_up_to=SMALL)
            metrics = read_json(place, METRICS)
            value = metrics["scores"][metrics["metric"]][0]
            return {**entry, "model": metrics["model"], "metric": metrics["metric"], "value": value}
        entry["state"] = "running" if in_use(place) else "can be resumed"
        if entry["state"] != "running" and (place / CHECKPOINT).exists():
            check_checkpoint(place, hashed_up_to=SMALL)
    except (AtentoError, OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        entry |= {"state": "damaged", "damage": damage_of(place, error)}
    return {**entry, "value": None}


def damage_of(place: Path, error: Exception) -> str:
    """What is wrong with a folder, in one line."""
    if isinstance(error, AtentoError):
        return lines_of(f"{error.problem.removeprefix(f'{place}{os.sep}').rstrip('.')}: {error.found}")[0]
    return lines_of(f"{type(error).__name__}: {error}")[0]
