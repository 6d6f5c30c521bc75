"""Which column of a table plays which part in its series: as the recipe says, else a guess, to be said."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from shlex import quote
from typing import NamedTuple

import numpy as np

from atento.data.pairs import find_column
from atento.data.records import in_words
from atento.data.series.column_names import ROW, goes_by
from atento.data.series.series_columns import guess_series, stands_still
from atento.data.series.sheet import Sheet
from atento.data.series.time_columns import guess_time
from atento.errors import InputError, nearest
from atento.spec import DataRecipe

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
