"""The process that holds a model: python -m atento.serving.worker FOLDER DEVICE.

It reads messages from its standard input and answers each on its standard output, in their order, until its input ends;
that happens too when the server dies, however it dies. It opens no socket.
"""

import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from atento.errors import failure_of
from atento.serving.frames import Frame, packed, read_frame
from atento.serving.served import EXPORTED, RowAnswer, RowFailure, ServedModel


def load_served(folder: Path, *, device: str) -> ServedModel:
    """The model of a folder; torch is loaded only for a run that needs it."""
    if (folder / EXPORTED).is_file():
        from atento.serving.exported import load_exported

        return load_exported(folder)
    from atento.serving.trained import load_trained

    return load_trained(folder, device=device)


def serve_frames(model: ServedModel, asked: BinaryIO, answers: BinaryIO) -> None:
    """Answer every message until there are no more."""

    def send(frame: Frame) -> None:
        answers.write(packed(frame))
        answers.flush()

    send({"card": model.card.to_json()})
    while (frame := read_frame(asked)) is not None:
        try:
            found = answers_to(model, frame, send)
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001  a mistake of ours: told in the terminal, and the model goes on
            traceback.print_exception(error, file=sys.stderr)
            failure = RowFailure("the model could not answer.", fix="report what the terminal of the server says")
            found = [failure for _ in frame.get("rows", [0])]
        send({"answers": [written(one) for one in found]})


def answers_to(model: ServedModel, frame: Frame, send: Callable[[Frame], None]) -> list[RowAnswer | RowFailure]:
    """The answers to one message; of a stream, pieces of the text are sent before."""
    if "stream" in frame:
        return [model.stream(frame["stream"], lambda piece: send({"piece": piece}))]
    return model.answer(frame["rows"], attention=frame["attention"])


def written(found: RowAnswer | RowFailure) -> Frame:
    """An answer or a failure as JSON."""
    if isinstance(found, RowFailure):
        return {"answer": None, "error": found._asdict(), "attention": None}
    return {"answer": found.answer, "error": None, "attention": found.attention}


def private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Input and output for messages alone: whatever else is printed goes where errors go."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    return asked, answers


def main(folder: str, device: str) -> int:
    """Load the model, say what it is or why it cannot be loaded, and answer."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # they are for the server, which ends this process in good order
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    asked, answers = private_streams()
    try:
        model = load_served(Path(folder), device=device)
    except Exception as error:  # noqa: BLE001  the server tells it
        failure = failure_of(error)
        told = {"problem": failure.problem, "found": failure.found, "fix": failure.fix, "code": failure.exit_code}
        answers.write(packed({"failed": told}))
        answers.flush()
        return failure.exit_code
    gc.collect()
    gc.freeze()  # the model stays: looking through torch again and again would stop all answers for a while
    try:
        serve_frames(model, asked, answers)
    except BrokenPipeError:  # the server is gone
        return 0
    return 0


if __name__ == "__main__":
    code = main(*sys.argv[1:3])
    sys.stderr.flush()
    os._exit(code)  # at once: libraries take a second to say goodbye
