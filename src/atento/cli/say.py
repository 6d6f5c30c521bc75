"""Printing: results to standard output, everything else to standard error."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


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
    """What to type after a run: a text to try, or a forecast to look at."""
    return f"atento look {run} --what forecast" if task == "forecast" else f"atento try {run}"
