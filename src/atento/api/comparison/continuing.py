"""After a comparison (`--finish`): its best network goes on from its own weights, for a time of its own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from atento.api.fit import fit
from atento.api.prepare import tell
from atento.api.starting.opening import is_begun
from atento.bundle import RECIPE, Json
from atento.spec import parse_duration
from atento.training.events import EventCallback
from atento.views.report.board import Comparison
from atento.views.wording import duration, quality

AnyBoard = TypeVar("AnyBoard", bound=Comparison)


def seconds_to_go_on(finish: str | float | None) -> float:
    """The seconds for which the best network goes on; 0: it does not."""
    return parse_duration(str(finish), where="--finish") if finish is not None else 0.0


def continue_best(
    board: AnyBoard, folder: Path, seconds: float, *, device: str, track: Sequence[str], on_event: EventCallback
) -> AnyBoard:
    """The board after its best network went on for so many seconds. That model then stands for the comparison if it
    won, and if the validation part says that it became better.
    """
    before = next((row for row in board.trained() if row.folder), None)
    if before is None:
        return replace(board, verdict=[*board.verdict, "No network was trained, so none could go on."])
    own = folder / f"{before.folder}-finished"
    tell([f"{before.model} goes on for {duration(seconds)}"], on_event)
    run = fit(
        folder / before.folder / RECIPE,
        settings={"train.budget": seconds, "train.steps": 0, "train.epochs": 0, "train.threads": 0},
        device=device,
        out=own,
        resume=is_begun(own),
        start_from=folder / before.folder,
        track=track,
        on_event=on_event,
    )
    scores = quality(*run.metrics["scores"][board.metric])
    said = f"{before.model} went on for {duration(run.metrics['seconds'])}: {board.metric} {scores}"
    if best_validation(run.metrics["curve"], board) <= best_validation(before.curve, board):
        return replace(board, verdict=[*board.verdict, f"{said}, and no better on the validation part: it stays."])
    stands = own.name if before.model == board.winner else ""
    return replace(board, finished=stands, verdict=[*board.verdict, f"{said}, kept in the folder {own.name}."])


def best_validation(curve: Sequence[Json], board: Comparison) -> float:
    """The best value of a learning curve, to be maximized."""
    sign = -1.0 if board.smaller_is_better else 1.0
    return max((sign * float(point["value"]) for point in curve), default=float("-inf"))
