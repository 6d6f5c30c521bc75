"""Printing: results to standard output, notes and progress to standard error, live in a terminal."""

import json
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from atento.views.wording import score

if TYPE_CHECKING:  # torch loads only when it is needed
    from atento.training.events import Event

SECONDS_BETWEEN_LINES = 10.0


def results() -> Console:
    """Where results go; wide enough for a table when nobody is looking."""
    return Console(soft_wrap=True) if sys.stdout.isatty() else Console(width=160, soft_wrap=True)


def remarks() -> Console:
    """Where remarks and progress go."""
    return Console(stderr=True, soft_wrap=True)


def emit(document: Any) -> None:
    """The one JSON document of a command; NaN and infinity become null."""
    print(json.dumps(finite(document), ensure_ascii=False, indent=1))


def finite(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return value


def say(text: str) -> None:
    """A line of result, never read as markup."""
    results().print(Text(text))


def remark(text: str) -> None:
    """A line about the work."""
    remarks().print(Text(text, style="dim"))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[str] = ()) -> None:
    """A plain table; columns named in `numbers` stand to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    results().print(table)


def next_step(task: str, run: object) -> str:
    """What to type after a run: the view that the task has of its own, else a text to try."""
    from atento.tasks.catalogue import TASKS

    views = TASKS[task].answering.views
    return f"atento look {run} --what {views[0]}" if views else f"atento try {run}"


class ShowProgress:
    """A watcher of events. `with ShowProgress() as watch: api.fit(..., on_event=watch)`."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = remarks()
        self.quiet = quiet
        self.live = self.console.is_terminal and not quiet
        self.bars: dict[str, TaskID] = {}
        self.facts: dict[str, Event] = {}
        self.shown: dict[str, float] = {}
        self.noted: set[str] = set()
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            console=self.console,
        )

    def __enter__(self) -> "ShowProgress":
        if self.live:
            self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live:
            self.progress.stop()

    def __call__(self, event: "Event") -> None:
        """Show one event."""
        if self.quiet:
            return
        kind, model = event["event"], event.get("model", "")
        if kind == "note":
            self.once(event["text"])
        elif kind == "refused":
            self.line(f"left out {event['text']}")
        elif kind == "failed":
            self.line(f"{model} failed: {event['text']}")
        elif kind == "baseline":
            self.line(f"{model}: {event['metric']} {score(event['value'])} (simple baseline)")
        elif kind == "start":
            name = f"{model}: " if model else ""
            threads = "1 thread" if event["threads"] == 1 else f"{event['threads']} threads"
            self.line(f"{name}{event['parameters']:,} parameters, {event['device']}, {threads}")
        elif kind == "trial":
            merit = f"{event['merit']:.4f}" if event["merit"] is not None else event["why"]
            self.line(f"recipe {event['number'] + 1}: {merit}")
        elif kind in ("step", "validation", "finished"):
            self.move(model, event)

    def move(self, model: str, event: "Event") -> None:
        """Loss, metric, speed and time left of one model."""
        facts = self.facts.setdefault(model, {})
        facts.update(event)
        over = 1.0 if event["event"] == "finished" else float(facts.get("progress", 0.0))
        text = describe(facts, over)
        if self.live:
            if model not in self.bars:
                self.bars[model] = self.progress.add_task(model or "learning", total=1.0, text="")
            self.progress.update(self.bars[model], completed=over, text=text)
        elif event["event"] != "step" or time.monotonic() - self.shown.get(model, 0.0) >= SECONDS_BETWEEN_LINES:
            self.shown[model] = time.monotonic()
            self.line(f"{model + ': ' if model else ''}{over:4.0%} {text}")

    def once(self, text: str) -> None:
        """A note, shown once even where several models send it."""
        if text not in self.noted:
            self.noted.add(text)
            self.line(text)

    def line(self, text: str) -> None:
        """One line of text, above the bars."""
        self.console.print(Text(text, style="dim"))


def describe(facts: "Event", over: float) -> str:
    """step 340 · loss 0.41 · exact 0.52 · chrf 0.81 · 580 examples/s · 31 s left."""
    parts = [f"step {facts.get('step', 0)}"]
    if "loss" in facts:
        parts.append(f"loss {score(facts['loss'])}")
    parts += [f"{name} {score(value)}" for name, value in list(facts.get("metrics", {}).items())[:2]]
    if "examples_per_second" in facts:
        parts.append(f"{facts['examples_per_second']:,.0f} examples/s")
    if 0 < over < 1 and "elapsed" in facts:
        parts.append(f"{facts['elapsed'] * (1 - over) / over:.0f} s left")
    if facts.get("why"):
        parts.append(f"ended: {facts['why']}")
    return " · ".join(parts)
