"""Which column of a table plays which part in its series: as the recipe says, else a guess, to be said.

Which columns tell series apart: without them rows share times, with them they do not.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from shlex import quote
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.examples.pairs import find_column
from atento.data.records import in_words
from atento.data.series.numbers import Sheet
from atento.data.series.time_columns import ROW, SERIES, SURE, VARIABLE, goes_by, guess_time
from atento.errors import InputError, nearest
from atento.spec import DataRecipe

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


KEYS = ("time", "series", "target", "known")  # that name columns


class Cast(NamedTuple):
    """The numbers of the columns in each part, from 0."""

    time: tuple[int, ...]  # several make one time: a date and a time of day, or year, month and day
    series: tuple[int, ...]
    variable: int  # whose cells name what the value beside them is; -1: none
    channels: tuple[int, ...]
    known: tuple[int, ...]
    counters: tuple[int, ...]  # that only count rows
    unused: tuple[int, ...]

    @property
    def names(self) -> tuple[int, ...]:
        """All columns that tell the rows of one time apart."""
        return (*self.series, *([self.variable] if self.variable >= 0 else ()))


def find_cast(sheet: Sheet, recipe: DataRecipe) -> Cast:
    """Columns that the recipe names, and guesses for the others."""
    asked = {key: named(sheet, recipe, key) for key in KEYS}
    require_apart(sheet, asked)
    time, series, channels, known = asked.values()

    def free(*taken: Sequence[int]) -> list[int]:
        used = {at for several in taken for at in several}
        return [at for at in range(len(sheet.table.columns)) if at not in used]

    time = time or guess_time(sheet, free(series, channels, known))
    variable = -1
    if not series:
        series, variable = guess_series(sheet, time, free(time, channels, known))
    names = (*series, variable)
    counters = tuple(at for at in free(time, names, channels, known) if counts_rows(sheet, at))
    if not channels:
        numeric = tuple(at for at in free(time, names, known, counters) if sheet.is_numeric(at))
        channels = tuple(at for at in numeric if not series or not stands_still(sheet, at, series)) or numeric
    unused = tuple(free(time, names, channels, known, counters))
    return Cast(time, series, variable, channels, known, counters, unused)


def named(sheet: Sheet, recipe: DataRecipe, key: str) -> tuple[int, ...]:
    """The columns that a key of the recipe names, several with commas between."""
    text = getattr(recipe, key)
    names = [text] if text in sheet.table.columns else [name.strip() for name in text.split(",")]
    if key == "known":  # of `weekday=Mo` the column
        names = [name if name in sheet.table.columns else name.partition("=")[0] for name in names]
    return tuple(column_of(sheet, name, key) for name in dict.fromkeys(names) if name)


def column_of(sheet: Sheet, name: str, key: str) -> int:
    """The column of this name; where there is none, one that could play the part is proposed."""
    try:
        return find_column(sheet.table, name, f"data.{key}")
    except InputError as error:
        every = range(len(sheet.table.columns))
        dates = [sheet.name(at) for at in every if sheet.is_dates(at)]
        numbers = [sheet.name(at) for at in every if sheet.is_numeric(at)]
        fits = {"time": dates or numbers, "target": [each for each in numbers if each not in dates]}.get(key)
        near = nearest(name, fits or sheet.table.columns)
        raise InputError(error.problem, found=error.found, fix=f"pass --set {quote(f'data.{key}={near}')}") from None


def require_apart(sheet: Sheet, asked: Mapping[str, Sequence[int]]) -> None:
    """A column plays one part: what is forecast is not known beforehand."""
    for one, other in combinations(asked, 2):
        twice = [sheet.name(at) for at in asked[one] if at in asked[other]]
        if twice:
            raise InputError(
                f"{sheet.table.file}:1: the column {twice[0]!r} cannot be both data.{one} and data.{other}.",
                found=f"data.{one} and data.{other} both name it",
                fix=f"leave it out of data.{other}",
            )


def counts_rows(sheet: Sheet, at: int) -> bool:
    """Whether a column only counts the rows, by its name, or for want of one, and its numbers."""
    unnamed = sheet.table.header and sheet.name(at) == str(at + 1)
    if not (unnamed or goes_by(sheet.name(at), ROW)) or not sheet.is_numeric(at):
        return False
    values = sheet.numbers(at).values
    return len(values) > 1 and bool(np.isfinite(values).all() and (np.diff(values) == 1).all())


def told(sheet: Sheet, cast: Cast, recipe: DataRecipe) -> list[str]:
    """What was guessed, in words, with the key that decides otherwise."""
    notes = []

    def names(columns: Sequence[int]) -> str:
        return in_words([repr(sheet.name(at)) for at in columns])

    if not recipe.time and cast.time:
        notes.append(f"the time is in {names(cast.time)}; --set data.time=... chooses otherwise")
    elif not cast.time:
        notes.append("no column says the time: rows are counted; --set data.time=... names one")
    if not recipe.series and cast.series:
        verb = "tell" if len(cast.series) > 1 else "tells"
        notes.append(f"{names(cast.series)} {verb} series apart; --set data.series=... chooses otherwise")
    if cast.variable >= 0:
        notes.append(f"{names([cast.variable])} names what each value is")
    if not recipe.target:
        what = "are forecast, as channels" if len(cast.channels) > 1 else "is forecast"
        notes.append(f"{names(cast.channels)} {what}; --set data.target=... chooses otherwise")
    if cast.counters:
        notes.append(f"{names(cast.counters)} only count{'s' * (len(cast.counters) == 1)} rows: not used")
    if cast.unused:
        verb = "is" if len(cast.unused) == 1 else "are"
        notes.append(f"{names(cast.unused)} {verb} not used; --set data.known=... names what is known beforehand")
    return notes
