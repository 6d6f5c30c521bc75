"""Ctrl-C and SIGTERM become a request that the loop honours after the step at hand."""

import signal
import threading
from types import FrameType


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
