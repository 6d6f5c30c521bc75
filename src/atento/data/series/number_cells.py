"""Cells to numbers, a column at once: what is empty, what is none, and how decimals are written."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EMPTY = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "nil", "-", "?", ".", "#n/a", "<na>", "-nan", "nat", "missing"}
)
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
SHARE = 0.8  # of the cells that hold anything


class NumberCells(NamedTuple):
    """The numbers of N cells; NaN where one is empty or none."""

    values: NDArray[np.float64]
    empty: NDArray[np.bool_]  # nothing there, NA or NaN
    wrong: NDArray[np.bool_]  # something there that is no number
    commas: bool = False  # whether decimals are written with a comma

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
    """The same cell by cell, with decimal commas where a column has them throughout."""
    values, empty, wrong = np.full(len(cells), np.nan), np.zeros(len(cells), bool), np.zeros(len(cells), bool)
    commas = has_commas(cells, likely=commas)
    for row, cell in enumerate(cells):
        text = cell.strip()
        if commas:
            text = text.replace(",", ".")
        if NUMBER.fullmatch(text):
            values[row] = float(text)
        elif text.lower() in EMPTY:
            empty[row] = True
        else:
            wrong[row] = True
    return NumberCells(values, empty, wrong, commas)


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
