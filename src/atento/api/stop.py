"""Stopping a training from outside its process: pause it, so that it can be resumed, or finish it with what it has.

The request is a file in the folder of the run, which the training loop looks for after each step.
"""

import json
import math
import shlex
import time
from pathlib import Path

from atento.api.folders import BOARD, COMMAND, RECIPES, describe, in_use, kind_of
from atento.api.starting.opening import resume_command
from atento.bundle import CHECKPOINT, is_finished
from atento.errors import InputError, RunError
from atento.training.checkpoints import check_checkpoint
from atento.training.events import FINISH, PAUSE, REQUEST
from atento.writing import write_atomically

SECONDS_BETWEEN_LOOKS = 0.1


def stop(folder: Path, *, pause: bool = False, patience: float = math.inf) -> str:
    """Ask a run or a comparison to stop and wait until it has; its state: `finished`, `can be resumed` or, after
    `patience` seconds, `running`.
    """
    ask(folder, PAUSE if pause else FINISH)
    end = time.monotonic() + patience
    while in_use(folder):
        if time.monotonic() > end:
            return "running"
        time.sleep(SECONDS_BETWEEN_LOOKS)
    if is_complete(folder):
        return "finished"
    if not pause:
        raise RunError(
            f"{folder} ended before it was complete.",
            found=str(describe(folder)["state"]),
            fix=f"go on with: {shlex.join(resume_words(folder))}",
        )
    return "can be resumed"


def ask(folder: Path, wanted: str) -> None:
    """Leave a request in the folder of what is running: `pause` or `finish`."""
    require_running(folder)
    kind = kind_of(folder)
    if kind not in ("run", "comparison"):
        raise InputError(
            f"{folder}: only a run or a comparison can be asked to stop.",
            found=f"a {kind or 'folder without a run'}",
            fix="press Ctrl-C where it runs",
        )
    if wanted == PAUSE and kind_of(folder.parent) == "comparison" and in_use(folder.parent):
        raise InputError(
            f"{folder} is one of the models of a comparison, which are paused together.",
            found="a running comparison",
            fix=shlex.join(["atento", "stop", str(folder.parent), "--pause"]),
        )
    write_atomically(folder / REQUEST, wanted.encode())


def require_running(folder: Path) -> None:
    """Refuse a folder in which nothing runs, and say what it holds."""
    if folder.is_dir() and in_use(folder):
        return
    if not folder.is_dir() or not kind_of(folder):
        found = "a file" if folder.is_file() else "no run in it" if folder.is_dir() else "no such folder"
        raise InputError(f"{folder}: there is no run.", found=found, fix="`atento runs` lists the runs")
    state = str(describe(folder)["state"])
    over = state == "finished"
    fix = shlex.join(["atento", "report", str(folder)]) if over else f"go on with: {shlex.join(resume_words(folder))}"
    raise InputError(f"{folder} is not running.", found=state, fix=fix)


def is_complete(folder: Path) -> bool:
    """Whether a run has its model, or a comparison its result."""
    return is_finished(folder) or (folder / BOARD).is_file()


def resume_words(folder: Path) -> list[str]:
    """The words of the command that resumes a run or a comparison."""
    if kind_of(folder) != "comparison":
        return shlex.split(resume_command(folder))
    saved = folder / RECIPES / COMMAND
    if not saved.is_file():
        raise InputError(
            f"{folder}: it is not known by which command this comparison was made.",
            found=f"no {RECIPES}/{COMMAND}",
            fix="type the same command again with --out and --resume",
        )
    return [*shlex.split(saved.read_text(encoding="utf-8")), "--out", str(folder), "--resume"]


def step_of(folder: Path) -> int:
    """The step of the checkpoint that a run goes on from; 0 without one."""
    if not (folder / CHECKPOINT).exists():
        return 0
    return int(json.loads(check_checkpoint(folder)["progress"])["step"])
