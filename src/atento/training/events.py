"""Events: what happens in a run, as JSON lines in its folder and as calls to whoever watches.

Ctrl-C and SIGTERM become a request that the loop honours after the step at hand.
"""

import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from atento.bundle import EVENTS, write_atomically
from atento.errors import MachineError

Event = dict[str, Any]
Watcher = Callable[[Event], None]


def no_watcher(event: Event) -> None:
    """Nobody looks."""


class EventLog:
    """Appends events to a run's folder and passes them on."""

    def __init__(self, folder: Path, watcher: Watcher = no_watcher) -> None:
        self.path, self.watcher = folder / EVENTS, watcher

    def rewind(self, step: int) -> None:
        """Forget what came after the checkpoint of that step, the end too: it will happen again."""
        events = read_events(self.path)
        kept = [event for event in events if event.get("step", 0) <= step and event.get("event") != "finished"]
        write_atomically(self.path, "".join(json.dumps(event) + "\n" for event in kept).encode())

    def add(self, kind: str, **facts: Any) -> None:
        """One more event."""
        event = {"event": kind, **facts}
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(event) + "\n")
        except OSError as error:
            raise MachineError(f"{self.path.name} could not be written.", found=str(error), fix="free space") from None
        self.watcher(event)


def read_events(path: Path) -> list[Event]:
    """All whole lines; a line cut off by a kill is left out."""
    if not path.exists():
        return []
    events = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            continue
    return events


class Interrupts:
    """`with Interrupts() as asked:` — then `asked.signal` is 0, or the signal that came."""

    def __init__(self) -> None:
        self.signal = 0
        self.before: dict[int, object] = {}

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():  # handlers can be set nowhere else
            for number in (signal.SIGINT, signal.SIGTERM):
                self.before[number] = signal.signal(number, self.remember)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def remember(self, number: int, frame: FrameType | None) -> None:
        """Note the request; the loop saves first."""
        self.signal = number
