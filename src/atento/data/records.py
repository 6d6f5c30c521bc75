"""What every reader of rows hands on: cells, the line each row began on, and the rows it refused.

A list of texts as one text: tabs stand between its items, for no item of a table's cell holds one.
The words and tags of a sentence, the labels of a text and the two texts of a pair all travel so, through tables,
examples, predictions and reports.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from atento.errors import InputError

BadRows = Literal["stop", "skip"]
SKIP = "--set data.bad_rows=skip"
BLANK = "the line is blank."


@dataclass(frozen=True)
class Refusal:
    """One row that cannot be used: where, why, and what would mend it."""

    file: str
    line: int
    column: int
    problem: str
    found: str
    fix: str
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)  # recipe keys that mend it

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.problem}"

    @property
    def is_blank(self) -> bool:
        """Whether the line holds nothing at all, rather than something broken."""
        return self.problem == BLANK

    def error(self, others: int = 0, *, leaving_out: str = SKIP) -> InputError:
        """The same as an error that stops, saying how many more rows are bad, and what would go on without them."""
        more = f" ({others} more bad row{'s' if others > 1 else ''} in the file)" if others else ""
        return InputError(
            str(self),
            found=self.found + more,
            fix=f"{self.fix}, or pass {leaving_out} to leave such rows out",
            settings=self.settings,
        )


def blank(file: str, line: int, *, fix: str = "delete the line") -> Refusal:
    """The refusal of a line with nothing on it."""
    return Refusal(file, line, 1, BLANK, found="a blank line between two rows", fix=fix)


class Place(NamedTuple):
    """Where a cell begins; lines and columns count from 1."""

    file: str
    line: int
    column: int


Locate = Callable[[int, int], Place]  # the line a row begins on, the number of a cell from 0
Inside = Callable[[int, int, int], Place]  # the line a row begins on, step and channel of a number in its sequence


class Records(NamedTuple):
    """Rows as a reader found them; `columns` is empty when the format does not name them."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    lines: list[int]
    refused: list[Refusal]
    locate: Locate
    notes: tuple[str, ...] = ()
    inside: Inside | None = None  # where the numbers of a sequence stand, where a format says it apart from its cell


def stop_or_skip(refused: Iterable[Refusal], bad_rows: BadRows, *, leaving_out: str = SKIP) -> tuple[Refusal, ...]:
    """The refused rows in the order of the file; an error for the first one when bad rows stop."""
    ordered = sorted(refused, key=lambda refusal: (refusal.line, refusal.column))
    if ordered and bad_rows == "stop":
        raise ordered[0].error(others=len(ordered) - 1, leaving_out=leaving_out)
    return tuple(ordered)


def without_blank_end(lines: list[str]) -> list[str]:
    """The lines up to the last one that holds anything."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def excerpt(text: str, limit: int = 60) -> str:
    """A piece of the user's text short enough for a message."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def in_words(names: Sequence[str], limit: int = 12) -> str:
    """`a, b and c`."""
    if len(names) > limit:
        return ", ".join(names[:limit]) + f" and {len(names) - limit} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def counted(number: int, noun: str) -> str:
    """`1 field`, `2 fields`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


BETWEEN = "\t"


def join(items: Iterable[str]) -> str:
    """One text; a tab inside an item becomes a space."""
    return BETWEEN.join(item.replace(BETWEEN, " ") for item in items)


def split(text: str) -> list[str]:
    """The items again; an empty text is an empty list."""
    return text.split(BETWEEN) if text else []
