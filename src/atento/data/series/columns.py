"""The role of each column of a table of series: as the recipe says, else a guess, with a note.

Columns identify series where rows share timestamps without them and do not share them with them.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from shlex import quote
from typing import NamedTuple

import numpy as np

from atento.data.examples.pairs import find_column
from atento.data.records import in_words
from atento.data.series.column_words import (
    CALENDAR_FACTS,
    ID_WORDS,
    ROW_WORDS,
    SERIES_WORDS,
    VARIABLE_WORDS,
    has_word,
)
from atento.data.series.covariates import VARIABLE_SEPARATOR
from atento.data.series.series import Integers, Numbers
from atento.data.series.time_columns import (
    LIKELY_YEARS,
    Timestamps,
    guess_time_columns,
    may_be_time,
    read_timestamps,
)
from atento.data.series.typed_table import TypedTable
from atento.errors import InputError, nearest
from atento.spec import DataRecipe

COLUMN_KEYS = ("time", "series", "target", "future_covariates")  # keys of the recipe that name columns
FEW_REPEATED = 0.1  # share of rows with a repeated timestamp above which a column that identifies series is sought
STILL_REPEATED = 0.05  # share that may remain then: errors of the file
MOST_IDENTIFIERS = 8  # columns that are tried
MOST_CALENDAR = 366  # different values of a fact of the calendar
FEWEST_COUNTED = 20  # rows of which a column of any name is a count
STILL_YEARS = 0.98  # of years with decimals, that are the year of their time: rounding moves the ends
TEXTS, NUMBERS = 2, 20  # rows for each distinct cell, of texts and of numbers whose column has no telling name


class SeriesColumns(NamedTuple):
    """The column numbers of each role, from 0."""

    time: tuple[int, ...]  # several form one timestamp: a date and a time of day, or year, month and day
    series: tuple[int, ...]
    variable: int  # of a table in long form, the column that names what the value is; -1: none
    channels: tuple[int, ...]
    covariates: tuple[int, ...]
    row_counters: tuple[int, ...]
    unused: tuple[int, ...]

    @property
    def identifiers(self) -> tuple[int, ...]:
        """All columns that tell rows of the same timestamp apart."""
        return (*self.series, *([self.variable] if self.variable >= 0 else ()))


def find_columns(typed: TypedTable, recipe: DataRecipe) -> SeriesColumns:
    """The columns that the recipe names, and guesses for the others."""
    named = {key: columns_named(typed, recipe, key) for key in COLUMN_KEYS}
    require_one_role(typed, named)
    time, series, channels, covariates = named.values()

    def free(*taken: Sequence[int]) -> list[int]:
        used = {at for several in taken for at in several}
        return [at for at in range(len(typed.table.columns)) if at not in used]

    time = time or guess_time_columns(typed, free(series, channels, covariates))
    variable = -1
    if not series:
        series, variable = guess_series(typed, time, free(time, channels, covariates))
    identifiers = (*series, variable)
    counters = tuple(at for at in free(time, identifiers, channels, covariates) if is_row_counter(typed, at))
    if not channels:
        numeric = tuple(at for at in free(time, identifiers, covariates, counters) if typed.is_numeric(at))
        moving = tuple(at for at in numeric if not series or not is_static(typed, at, series)) or numeric
        dated = any(typed.is_dates(at) for at in time)
        channels = tuple(at for at in moving if not (dated and is_calendar_fact(typed, at))) or moving
        even = follow_time(typed, time, channels) if time and not series else ()
        if len(even) < len(channels):
            channels = tuple(at for at in channels if at not in even)
            counters = tuple(sorted((*counters, *even)))
    unused = tuple(free(time, identifiers, channels, covariates, counters))
    return SeriesColumns(time, series, variable, channels, covariates, counters, unused)


def columns_named(typed: TypedTable, recipe: DataRecipe, key: str) -> tuple[int, ...]:
    """The columns that a key of the recipe names, separated by commas."""
    text = getattr(recipe, key)
    names = [text] if text in typed.table.columns else [name.strip() for name in text.split(",")]
    if key == "future_covariates":  # of `weekday=Mo` the column
        names = [name if name in typed.table.columns else name.partition("=")[0] for name in names]
    return tuple(column_named(typed, name, key) for name in dict.fromkeys(names) if name)


def column_named(typed: TypedTable, name: str, key: str) -> int:
    """The column of this name; where there is none, the error proposes one that could have the role."""
    try:
        return find_column(typed.table, name, f"data.{key}")
    except InputError as error:
        every = range(len(typed.table.columns))
        dates = [typed.name(at) for at in every if typed.is_dates(at)]
        numbers = [typed.name(at) for at in every if typed.is_numeric(at)]
        values = [each for each in numbers if each not in dates]
        timed = dates or [typed.name(at) for at in every if typed.is_numeric(at) and may_be_time(typed, at)]
        fits = {"time": timed, "target": values}.get(key, list(typed.table.columns))
        if not fits:
            what = "times" if key == "time" else "numbers"
            fix = f"add the column {name!r}: no other holds {what}"
            raise InputError(error.problem, found=error.found, fix=fix) from None
        near = nearest(name, fits)
        raise InputError(error.problem, found=error.found, fix=f"pass --set {quote(f'data.{key}={near}')}") from None


def require_one_role(typed: TypedTable, named: Mapping[str, Sequence[int]]) -> None:
    """Refuse a column that two keys of the recipe name."""
    for one, other in combinations(named, 2):
        twice = [typed.name(at) for at in named[one] if at in named[other]]
        if twice:
            raise InputError(
                f"{typed.table.file}:1: the column {twice[0]!r} cannot be both data.{one} and data.{other}.",
                found=f"data.{one} and data.{other} both name it",
                fix=f"leave it out of data.{other}",
            )


def guess_series(typed: TypedTable, time: Sequence[int], free: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The columns that identify series, and the one among them that names variables; -1: none does."""
    one_series = bool(time) and repeated_time_share(typed, time) <= FEW_REPEATED
    likely = [at for at in free if not one_series or has_word(typed.name(at), ID_WORDS)]
    words = SERIES_WORDS | VARIABLE_WORDS
    found = [at for at in likely if may_identify_series(typed, at)]
    found = sorted(found, key=lambda at: (not has_word(typed.name(at), words), typed.is_numeric(at), at))
    if one_series:
        return tuple(found[:1]), -1
    if not time:
        return tuple(at for at in found if in_blocks(typed, at))[:1], -1
    times = combine_codes([typed.codes(at) for at in time])
    for count in (1, 2, 3):
        for few in combinations(found[:MOST_IDENTIFIERS], count):
            if repeated_share(combine_codes([times, *map(typed.codes, few)])) <= STILL_REPEATED:
                variable = next((at for at in few if has_word(typed.name(at), VARIABLE_WORDS)), -1)
                return tuple(at for at in few if at != variable), variable
    return (), -1


def may_identify_series(typed: TypedTable, at: int) -> bool:
    """Whether a column has repeated texts or whole numbers; numbers need a telling name or few distinct values."""
    numeric = typed.is_numeric(at)
    if (numeric and not typed.numbers(at).is_whole) or typed.is_dates(at):
        return False
    rows_each = TEXTS if not numeric or has_word(typed.name(at), SERIES_WORDS | VARIABLE_WORDS) else NUMBERS
    return typed.distinct(at) <= len(typed) / rows_each


def in_blocks(typed: TypedTable, at: int) -> bool:
    """Whether the rows of each of several names are contiguous, as the rows of a series are."""
    if typed.is_numeric(at) and not has_word(typed.name(at), SERIES_WORDS):
        return False
    distinct = typed.distinct(at)
    return distinct > 1 and int((np.diff(typed.codes(at)) != 0).sum()) == distinct - 1


def repeated_time_share(typed: TypedTable, time: Sequence[int]) -> float:
    """The share of rows whose timestamp is in an earlier row."""
    if len(time) == 1:
        return 1 - typed.distinct(time[0]) / len(typed)
    return repeated_share(combine_codes([typed.codes(at) for at in time]))


def repeated_share(codes: Integers) -> float:
    """The share of rows whose code is in an earlier row."""
    return 1 - len(np.unique(codes)) / len(codes) if len(codes) else 0.0


def combine_codes(codes: Sequence[Integers]) -> Integers:
    """One code for each distinct combination of several codes."""
    total = codes[0]
    for more in codes[1:]:
        total = np.unique(total * (int(more.max(initial=0)) + 1) + more, return_inverse=True)[1]
    return total


def number_series(typed: TypedTable, columns: SeriesColumns, usable: Integers) -> tuple[Integers, tuple[str, ...]]:
    """The number of each row's series, in the order of the file, and the names of the series."""
    if not columns.identifiers:
        return np.zeros(len(usable), np.int64), ("",)
    codes = combine_codes([typed.codes(at) for at in columns.identifiers])[usable]
    _, first, code = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    names = []
    for row in usable[first[order]]:
        name = "/".join(typed.columns[at][row].strip() for at in columns.series)
        if columns.variable >= 0:
            name = f"{name}{VARIABLE_SEPARATOR}{typed.columns[columns.variable][row].strip()}"
        names.append(name)
    return number[code], tuple(names)


def is_static(typed: TypedTable, at: int, series: Sequence[int]) -> bool:
    """Whether a column has the same value in all rows of each of several series."""
    code = combine_codes([typed.codes(each) for each in series])
    both = combine_codes([code, typed.codes(at)])
    return int(code.max(initial=0)) > 0 and len(np.unique(both)) == len(np.unique(code))


def is_row_counter(typed: TypedTable, at: int) -> bool:
    """Whether a column only counts the rows, by its numbers and by its name or for want of one."""
    unnamed = typed.table.header and typed.name(at) == str(at + 1)
    if not (unnamed or has_word(typed.name(at), ROW_WORDS)) or not typed.is_numeric(at):
        return False
    values = typed.numbers(at).values
    if len(values) < 2 or not typed.numbers(at).is_whole or not np.isfinite(values).all():
        return False
    steps = np.diff(values)
    return bool((steps == steps[0]).all() and steps[0] > 0) or (
        typed.name(at).lower() == "id" and bool((steps > 0).all())
    )


def follow_time(typed: TypedTable, time: Sequence[int], channels: Sequence[int]) -> tuple[int, ...]:
    """The channels that only say the time again under any name: the number of the row, the end of its time step, or a
    year with decimals.
    """
    rising = [at for at in channels if len(typed) >= FEWEST_COUNTED and (np.diff(typed.numbers(at).values) > 0).all()]
    likely = [at for at in rising if typed.numbers(at).is_whole or are_years(typed.numbers(at).values)]
    stamps = read_timestamps(typed, time, to_utc=True) if likely else None
    return tuple(at for at in likely if stamps is not None and says_time(typed.numbers(at).values, stamps))


def are_years(values: Numbers) -> bool:
    """Whether numbers lie among the years of a calendar."""
    return bool(LIKELY_YEARS[0] <= values.min() and values.max() <= LIKELY_YEARS[1])


def says_time(values: Numbers, stamps: Timestamps) -> bool:
    """Whether numbers rise by the same from row to row or with the time, or are its years with decimals."""
    steps = np.diff(values)
    if (steps == steps[0]).all() and (values == np.rint(values)).all():
        return True
    if not stamps.calendar or not stamps.valid.all():
        return False
    times = stamps.values.astype(np.int64)
    if are_years(values) and (values != np.rint(values)).any():
        years = times.astype("datetime64[us]").astype("datetime64[Y]").astype(np.int64) + 1970
        return bool((np.floor(values) == years).mean() >= STILL_YEARS)
    passed = (times - times[0]) / max(1, int(times[-1] - times[0]))
    return bool((np.abs(values - values[0] - passed * (values[-1] - values[0])) < 1 / 2).all())


def is_calendar_fact(typed: TypedTable, at: int) -> bool:
    """Whether a column says the weekday, the month and the like, which the time says too: known in advance."""
    name = "".join(letter for letter in typed.name(at).lower() if letter.isalnum())
    return name in CALENDAR_FACTS and typed.numbers(at).is_whole and typed.distinct(at) <= MOST_CALENDAR


def describe_guesses(
    typed: TypedTable, columns: SeriesColumns, recipe: DataRecipe, *, forecast: bool = True
) -> list[str]:
    """Notes on what was guessed, with the keys that decide otherwise; channels are forecast, or only read."""
    notes = []

    def names(several: Sequence[int]) -> str:
        return in_words([repr(typed.name(at)) for at in several])

    if not recipe.time and columns.time:
        notes.append(f"the time is in {names(columns.time)}; --set data.time=... chooses otherwise")
    elif not columns.time:
        notes.append("no column holds the time: rows are counted; --set data.time=... names one")
    if not recipe.series and columns.series:
        verb = "tell" if len(columns.series) > 1 else "tells"
        notes.append(f"{names(columns.series)} {verb} series apart; --set data.series=... chooses otherwise")
    if columns.variable >= 0:
        notes.append(f"{names([columns.variable])} names what each value is")
    if not recipe.target:
        used, key = ("forecast", "target") if forecast else ("read", "source")
        what = f"are {used}, as channels" if len(columns.channels) > 1 else f"is {used}"
        notes.append(f"{names(columns.channels)} {what}; --set data.{key}=... chooses otherwise")
    if columns.row_counters:
        verb = "counts" if len(columns.row_counters) == 1 else "count"
        notes.append(f"{names(columns.row_counters)} only {verb} rows or time: not used")
    if columns.unused:
        verb = "is" if len(columns.unused) == 1 else "are"
        known = "future_covariates=... names those known in advance" if forecast else "source=... names what is read"
        notes.append(f"{names(columns.unused)} {verb} not used; --set data.{known}")
    return notes
