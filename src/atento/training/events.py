"""Events of a run: a log of JSON lines in its folder, a callback, and what asks it to stop: signals and requests."""

import json
import math
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType
from typing import TypedDict, Unpack

from atento.bundle import EVENTS
from atento.data.records import LIST_SEPARATOR
from atento.errors import unwritable
from atento.lines import lines_of
from atento.tasks.task import Answer, EvaluationExample, Task
from atento.writing import write_atomically

REQUEST = "request"  # a file in the folder of a running training, which asks it to stop
PAUSE, FINISH = "pause", "finish"  # what it may hold
SECONDS_BETWEEN_LOOKS = 0.2  # for such a file
SAMPLES = 5  # most validation examples that an event shows
LONGEST_TEXT = 200  # characters of a text of theirs


class Sample(TypedDict):
    """A validation example and what the model answered, as short texts."""

    source: str
    output: str
    target: str


class Event(TypedDict, total=False):
    """What happened in a run; which facts there are depends on the kind of event."""

    event: str  # its kind: start, step, validation, finished; beside a run note, refused, baseline, trial, failed
    model: str  # whose event it is, where several are trained
    step: int
    epoch: int
    loss: float  # the mean since the last event
    learning_rate: float  # of the last step
    gradient_norms: dict[str, float | None]  # of the last step before clipping by norm, by part; None: not finite
    histograms: dict[str, dict[str, list[int]]]  # of |gradient| and |update| / |weight|, by part of the model
    progress: float  # share of the run that is done
    elapsed: float  # seconds of training so far
    examples_per_second: float
    metrics: dict[str, float | None]  # of a validation, by name
    validation_loss: float | None  # the mean on the validation examples; None of tasks that have no such loss
    samples: list[Sample]  # the same few validation examples each time; empty of tasks without answers
    best_step: int
    took: float  # seconds of a validation
    threads: int
    device: str
    bf16: bool
    c_kernels: bool
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
    """Appends events to the log in a run's folder and passes them to a callback; of many processes, one `writes`."""

    def __init__(self, folder: Path, callback: EventCallback = no_callback, *, writes: bool = True) -> None:
        self.path, self.callback, self.writes = folder / EVENTS, callback, writes

    def rewind(self, step: int) -> None:
        """Remove the events after a step, and the end of the run: training resumes from the checkpoint of that step."""
        if not self.writes:
            return
        events = read_events(self.path)
        kept = [event for event in events if event.get("step", 0) <= step and event.get("event") != "finished"]
        write_atomically(self.path, "".join(json.dumps(event) + "\n" for event in kept).encode())

    def add(self, kind: str, **facts: Unpack[Event]) -> Event:
        """Append an event, and return it."""
        event: Event = {"event": kind, **facts}
        if not self.writes:
            return event
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(event) + "\n")
        except OSError as error:
            raise unwritable(self.path, error) from None
        self.callback(event)
        return event


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


def samples_of(task: Task, validation: Sequence[EvaluationExample], answers: Sequence[Answer]) -> list[Sample]:
    """A few validation examples, evenly spaced, with their answers as texts; none where targets are no texts."""
    stride = -(-len(answers) // SAMPLES) or 1
    return [
        {
            "source": shortened(source_text(task, example.source)),
            "output": shortened(answer.text),
            "target": shortened(target_text(task, task.judging.target(example.references))),
        }
        for example, answer in list(zip(validation, answers, strict=False))[::stride]
        if isinstance(example.source, str) and all(isinstance(one, str) for one in example.references)
    ]


def source_text(task: Task, source: str) -> str:
    """A source as a person reads it; an image is named by its file."""
    image, *question = source.split(LIST_SEPARATOR) if task.reading.kind.startswith("image") else ("",)
    if image:
        return " | ".join([Path(image).name, *question])
    return source.replace(LIST_SEPARATOR, " | " if task.reading.kind == "two texts" else " ")


def target_text(task: Task, target: str) -> str:
    """A target as the task writes its answers: labels with commas between, a dash where there is none, else spaces."""
    labels = task.judging.labels
    if labels is not None and labels.several:
        return ", ".join(labels.split(target)) or "–"
    return target.replace(LIST_SEPARATOR, " ")


def shortened(text: str) -> str:
    """The beginning of a text, with a mark where it goes on."""
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


class InterruptHandler:
    """Records what asks a run to stop, so that the loop can obey after the current step: SIGINT, SIGTERM, or a request
    in its folder.

    `with InterruptHandler(folder) as interrupt:` — then `interrupt.signal` is 0, or the last signal; a request to pause
    counts as SIGINT. `interrupt.finish` is whether a request asks to end as if a limit were reached.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.signal, self.finish = 0, False
        self.request = None if folder is None else folder / REQUEST
        self.looked = -math.inf
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

    def look(self) -> None:
        """Look for a request, five times a second at most; one that is found is removed and recorded."""
        now = time.monotonic()
        if self.request is None or now - self.looked < SECONDS_BETWEEN_LOOKS:
            return
        self.looked = now
        if not self.request.exists():
            return
        wanted = b""
        with suppress(OSError):
            wanted = self.request.read_bytes()
            self.request.unlink()
        if wanted == FINISH.encode():
            self.finish = True
        elif wanted == PAUSE.encode():
            self.signal = signal.SIGINT
