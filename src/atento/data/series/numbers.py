"""Cells to numbers, a column at once: what is empty, what is none, and how decimals are written.

A table whose columns are read as numbers or times when they are first asked for.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.series.timestamps import are_stamps
from atento.data.tables.table import Table

EMPTY = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "nil", "-", "?", ".", "#n/a", "<na>", "-nan", "nat", "missing"}
)
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
SIGNED = re.compile(
    r"(?:(?P<before>[$€£¥₹])\s*[+-]?\d[\d.,]*|[+-]?(?=[\d.])[\d.,]+(?:[eE][+-]?\d+)?\s*(?P<after>[%‰$€£¥₹]|°[CF]))"
)
SHARE = 0.8  # of the cells that hold anything
THOUSAND = 1000


class NumberCells(NamedTuple):
    """The numbers of N cells; NaN where one is empty or none."""

    values: NDArray[np.float64]
    empty: NDArray[np.bool_]  # nothing there, NA or NaN
    wrong: NDArray[np.bool_]  # something there that is no number
    commas: bool = False  # whether decimals are written with a comma
    thousands: bool = False  # whether commas part thousands
    sign: str = ""  # of money or of a unit beside each number, which is left out

    @property
    def is_numeric(self) -> bool:
        """Whether nearly all cells that hold anything hold numbers."""
        filled = len(self.values) - int(self.empty.sum())
        return filled > 0 and filled - int(self.wrong.sum()) >= SHARE * filled

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are whole ones."""
        filled = self.values[~self.empty & ~self.wrong]
        return bool(len(filled) and np.isfinite(filled).all() and (filled == np.rint(filled)).all())


def read_numbers(cells: Sequence[str], *, commas: bool = False) -> NumberCells:
    """The numbers of a column; `commas`: decimals are written so elsewhere in its table."""
    count = len(cells)
    try:
        values = np.array([float(cell) for cell in cells], np.float64)
    except ValueError:
        return read_carefully(cells, commas=commas)
    if np.isfinite(values).all() and "_" not in "".join(cells):
        return NumberCells(values, np.zeros(count, bool), np.zeros(count, bool))
    return read_carefully(cells)


def read_carefully(cells: Sequence[str], *, commas: bool = False) -> NumberCells:
    """The same cell by cell, with decimal commas, commas between thousands or a sign where a column has them."""
    values, empty, wrong = np.full(len(cells), np.nan), np.zeros(len(cells), bool), np.zeros(len(cells), bool)
    sign = shared_sign(cells)
    bare = [cell.replace(sign, "", 1).strip() if sign else cell.strip() for cell in cells]
    commas = has_commas(bare, likely=commas)
    thousands = not commas and parts_thousands(bare)
    for row, text in enumerate(bare):
        if commas or thousands:
            text = text.replace(",", "." if commas else "")
        if NUMBER.fullmatch(text):
            values[row] = float(text)
        elif text.lower() in EMPTY:
            empty[row] = True
        else:
            wrong[row] = True
    return NumberCells(values, empty, wrong, commas, thousands, sign)


def shared_sign(cells: Sequence[str]) -> str:
    """The one sign of money or of a unit that stands beside nearly all numbers of a column; empty: there is none."""
    filled = [cell.strip() for cell in cells if cell.strip().lower() not in EMPTY]
    signs = Counter(found["before"] or found["after"] for cell in filled if (found := SIGNED.fullmatch(cell)))
    return next(iter(signs)) if len(signs) == 1 and signs.total() >= SHARE * len(filled) else ""


def parts_thousands(cells: Sequence[str]) -> bool:
    """Whether commas clearly part thousands: twice in a number, before a point, or beside smaller numbers without."""
    with_comma = [cell for cell in cells if "," in cell]
    if not with_comma or not all(THOUSANDS.fullmatch(cell) for cell in with_comma):
        return False
    plain = [cell for cell in cells if "," not in cell and NUMBER.fullmatch(cell)]
    clear = any(cell.count(",") > 1 or "." in cell for cell in with_comma)
    return (clear or bool(plain)) and all(abs(float(cell)) < THOUSAND for cell in plain)


def has_commas(cells: Sequence[str], *, likely: bool = False) -> bool:
    """Whether a column writes decimals with commas: no point anywhere, and not always three digits behind a comma,
    which could part thousands, unless decimal commas are likely by what stands beside it.
    """
    with_comma = [cell.strip() for cell in cells if "," in cell]
    if not with_comma or not all(COMMA.fullmatch(cell) for cell in with_comma):
        return False
    if not likely and all(THOUSANDS.fullmatch(cell) for cell in with_comma):
        return False
    plain = [cell for cell in cells if "," not in cell]
    return not any("." in cell and NUMBER.fullmatch(cell.strip()) for cell in plain)


def advise(cell: str) -> str:
    """How to mend a cell that is no number."""
    text = cell.strip()
    if THOUSANDS.fullmatch(text):
        return f"write it without marks between thousands: {text.replace(',', '')}"
    if COMMA.fullmatch(text):
        return f"write decimals with a point: {text.replace(',', '.')}"
    number = re.match(r"[^\d+-]{0,3}([+-]?\d+(?:\.\d+)?)", text)
    return f"write the number alone: {number[1]}" if number else "write a number there"


SAMPLE = 200  # cells by which the form of a column is told
ONE_FORM_SHARE = 0.9  # of them that must be of one form


class Sheet:
    """The columns of a table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.numbers_read: dict[int, NumberCells] = {}
        self.codes_read: dict[int, NDArray[np.int64]] = {}

    @cached_property
    def columns(self) -> list[tuple[str, ...]]:
        """The cells column by column."""
        return list(zip(*self.table.rows, strict=True)) if self.table.rows else [() for _ in self.table.columns]

    def __len__(self) -> int:
        return len(self.table.rows)

    def name(self, at: int) -> str:
        """What a column is called."""
        return self.table.columns[at]

    @cached_property
    def commas(self) -> bool:
        """Whether commas are decimal ones: where semicolons part the cells, or where some column shows it."""
        return self.table.delimiter == ";" or any(has_commas(self.sample(at)) for at in range(len(self.columns)))

    def numbers(self, at: int) -> NumberCells:
        """A column as numbers."""
        if at not in self.numbers_read:
            self.numbers_read[at] = read_numbers(self.columns[at], commas=self.commas)
        return self.numbers_read[at]

    def codes(self, at: int) -> NDArray[np.int64]:
        """Which of its different cells each cell of a column is, by the order in which they come."""
        if at not in self.codes_read:
            known: dict[str, int] = {}
            self.codes_read[at] = np.array(
                [known.setdefault(cell.strip(), len(known)) for cell in self.columns[at]], np.int64
            )
        return self.codes_read[at]

    def distinct(self, at: int) -> int:
        """How many different cells a column has."""
        return len(set(self.columns[at]))

    def sample(self, at: int) -> list[str]:
        """Cells of a column from all over it, those that hold anything."""
        cells = self.columns[at][:: 1 + len(self) // SAMPLE]
        return [cell for cell in cells if cell.strip()]

    def is_dates(self, at: int) -> bool:
        """Whether a column is written as dates are."""
        cells = [cell for cell in self.sample(at) if not cell.strip().isdigit()]
        return are_stamps(cells, ONE_FORM_SHARE) and len(cells) >= ONE_FORM_SHARE * len(self.sample(at))

    def is_numeric(self, at: int) -> bool:
        """Whether a column holds numbers; by a sample first, for a column of texts costs most."""
        return read_numbers(self.sample(at), commas=self.commas).is_numeric and self.numbers(at).is_numeric
