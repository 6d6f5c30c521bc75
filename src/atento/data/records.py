"""The result of reading rows: cells as text, the line each row begins on, and the rows that were refused.

A list inside a cell (words, tags, labels, the two texts of a pair) is one text with tabs between its items: no item
may hold a tab. Tables, examples, predictions and reports all use this form.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import Literal, NamedTuple

from atento.errors import InputError

BadRows = Literal["stop", "skip"] | float  # none or all of them are left out, or at most this share of all rows
SKIP_BAD_ROWS = "--set data.bad_rows=skip"
BLANK = "the line is blank."
LIST_SEPARATOR = "\t"

Row = tuple[str, ...]


@dataclass(frozen=True)
class Refusal:
    """A row that cannot be used: its place, the problem, and a fix."""

    file: str
    line: int
    column: int
    problem: str
    found: str
    fix: str
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)  # recipe keys that solve it

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.problem}"

    @property
    def is_blank(self) -> bool:
        """Whether the line is empty, rather than malformed."""
        return self.problem == BLANK

    def error(self, others: int = 0, *, skip_option: str = SKIP_BAD_ROWS) -> InputError:
        """The refusal as an error, with the number of other bad rows and the option that skips them all."""
        more = f" ({others} more bad row{'s' if others > 1 else ''} in the file)" if others else ""
        return InputError(
            str(self),
            found=self.found + more,
            fix=f"{self.fix}, or pass {skip_option} to leave such rows out",
            settings=self.settings,
        )


def blank(file: str, line: int, *, fix: str = "delete the line") -> Refusal:
    """The refusal of an empty line."""
    return Refusal(file, line, 1, BLANK, found="a blank line between two rows", fix=fix)


class Place(NamedTuple):
    """The position of the first character of a cell; lines and columns count from 1."""

    file: str
    line: int
    column: int


Locate = Callable[[int, int], Place]  # (first line of the row, index of the cell)
LocateNumber = Callable[[int, int, int], Place]  # (first line of the row, step, channel) of a number in a sequence


class Records(NamedTuple):
    """The rows of a file before it is a table; `columns` is empty when the format does not name them."""

    columns: tuple[str, ...]
    rows: list[Row]
    lines: list[int]
    refused: list[Refusal]
    locate: Locate
    notes: tuple[str, ...] = ()
    locate_number: LocateNumber | None = None  # for formats whose sequences are not written as one cell


def collect(found: Iterable[tuple[int, Row | Refusal]]) -> tuple[list[Row], list[int], list[Refusal]]:
    """Rows, the lines they begin on, and the refusals of the others, from the line and the row or refusal of each."""
    rows, lines, refused = list[Row](), list[int](), list[Refusal]()
    for line, row in found:
        if isinstance(row, Refusal):
            refused.append(row)
        else:
            rows.append(row)
            lines.append(line)
    return rows, lines, refused


def stop_or_skip(
    refused: Iterable[Refusal], bad_rows: BadRows, *, used: int = 0, skip_option: str = SKIP_BAD_ROWS
) -> tuple[Refusal, ...]:
    """The refused rows in the order of the file; where `bad_rows` does not allow so many beside the `used` ones, the
    first is raised as an error.
    """
    ordered = sorted(refused, key=lambda refusal: (refusal.line, refusal.column))
    if ordered and not may_skip(len(ordered), used, bad_rows):
        raise ordered[0].error(others=len(ordered) - 1, skip_option=skip_option)
    return tuple(ordered)


def may_skip(refused: int, used: int, bad_rows: BadRows) -> bool:
    """Whether so many rows may be left out beside those that are used."""
    if isinstance(bad_rows, str):
        return bad_rows == "skip"
    return refused <= bad_rows * (refused + used)


def without_blank_end(lines: list[str]) -> list[str]:
    """The lines without blank ones at the end."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def excerpt(text: str, limit: int = 60) -> str:
    """A quotation of the user's text, cut to a length that fits a message."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def in_words(names: Sequence[str], limit: int = 12) -> str:
    """The names as `a, b and c`."""
    if len(names) > limit:
        return ", ".join(names[:limit]) + f" and {len(names) - limit} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def pass_setting(key: str, value: str) -> str:
    """The fix that sets a recipe key, as it is typed."""
    return f"pass --set {quote(f'{key}={value}')}"


def counted(number: int, noun: str) -> str:
    """A number and its noun: `1 field`, `2 fields`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def join_items(items: Iterable[str]) -> str:
    """A list as one text; a tab inside an item becomes a space."""
    return LIST_SEPARATOR.join(item.replace(LIST_SEPARATOR, " ") for item in items)


def split_items(text: str) -> list[str]:
    """The items of a list written by `join_items`; an empty text is an empty list."""
    return text.split(LIST_SEPARATOR) if text else []
