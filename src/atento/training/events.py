"""Events of a run: a log of JSON lines in its folder, a callback, and signals that ask it to stop."""

import json
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import TypedDict, Unpack

from atento.bundle import EVENTS, write_atomically
from atento.errors import MachineError
from atento.lines import lines_of


class Event(TypedDict, total=False):
    """What happened in a run; which facts there are depends on the kind of event."""

    event: str  # its kind: start, step, validation, finished; beside a run note, refused, baseline, trial, failed
    model: str  # whose event it is, where several are trained
    step: int
    epoch: int
    loss: float  # the mean since the last event
    progress: float  # share of the run that is done
    elapsed: float  # seconds of training so far
    examples_per_second: float
    metrics: dict[str, float | None]  # of a validation, by name
    best_step: int
    took: float  # seconds of a validation
    threads: int
    device: str
    parameters: int
    why: str  # a run ended, or a trial failed
    text: str  # of a note, a refusal or a failure
    metric: str  # of a baseline, with its value
    value: float | None
    number: int  # of a trial, with its merit
    merit: float | None


EventCallback = Callable[[Event], None]


def no_callback(event: Event) -> None:
    """Ignore an event."""


class EventLog:
    """Appends events to the log in a run's folder and passes them to a callback."""

    def __init__(self, folder: Path, callback: EventCallback = no_callback) -> None:
        self.path, self.callback = folder / EVENTS, callback

    def rewind(self, step: int) -> None:
        """Remove the events after a step, and the end of the run: training resumes from the checkpoint of that step."""
        events = read_events(self.path)
        kept = [event for event in events if event.get("step", 0) <= step and event.get("event") != "finished"]
        write_atomically(self.path, "".join(json.dumps(event) + "\n" for event in kept).encode())

    def add(self, kind: str, **facts: Unpack[Event]) -> None:
        """Append an event."""
        event: Event = {"event": kind, **facts}
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(event) + "\n")
        except OSError as error:
            raise MachineError(f"{self.path.name} could not be written.", found=str(error), fix="free space") from None
        self.callback(event)


def read_events(path: Path) -> list[Event]:
    """The events of a log; a line that was cut off by a kill is left out."""
    if not path.exists():
        return []
    events = []
    for line in lines_of(path.read_text(encoding="utf-8", errors="replace")):
        try:
            events.append(json.loads(line))
        except ValueError:
            continue
    return events


class InterruptHandler:
    """Records SIGINT and SIGTERM, so that the loop can stop after the current step.

    `with InterruptHandler() as interrupt:` — then `interrupt.signal` is 0, or the last signal.
    """

    def __init__(self) -> None:
        self.signal = 0
        self.undo = ExitStack()

    def __enter__(self) -> "InterruptHandler":
        if threading.current_thread() is threading.main_thread():  # handlers can be set nowhere else
            for number in (signal.SIGINT, signal.SIGTERM):
                self.undo.callback(signal.signal, number, signal.signal(number, self.handle))
        return self

    def __exit__(self, *_: object) -> None:
        self.undo.close()

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Record the signal; the loop saves first."""
        self.signal = number
