"""Progress in a notebook: a cell's output that is replaced while models are trained. IPython is never imported anew."""

import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Any

from atento.cli.output import describe
from atento.training.events import Event
from atento.views.notebook.display import framed_view
from atento.views.notebook.progress import TrainingProgress, progress_body
from atento.views.wording import score

SECONDS_BETWEEN = 0.5  # of two updates
MOST_NOTES = 50


class NotebookProgress:
    """A watcher of events that draws them in the output of a cell."""

    def __init__(self) -> None:
        self.models: dict[str, TrainingProgress] = {}
        self.facts: dict[str, Event] = {}
        self.notes: list[str] = []
        self.handle: Any = None
        self.drawn = 0.0

    def __enter__(self) -> "NotebookProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.handle is not None:
            self.draw()

    def __call__(self, event: Event) -> None:
        """Take in one event, and draw anew where some time has passed or something ended."""
        kind = event["event"]
        if kind in ("note", "refused", "failed", "baseline", "trial"):
            self.note(event)
        elif kind in ("start", "step", "validation", "finished"):
            self.move(event.get("model", ""), event)
        if kind != "step" or time.monotonic() - self.drawn >= SECONDS_BETWEEN:
            self.draw()

    def note(self, event: Event) -> None:
        """Keep what is said beside the bars, each sentence once."""
        model, kind = event.get("model", ""), event["event"]
        if kind == "baseline":
            text = f"{model}: {event['metric']} {score(event['value'])} (simple baseline)"
        elif kind == "trial":
            text = (
                f"recipe {event['number'] + 1}: {score(event['merit']) if event['merit'] is not None else event['why']}"
            )
        else:
            text = {"note": "", "refused": "left out ", "failed": f"{model} failed: "}[kind] + event["text"]
        if text not in self.notes and len(self.notes) < MOST_NOTES:
            self.notes.append(text)

    def move(self, model: str, event: Event) -> None:
        """Bring the bar, the facts and the curve of a model up to date."""
        facts = self.facts.setdefault(model, {})
        facts.update(event)
        one = self.models.setdefault(model, TrainingProgress(model or "learning"))
        one.share = 1.0 if event["event"] == "finished" else float(facts.get("progress", 0.0))
        one.facts = " · ".join(describe(facts, one.share).values())
        if event["event"] == "step" and "loss" in event and "elapsed" in event:
            one.add_loss(event["elapsed"], event["loss"])

    def draw(self) -> None:
        """Show the state, in the place where it was shown before."""
        self.drawn = time.monotonic()
        display = sys.modules["IPython"].display
        shown = display.HTML(framed_view(progress_body(list(self.models.values()), self.notes)))
        if self.handle is None:
            self.handle = display.display(shown, display_id=True)
        else:
            with suppress(OSError):  # a kernel whose notebook was closed
                self.handle.update(shown)
