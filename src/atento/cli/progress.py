"""Progress of one run or of several side by side: live in a terminal, plain lines elsewhere."""

import time
from types import TracebackType
from typing import Any

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from atento.cli.say import remarks
from atento.looking.wording import score

SECONDS_BETWEEN_LINES = 10.0

Event = dict[str, Any]


class ShowProgress:
    """A watcher of events. `with ShowProgress() as watch: api.fit(..., on_event=watch)`."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = remarks()
        self.quiet = quiet
        self.live = self.console.is_terminal and not quiet
        self.bars: dict[str, TaskID] = {}
        self.facts: dict[str, Event] = {}
        self.told: dict[str, float] = {}
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

    def __call__(self, event: Event) -> None:
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

    def move(self, model: str, event: Event) -> None:
        """Loss, metric, speed and time left of one model."""
        facts = self.facts.setdefault(model, {})
        facts.update(event)
        over = 1.0 if event["event"] == "finished" else float(facts.get("over", 0.0))
        text = describe(facts, over)
        if self.live:
            if model not in self.bars:
                self.bars[model] = self.progress.add_task(model or "learning", total=1.0, text="")
            self.progress.update(self.bars[model], completed=over, text=text)
        elif event["event"] != "step" or time.monotonic() - self.told.get(model, 0.0) >= SECONDS_BETWEEN_LINES:
            self.told[model] = time.monotonic()
            self.line(f"{model + ': ' if model else ''}{over:4.0%} {text}")

    def once(self, text: str) -> None:
        """A note, said once however many models are told of it."""
        if text not in self.noted:
            self.noted.add(text)
            self.line(text)

    def line(self, text: str) -> None:
        """One line of text, above the bars."""
        self.console.print(Text(text, style="dim"))


def describe(facts: Event, over: float) -> str:
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
