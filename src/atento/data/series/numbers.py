"""Cells to numbers, a column at once: what is empty, what is no number, and how decimals are written."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from atento.data.series.series import Mask, Numbers

EMPTY = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "nil", "-", "?", ".", "#n/a", "<na>", "-nan", "nat", "missing"}
)
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
WITH_UNIT = re.compile(
    r"(?:(?P<before>[$€£¥₹])\s*[+-]?\d[\d.,]*|[+-]?(?=[\d.])[\d.,]+(?:[eE][+-]?\d+)?\s*(?P<after>[%‰$€£¥₹]|°[CF]))"
)
MIN_SHARE = 0.8  # of the cells that are not empty


class NumberCells(NamedTuple):
    """The numbers of N cells; NaN where a cell is empty or no number."""

    values: Numbers
    empty: Mask  # blank, NA or NaN
    invalid: Mask  # neither empty nor a number
    decimal_commas: bool = False  # whether decimals are written with a comma
    thousands_separators: bool = False  # whether commas separate thousands
    unit: str = ""  # a currency or unit sign beside each number, which is left out

    @property
    def is_numeric(self) -> bool:
        """Whether most cells that are not empty are numbers."""
        filled = len(self.values) - int(self.empty.sum())
        return filled > 0 and filled - int(self.invalid.sum()) >= MIN_SHARE * filled

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are whole."""
        filled = self.values[~self.empty & ~self.invalid]
        return bool(len(filled) and np.isfinite(filled).all() and (filled == np.rint(filled)).all())


def read_numbers(cells: Sequence[str], *, commas: bool = False) -> NumberCells:
    """The numbers of a column; `commas`: other columns of the table have decimal commas."""
    count = len(cells)
    try:
        values = np.array([float(cell) for cell in cells], np.float64)
    except ValueError:
        return parse_cells(cells, commas=commas)
    if np.isfinite(values).all() and "_" not in "".join(cells):
        return NumberCells(values, np.zeros(count, bool), np.zeros(count, bool))
    return parse_cells(cells)


def parse_cells(cells: Sequence[str], *, commas: bool = False) -> NumberCells:
    """The same cell by cell, with decimal commas, thousands separators or a unit where a column has them."""
    values, empty, wrong = np.full(len(cells), np.nan), np.zeros(len(cells), bool), np.zeros(len(cells), bool)
    unit = common_unit(cells)
    bare = [cell.replace(unit, "", 1).strip() if unit else cell.strip() for cell in cells]
    commas = has_decimal_commas(bare, likely=commas)
    thousands = not commas and has_thousands_separators(bare)
    for row, text in enumerate(bare):
        if commas or thousands:
            text = text.replace(",", "." if commas else "")
        if NUMBER.fullmatch(text):
            values[row] = float(text)
        elif text.lower() in EMPTY:
            empty[row] = True
        else:
            wrong[row] = True
    return NumberCells(values, empty, wrong, commas, thousands, unit)


def common_unit(cells: Sequence[str]) -> str:
    """The one currency or unit sign beside most numbers of a column; empty: there is none."""
    filled = [cell.strip() for cell in cells if cell.strip().lower() not in EMPTY]
    units = Counter(found["before"] or found["after"] for cell in filled if (found := WITH_UNIT.fullmatch(cell)))
    return next(iter(units)) if len(units) == 1 and units.total() >= MIN_SHARE * len(filled) else ""


def has_thousands_separators(cells: Sequence[str]) -> bool:
    """Whether commas clearly separate thousands: two in a number, one before a point, or none in smaller numbers."""
    with_comma = [cell for cell in cells if "," in cell]
    if not with_comma or not all(THOUSANDS.fullmatch(cell) for cell in with_comma):
        return False
    plain = [cell for cell in cells if "," not in cell and NUMBER.fullmatch(cell)]
    clear = any(cell.count(",") > 1 or "." in cell for cell in with_comma)
    return (clear or bool(plain)) and all(abs(float(cell)) < 1000 for cell in plain)


def has_decimal_commas(cells: Sequence[str], *, likely: bool = False) -> bool:
    """Whether a column has decimal commas: no decimal point, and not always three digits after a comma, which could
    separate thousands, unless other columns make decimal commas likely.
    """
    with_comma = [cell.strip() for cell in cells if "," in cell]
    if not with_comma or not all(COMMA.fullmatch(cell) for cell in with_comma):
        return False
    if not likely and all(THOUSANDS.fullmatch(cell) for cell in with_comma):
        return False
    plain = [cell for cell in cells if "," not in cell]
    return not any("." in cell and NUMBER.fullmatch(cell.strip()) for cell in plain)


def suggest_fix(cell: str) -> str:
    """How to mend a cell that is no number, for a message."""
    text = cell.strip()
    if THOUSANDS.fullmatch(text):
        return f"write it without thousands separators: {text.replace(',', '')}"
    if COMMA.fullmatch(text):
        return f"write decimals with a point: {text.replace(',', '.')}"
    number = re.match(r"[^\d+-]{0,3}([+-]?\d+(?:\.\d+)?)", text)
    return f"write the number alone: {number[1]}" if number else "write a number there"
