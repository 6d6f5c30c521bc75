"""Which columns tell series apart: without them rows share times, with them they do not."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from atento.data.series.column_names import SERIES, SURE, VARIABLE, goes_by
from atento.data.series.sheet import Sheet

Whole = NDArray[np.int64]

FEW = 0.1  # of rows may share a time before a column is looked for that tells series apart
LEFT = 0.05  # of rows that may still share it then: faults to be told
MOST = 8  # columns that are tried
TEXTS, NUMBERS = 2, 20  # rows for each different cell, of texts and of numbers that no name explains


def guess_series(sheet: Sheet, time: Sequence[int], free: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The columns whose cells tell series apart, and the one among them that names variables; -1: none does."""
    alone = bool(time) and share_a_time(sheet, time) <= FEW
    likely = [at for at in free if not alone or goes_by(sheet.name(at), SURE)]
    names = [at for at in likely if may_name_series(sheet, at)]
    names = sorted(names, key=lambda at: (not goes_by(sheet.name(at), SERIES | VARIABLE), sheet.is_numeric(at), at))
    if alone:
        return tuple(names[:1]), -1
    if not time:
        return tuple(at for at in names if in_blocks(sheet, at))[:1], -1
    clock = combined([sheet.codes(at) for at in time])
    for count in (1, 2, 3):
        for few in combinations(names[:MOST], count):
            if shared(combined([clock, *map(sheet.codes, few)])) <= LEFT:
                variable = next((at for at in few if goes_by(sheet.name(at), VARIABLE)), -1)
                return tuple(at for at in few if at != variable), variable
    return (), -1


def may_name_series(sheet: Sheet, at: int) -> bool:
    """Whether cells come again and again and are texts or whole numbers; numbers need a name or to be few."""
    numeric = sheet.is_numeric(at)
    if (numeric and not sheet.numbers(at).is_whole) or sheet.is_dates(at):
        return False
    each = TEXTS if not numeric or goes_by(sheet.name(at), SERIES | VARIABLE) else NUMBERS
    return sheet.distinct(at) <= len(sheet) / each


def in_blocks(sheet: Sheet, at: int) -> bool:
    """Whether each of several names stands in rows that follow one another, as the rows of a series do."""
    if sheet.is_numeric(at) and not goes_by(sheet.name(at), SERIES):
        return False
    distinct = sheet.distinct(at)
    return distinct > 1 and int((np.diff(sheet.codes(at)) != 0).sum()) == distinct - 1


def share_a_time(sheet: Sheet, time: Sequence[int]) -> float:
    """The share of rows whose time is written in an earlier row."""
    if len(time) == 1:
        return 1 - sheet.distinct(time[0]) / len(sheet)
    return shared(combined([sheet.codes(at) for at in time]))


def combined(codes: Sequence[Whole]) -> Whole:
    """One number for each different row of several codes."""
    total = codes[0]
    for more in codes[1:]:
        total = np.unique(total * (int(more.max(initial=0)) + 1) + more, return_inverse=True)[1]
    return total


def shared(codes: Whole) -> float:
    """The share of rows that say what an earlier row said."""
    return 1 - len(np.unique(codes)) / len(codes) if len(codes) else 0.0


def stands_still(sheet: Sheet, at: int, series: Sequence[int]) -> bool:
    """Whether a column says the same in all rows of each of several series."""
    code = combined([sheet.codes(each) for each in series])
    return int(code.max(initial=0)) > 0 and len(np.unique(combined([code, sheet.codes(at)]))) == len(np.unique(code))
