"""Cells to numbers, a column at once: what is empty, what is none, and how decimals are written."""

import re
from collections import Counter
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
