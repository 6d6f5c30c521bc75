"""Folders of runs: their names, that two runs never share one, and a list of them, newest first."""

import fcntl
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from atento.bundle import EVENTS, METRICS, RECIPE, VOCABULARY, Json, damaged, is_finished, read_json
from atento.errors import AtentoError, InputError, MachineError
from atento.lines import lines_of

RUNS = Path("runs")
LOCK = ".lock"
BOARD = "board.json"
RECIPES = "recipes"
TRIALS = "trials.log"
OUTCOME = "tune.json"  # of a search
BEST = "best"  # the folder of the best recipe that a search found
EARLY = (LOCK, VOCABULARY, RECIPE, EVENTS)  # what a run that ended before its first checkpoint may leave


def folder_name(text: str) -> str:
    """A model's or a data set's name as the name of a folder."""
    return re.sub(r"[^\w.+-]+", "-", text).strip("-.") or "run"


def new_folder(data: str, model: str) -> Path:
    """runs/DATA-MODEL-1, or the next number that is free."""
    stem = f"{folder_name(Path(data.split(',')[0]).stem)}-{folder_name(model)}"
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


def find_model(folder: Path) -> ModelFolder:
    """A run's folder as it is; of a comparison or a search, that of its best model."""
    match kind_of(folder):
        case "comparison":
            return best_of_comparison(folder)
        case "search" if is_finished(folder / BEST):
            return ModelFolder(folder / BEST, f"{folder} is a search: this is the best recipe that it found")
        case "search":
            raise not_ended(folder, "search")
    return ModelFolder(folder)


def best_of_comparison(folder: Path) -> ModelFolder:
    """The winner of a comparison that has ended."""
    if not (folder / BOARD).is_file():
        raise not_ended(folder, "comparison")
    board = read_json(folder, BOARD)
    try:
        folders = {row["model"]: row["folder"] for row in board["rows"] if not row["failed"] and row["folder"]}
        winner, ties = board["winner"], list(board["ties"])
    except (LookupError, TypeError) as error:
        raise damaged(folder, BOARD, f"{type(error).__name__}: {error}") from None
    if winner not in folders or Path(folders[winner]).name != folders[winner]:
        raise InputError(
            f"{folder}: no model of this comparison can be used.", found=f"winner {winner}", fix="compare again"
        )
    also = f"; it ties with {', '.join(ties)}" if ties else ""
    return ModelFolder(folder / folders[winner], f"{folder} is a comparison: {winner} is taken, its best model{also}")


def not_ended(folder: Path, kind: str) -> InputError:
    """The one message for a comparison or a search without a result."""
    inside = next((place for place in sorted(folder.iterdir()) if is_finished(place)), None)
    fix = f"a model inside is whole: {inside}" if inside is not None else "make it again with --resume"
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
    """Hold a folder for one process; the system lets go of it however the process ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("a")
    except OSError as error:
        raise MachineError(f"{folder} cannot be made.", found=str(error), fix="choose another --out") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise folder_in_use(folder) from None
        for leftover in folder.glob("*.tmp"):  # of a write that was killed
            leftover.unlink()
        yield


def in_use(folder: Path) -> bool:
    """Whether another process holds the folder now."""
    if not (folder / LOCK).exists():
        return False
    descriptor = os.open(folder / LOCK, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


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
    entry: Json = {"folder": str(place), "kind": "run", "state": "finished", "model": "", "metric": ""}
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
            metrics = read_json(place, METRICS)
            value = metrics["scores"][metrics["metric"]][0]
            return {**entry, "model": metrics["model"], "metric": metrics["metric"], "value": value}
        entry["state"] = "running" if in_use(place) else "can be resumed"
    except (AtentoError, KeyError, TypeError) as error:
        entry["state"] = lines_of(f"damaged: {error}")[0]
    return {**entry, "value": None}
