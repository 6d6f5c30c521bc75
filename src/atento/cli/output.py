"""Printing: results to standard output, notes and progress to standard error, live in a terminal."""

import json
import re
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from textwrap import wrap
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress import Progress, TaskID, TextColumn
from rich.text import Text

from atento.cli.tables import fit_table
from atento.errors import no_such_run
from atento.system import loading
from atento.views.wording import CONTROLS, printable, score

if TYPE_CHECKING:  # torch loads only when it is needed
    from pathlib import Path

    from atento.api import Run
    from atento.training.events import Event

SECONDS_BETWEEN_LINES = 10.0
UNSEEN_WIDTH = 160  # where nobody looks, as in a file
BAR = 20  # columns of a bar
LEAST_FIRST = ("speed", "second", "bar", "step", "loss", "left", "first", "why")  # what a narrow terminal leaves out
NARROW = 30  # columns of a terminal in which no prose wraps well


def results() -> Console:
    """Where results go; wide enough for a table when nobody is looking."""
    return Console(width=None if sys.stdout.isatty() else UNSEEN_WIDTH, soft_wrap=True)


def remarks() -> Console:
    """Where remarks and progress go."""
    return Console(stderr=True, soft_wrap=True)


def emit(document: Any) -> None:
    """The one JSON document of a command; NaN and infinity become null, control characters are escaped."""
    wide = sys.stdout.encoding.lower().startswith("utf") if sys.stdout.encoding else True
    text = json.dumps(finite(document), ensure_ascii=not wide, indent=1)
    print(CONTROLS.sub(lambda found: found[0] if found[0] in "\n\t" else f"\\u{ord(found[0]):04x}", text))


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
    """Lines of result, never read as markup."""
    show(results(), text)


def remark(text: str) -> None:
    """Lines about the work."""
    show(remarks(), text, style="dim")


def show(console: Console, text: str, *, style: str = "") -> None:
    """Print a text that may hold anything: control characters are written out, and in a terminal lines wrap between
    words; a line with a command is left whole, so that it can be copied.
    """
    text = printable(text)
    if console.is_terminal:
        text = "\n".join(wrapped(line, console.width) for line in text.split("\n"))
    console.print(Text(text, style=style))


def wrapped(line: str, width: int) -> str:
    """A line of prose, wrapped between words; its later lines are indented as its first, behind a heading."""
    if len(line) <= width or "atento " in line or width < NARROW:
        return line
    indent = " " * (len(line) - len(re.sub(r"^(?:\w+ {2,}|[ ·!]*)", "", line)))
    glued = line.replace("--set ", "--set\N{NO-BREAK SPACE}")
    broken = wrap(glued, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
    return "\n".join(broken).replace("--set\N{NO-BREAK SPACE}", "--set ")


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Sequence[str] = (),
    expendable: Sequence[str] = (),
    more: str = "--json shows all",
) -> None:
    """A plain table that fits the terminal; a line says which columns are hidden and, in `more`, where they are."""
    console = results()
    table, hidden = fit_table(headings, rows, console.width, numbers=numbers, expendable=expendable)
    with console.capture() as drawn:
        console.print(table, soft_wrap=False)
    console.file.write("\n".join(line.rstrip() for line in drawn.get().split("\n")))  # no blanks for a pipe to wrap
    if hidden:
        show(console, f"not shown in {console.width} columns: {', '.join(hidden)}; {more}", style="dim")


def show_details(found: Mapping[str, Any]) -> None:
    """What the scores of a run or an evaluation hide: its classes, or its channels in the units of the file."""
    from atento.views.details import detail_tables

    for table in detail_tables(found):
        say("")
        say(table.title)
        print_table(table.headings, table.rows, numbers=table.headings[1:])


def next_step(task: str, run: object) -> str:
    """What to type after a run: the view that the task has of its own, else a text to try."""
    from atento.tasks.catalogue import TASKS

    views = TASKS[task].answering.views
    return command("look", run, "--what", views[0]) if views else command("try", run)


def command(name: str, first: object, *rest: object) -> str:
    """A command that can be pasted: words are quoted where a shell needs it, and a name that begins with a dash is no
    option.
    """
    first = f"./{first}" if str(first).startswith("-") else first
    return shlex.join(["atento", name, *map(str, (first, *rest))])


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
        self.progress = Progress(TextColumn("{task.description}", markup=False), console=self.console)

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
            how = ", bf16 products" if event.get("bf16") else ""  # of a run by an older version nothing is known
            self.line(f"{name}{event['parameters']:,} parameters, {event['device']}, {threads}{how}")
            self.facts.pop(model, None)  # of a run before it, as in a search
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
        if self.live:
            longest = max(map(cell_len, self.facts))
            name = printable(model or "learning", lines=False).ljust(longest)
            line = live_line(name, facts, over, self.console.width)
            if model not in self.bars:
                self.bars[model] = self.progress.add_task("", total=None)
            self.progress.update(self.bars[model], description=line)
        elif event["event"] != "step" or time.monotonic() - self.shown.get(model, 0.0) >= SECONDS_BETWEEN_LINES:
            self.shown[model] = time.monotonic()
            self.line(f"{model + ': ' if model else ''}{over:4.0%} {' · '.join(describe(facts, over).values())}")

    def once(self, text: str) -> None:
        """A note, shown once even where several models send it."""
        if text not in self.noted:
            self.noted.add(text)
            self.line(text)

    def line(self, text: str) -> None:
        """One line of text, above the bars."""
        show(self.console, text, style="dim")


def live_line(name: str, facts: "Event", over: float, width: int) -> str:
    """A line about a model that fits the terminal: its name, and of the rest what matters most."""
    done = round(BAR * over)
    parts = {"bar": "━" * done + "╺" * (BAR - done), **describe(facts, over)}
    for kind in ("", *LEAST_FIRST):
        parts.pop(kind, "")
        words = " · ".join(text for key, text in parts.items() if key != "bar")
        line = "  ".join(filter(None, (name, parts.get("bar"), f"{over:4.0%}", words)))
        if cell_len(line) <= width:
            return line
    return name


def describe(facts: "Event", over: float) -> dict[str, str]:
    """step 340 · loss 0.41 · exact 0.52 · chrf 0.81 · 580 examples/s · 31 s left, part by part."""
    parts = {"step": f"step {facts.get('step', 0)}"}
    if "loss" in facts:
        parts["loss"] = f"loss {score(facts['loss'])}"
    scores = list(facts.get("metrics", {}).items())[:2]
    parts |= {
        place: f"{name} {score(value)}" for place, (name, value) in zip(("first", "second"), scores, strict=False)
    }
    if "examples_per_second" in facts:
        parts["speed"] = f"{facts['examples_per_second']:,.0f} examples/s"
    if 0 < over < 1 and "elapsed" in facts:
        parts["left"] = f"{facts['elapsed'] * (1 - over) / over:.0f} s left"
    if facts.get("why"):
        parts["why"] = facts["why"] if facts["why"].startswith("stopped") else f"stopped: {facts['why']}"
    return parts


def load_run(run: "Path", device: str = "auto", *, network: bool = False) -> "Run":
    """The model of a folder; of a comparison its best model or its best network, which is said."""
    if not run.is_dir():  # told without torch too, which an exported model does not need
        raise no_such_run(run)
    with loading():
        from atento import api
        from atento.api.folders import find_model

    found = find_model(run, network=network)
    if found.note:
        remark(found.note)
    return api.load(found.folder, device=device)
