"""atento stop."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from atento.cli.options import JsonOption
from atento.cli.output import emit, next_step, remark, say

if TYPE_CHECKING:
    from atento.bundle import Json


def stop(
    run: Annotated[Path, Argument(metavar="RUN", help="the folder of a training or a comparison that is running")],
    pause: Annotated[bool, Option("--pause", help="save and stop, so that it can be resumed")] = False,
    json: JsonOption = False,
) -> None:
    """End a running training early: the best weights are kept, tested and saved."""
    from atento.api import stop as stopping

    stopping.require_running(run)
    if not json:
        remark(f"asked {run} to {'pause' if pause else 'finish'}; waiting until it has")
    state = stopping.stop(run, pause=pause)
    again = "" if state == "finished" else shlex.join(stopping.resume_words(run))
    if json:
        result = result_of(run) if state == "finished" else {"step": stopping.step_of(run), "go_on_with": again}
        emit({"run": str(run), "state": state, **result})
    elif state == "finished":
        tell_result(run)
    else:
        step = stopping.step_of(run)
        say(f"paused{f' at step {step}' if step else ''}; everything is saved in {run}")
        say(f"go on with: {again}")


def result_of(folder: Path) -> "Json":
    """The metrics of a run, or the board of a comparison."""
    from atento.api.folders import BOARD, kind_of
    from atento.bundle import METRICS, read_json

    return read_json(folder, BOARD if kind_of(folder) == "comparison" else METRICS)


def tell_result(folder: Path) -> None:
    """What a finished run or comparison came to, as the command that made it tells."""
    from atento.api import Board
    from atento.api.folders import kind_of
    from atento.cli import compare
    from atento.cli.train import result_line

    if kind_of(folder) == "comparison":
        compare.tell_result(Board.load(folder))
        return
    metrics = result_of(folder)
    best = f", the best weights are those of step {metrics['best_step']}" if metrics["best_step"] else ""
    say(f"ended after step {metrics['steps']}: {metrics['ended']}{best}")
    say(result_line(metrics, folder))
    say(f"next: {next_step(metrics['task'], folder)}")
