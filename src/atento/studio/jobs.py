"""Training as processes of their own, which outlive whoever started them.

A process says what it has to say in two files of `runs/.studio`: NAME.json is what it prints, NAME.log what it remarks.
Whether it runs is known from the lock of its folder, and it is stopped by a request in that folder
(`atento.api.stop`), so that a server that was started anew can do all that the one before it could.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from atento.api.folders import RECIPES, RUNS, folder_in_use, in_use, kind_of
from atento.api.stop import is_complete, resume_words, stop
from atento.bundle import Json
from atento.errors import AtentoError, InputError, MachineError, RunError, unwritable
from atento.lines import lines_of
from atento.system import own_session

PLACE = RUNS / ".studio"
SECONDS_BETWEEN_LOOKS = 0.05
SECONDS_TO_PAUSE = 30.0  # a step may take long
SECONDS_TO_FINISH = 2.0  # the test may take longer; the page sees when it is over
LINES_SHOWN = 12  # of the log of a process that did not say why it ended
SAVED = "everything is saved"  # what a model of a comparison says that was stopped
NO_REASON = "the process ended without giving a reason: it was killed, or the machine was switched off"
ERRORS: dict[int, type[AtentoError]] = {kind.exit_code: kind for kind in (InputError, MachineError, RunError)}

started: dict[Path, "subprocess.Popen[bytes]"] = {}  # by this process, by folder


def start(command: Sequence[str], folder: Path) -> None:
    """Start a command that trains into a folder, and return once it holds the folder; where it ends before, its own
    error is raised.

    command: `python -m atento train …` or `… compare …`; --json is added, by which it says how it ended.
    """
    if in_use(folder):
        raise folder_in_use(folder)
    process = started[folder] = detached([*command, "--json"], folder)
    threading.Thread(target=process.wait, daemon=True).start()  # so that no zombie is left
    while process.poll() is None:
        if kind_of(folder) and in_use(folder):
            return
        time.sleep(SECONDS_BETWEEN_LOOKS)
    if process.returncode and not is_complete(folder):
        raise error_of(folder)


def detached(command: Sequence[str], folder: Path) -> "subprocess.Popen[bytes]":
    """A process without a terminal, in a session of its own: no signal to this process or to its group reaches it."""
    printed, remarks = output_of(folder, ".json"), output_of(folder, ".log")
    try:
        PLACE.mkdir(parents=True, exist_ok=True)
        with printed.open("wb") as out, remarks.open("wb") as err:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, **own_session())
    except OSError as error:
        raise unwritable(error.filename or PLACE, error) from None


def pause(folder: Path) -> None:
    """Ask a run to save and stop, and wait until it has."""
    stop(folder, pause=True, patience=SECONDS_TO_PAUSE)


def finish(folder: Path) -> None:
    """Ask a run to end with its best weights; its test may go on after this returns."""
    stop(folder, patience=SECONDS_TO_FINISH)


def resume(folder: Path) -> None:
    """Let a run or a comparison go on where it was stopped."""
    if kind_of(folder.parent) == "comparison" and in_use(folder.parent):
        raise folder_in_use(folder.parent)
    start([sys.executable, "-m", *resume_words(folder)], folder)


def started_here(folder: Path) -> bool:
    """Whether a run, or the comparison that it belongs to, was started by `start`."""
    return output_of(folder, ".log").exists() or (
        kind_of(folder.parent) == "comparison" and output_of(folder.parent, ".log").exists()
    )


def failure_of(folder: Path) -> str | None:
    """Why a run ended before it was complete; None where it runs, is complete, was paused, or was not started here."""
    process = started.get(folder)
    if (process is not None and process.poll() is None) or in_use(folder) or is_complete(folder):
        return None
    if kind_of(folder.parent) == "comparison":
        return failure_of_model(folder)
    if not output_of(folder, ".json").exists():
        return None
    error = printed_error(folder)
    if error is None:
        return "\n".join(last_lines(output_of(folder, ".log")) or [NO_REASON])
    return None if int(error.get("exit_code", 0)) > 128 else str(error_of(folder))


def failure_of_model(folder: Path) -> str | None:
    """The same of a model of a comparison, by the log of its process."""
    said = last_lines(folder.parent / RECIPES / f"{folder.name}.log")
    return None if not said or any(SAVED in line for line in said) else "\n".join(said)


def error_of(folder: Path) -> AtentoError:
    """The error with which a process ended, as it printed it."""
    error = printed_error(folder)
    if error is None:
        said = last_lines(output_of(folder, ".log"))
        return RunError(f"{folder}: the training ended at once.", found=said[-1] if said else NO_REASON)
    kind = ERRORS.get(int(error.get("exit_code", 0)), RunError)
    return kind(str(error["problem"]), found=str(error.get("found", "")), fix=str(error.get("fix", "")))


def printed_error(folder: Path) -> Json | None:
    """The error in the JSON document that a process printed; None where it printed none."""
    try:
        document = json.loads(output_of(folder, ".json").read_bytes())
    except (OSError, ValueError):
        return None
    error = document.get("error") if isinstance(document, dict) else None
    return error if isinstance(error, dict) and "problem" in error else None


def last_lines(path: Path) -> list[str]:
    """The last lines of a log; none where there is no log."""
    if not path.is_file():
        return []
    return lines_of(path.read_text(encoding="utf-8", errors="replace").strip())[-LINES_SHOWN:]


def output_of(folder: Path, ending: str) -> Path:
    """A file of what the process of a run says; a folder inside another is named by both."""
    inside = folder.relative_to(RUNS) if folder.is_relative_to(RUNS) else Path(folder.name)
    return PLACE / f"{'--'.join(inside.parts)}{ending}"
