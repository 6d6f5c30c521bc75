"""Which column of a table is the time, which tells series apart, and which hold what is forecast. Guesses, to be said."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.pairs import find_column
from atento.data.records import in_words
from atento.data.series.clock import Clock, of_numbers, of_stamps
from atento.data.series.column_names import CALENDAR, COUNT, ROW, SERIES, SURE, TIME, VARIABLE, goes_by, words_of
from atento.data.series.sheet import Sheet
from atento.spec import DataRecipe

FEW = 0.1  # of rows may share a time before a column is looked for that tells series apart
LEFT = 0.05  # of rows that may still share it then: faults to be told
MOST_NAMES = 8  # columns tried as names of series
TIME_OF_DAY = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?"


class Cast(NamedTuple):
    """The numbers of the columns in each part, from 0."""

    time: tuple[int, ...]  # several make one time: a date and a time of day, or year, month and day
    series: tuple[int, ...]
    variable: int  # whose cells name what the value beside them is; -1: none
    channels: tuple[int, ...]
    known: tuple[int, ...]
    unused: tuple[int, ...]
    notes: tuple[str, ...]


def find_cast(sheet: Sheet, recipe: DataRecipe) -> Cast:
    """Columns that the recipe names, and guesses for the others."""
    time, series = (named(sheet, recipe, key) for key in ("time", "series"))
    channels, known = (named(sheet, recipe, key) for key in ("target", "known"))
    taken = {*time, *series, *channels, *known}
    notes: list[str] = []
    if not time:
        time = guess_time(sheet, taken)
        taken |= {*time}
    variable = -1
    if not series:
        series, variable = guess_series(sheet, time, taken)
        taken |= {*series, variable}
    elif len(series) == 1 and not channels:
        variable = -1
    counters = [at for at in range(len(sheet.table.columns)) if at not in taken and counts_rows(sheet, at)]
    if not channels:
        free = [at for at in range(len(sheet.table.columns)) if at not in {*taken, *counters}]
        channels = tuple(at for at in free if sheet.is_numeric(at))
        still = [at for at in channels if series and stands_still(sheet, at, series)]
        channels = tuple(at for at in channels if at not in still) or channels
    used = {*time, *series, variable, *channels, *known}
    unused = tuple(at for at in range(len(sheet.table.columns)) if at not in used)
    cast = Cast(time, series, variable, channels, known, unused, ())
    return cast._replace(notes=(*notes, *said(sheet, cast, recipe)))


def named(sheet: Sheet, recipe: DataRecipe, key: str) -> tuple[int, ...]:
    """The columns that a key of the recipe names, several with commas between."""
    text = getattr(recipe, key)
    names = [text] if text in sheet.table.columns else [name.strip() for name in text.split(",")]
    return tuple(find_column(sheet.table, name, f"data.{key}") for name in names if name)


def guess_time(sheet: Sheet, taken: set[int]) -> tuple[int, ...]:
    """A column of dates, with a time of day beside it; else year, month and day; else numbers named as times are."""
    free = [at for at in range(len(sheet.table.columns)) if at not in taken]
    dates = [at for at in free if sheet.is_dates(at)]
    if dates:
        best = max(dates, key=lambda at: (goes_by(sheet.name(at), TIME), sheet.distinct(at), -at))
        clock = next((at for at in free if at not in dates and is_time_of_day(sheet, at)), -1)
        return (best, clock) if clock >= 0 and only_dates(sheet, best) else (best,)
    parts = calendar_parts(sheet, free)
    if len(parts) > 1:
        return parts
    whole = [at for at in free if sheet.is_numeric(at) and may_be_time(sheet, at)]
    return (min(whole, key=lambda at: (not goes_by(sheet.name(at), TIME | COUNT), at)),) if whole else ()


def may_be_time(sheet: Sheet, at: int) -> bool:
    """Whether numbers are times by their name and distances, or count the rows of a file whose first column has no name."""
    name = sheet.name(at)
    numbers = sheet.numbers(at)
    clock = of_numbers(numbers, name)
    if clock.calendar:
        return True
    distinct = np.unique(numbers.values[np.isfinite(numbers.values)])
    apart = np.diff(distinct)
    if not len(apart):
        return False
    even = float(np.mean(np.abs(apart - np.median(apart)) <= 0.02 * np.median(apart)))
    return even >= 0.5 and goes_by(name, COUNT | TIME)


def is_time_of_day(sheet: Sheet, at: int) -> bool:
    """Whether a column holds times of day."""
    import re

    cells = sheet.sample(at)
    return bool(cells) and all(re.fullmatch(TIME_OF_DAY, cell.strip()) for cell in cells) and any(":" in cell or cell.count(".") > 1 for cell in cells)


def only_dates(sheet: Sheet, at: int) -> bool:
    """Whether a column of dates says nothing of the time of day."""
    return not any(":" in cell for cell in sheet.sample(at))


def calendar_parts(sheet: Sheet, free: Sequence[int]) -> tuple[int, ...]:
    """Columns of year, month, day and so on, as far as they go."""
    parts: list[int] = []
    for names in CALENDAR:
        found = [at for at in free if at not in parts and len(words_of(sheet.name(at))) == 1 and goes_by(sheet.name(at), names)]
        if not found or not sheet.is_numeric(found[0]) or not sheet.numbers(found[0]).is_whole:
            break
        parts.append(found[0])
    return tuple(parts)


def read_clock(sheet: Sheet, time: Sequence[int], *, to_utc: bool) -> Clock | None:
    """The times of all rows; None where no column says them."""
    if not time:
        return None
    if len(time) == 1:
        if not sheet.is_dates(time[0]) and sheet.is_numeric(time[0]):
            return of_numbers(sheet.numbers(time[0]), sheet.name(time[0]))
        return of_stamps(sheet.columns[time[0]], to_utc=to_utc)
    columns = [sheet.columns[at] for at in time]
    if sheet.is_dates(time[0]):
        return of_stamps([" ".join(cells).replace(".", ":") if "." in cells[-1] else " ".join(cells) for cells in zip(*columns, strict=True)], to_utc=to_utc)
    return of_stamps([joined(cells) for cells in zip(*columns, strict=True)], to_utc=to_utc)


def joined(cells: Sequence[str]) -> str:
    """`2016`, `7`, `1`, `0` as `2016-07-01 00:00`."""
    year, *rest = (cell.strip().removesuffix(".0").zfill(2) for cell in cells)
    date = "-".join([year, *rest[:2]])
    return f"{date} {rest[2]}:{rest[3] if len(rest) > 3 else '00'}" if len(rest) > 2 else date


def guess_series(sheet: Sheet, time: tuple[int, ...], taken: set[int]) -> tuple[tuple[int, ...], int]:
    """The columns whose cells tell series apart, and the one that names variables: without them rows share times."""
    free = [at for at in range(len(sheet.table.columns)) if at not in taken]
    alone = bool(time) and share_a_time(sheet, time) <= FEW
    likely = [at for at in free if not alone or goes_by(sheet.name(at), SURE)]
    names = [at for at in likely if may_name_series(sheet, at)]
    names = sorted(names, key=lambda at: (not goes_by(sheet.name(at), SERIES), sheet.is_numeric(at), at))
    if alone:
        return tuple(names[:1]), -1
    if not time:
        runs = [at for at in names if in_blocks(sheet, at)]
        return tuple(runs[:1]), -1
    clock = combined([sheet.codes(at) for at in time])
    for count in (1, 2, 3):
        fitting = [
            few for few in combinations(names[:MOST_NAMES], count) if shared(combined([clock, *map(sheet.codes, few)])) <= LEFT
        ]
        if fitting:
            best = min(fitting, key=lambda few: [names.index(at) for at in few])
            variable = next((at for at in best if goes_by(sheet.name(at), VARIABLE)), -1)
            return tuple(at for at in best if at != variable), variable
    return (), -1


def may_name_series(sheet: Sheet, at: int) -> bool:
    """Whether cells come again and again and are texts or whole numbers; numbers need a name or to be few."""
    rows, numeric = len(sheet), sheet.is_numeric(at)
    if (numeric and not sheet.numbers(at).is_whole) or sheet.is_dates(at):
        return False
    most = rows / 2 if not numeric or goes_by(sheet.name(at), SERIES | VARIABLE) else rows / 20
    return sheet.distinct(at) <= most


def in_blocks(sheet: Sheet, at: int) -> bool:
    """Whether each of several cells stands in rows that follow one another, as the rows of a series do."""
    codes = sheet.codes(at)
    text = not sheet.is_numeric(at)
    return sheet.distinct(at) > 1 and int((np.diff(codes) != 0).sum()) == sheet.distinct(at) - 1 and (text or goes_by(sheet.name(at), SERIES))


def share_a_time(sheet: Sheet, time: Sequence[int]) -> float:
    """The share of rows whose time is written in an earlier row."""
    if len(time) == 1:
        return 1 - sheet.distinct(time[0]) / len(sheet)
    return shared(combined([sheet.codes(at) for at in time]))


def combined(codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """One number for each different row of several codes."""
    total = codes[0]
    for more in codes[1:]:
        total = np.unique(total * (int(more.max(initial=0)) + 1) + more, return_inverse=True)[1]
    return total


def shared(codes: NDArray[np.int64]) -> float:
    """The share of rows that say what an earlier row said."""
    return 1 - len(np.unique(codes)) / len(codes) if len(codes) else 0.0


def counts_rows(sheet: Sheet, at: int) -> bool:
    """Whether a column only counts the rows, by its name and its numbers."""
    name = sheet.name(at)
    if not (goes_by(name, ROW) or name == "1" and sheet.table.header) or not sheet.is_numeric(at):
        return False
    values = sheet.numbers(at).values
    return len(values) > 1 and bool((np.diff(values) == 1).all())


def stands_still(sheet: Sheet, at: int, series: Sequence[int]) -> bool:
    """Whether a column says the same in all rows of a series, of each one."""
    code = combined([sheet.codes(each) for each in series])
    return int(code.max(initial=0)) > 0 and len(np.unique(combined([code, sheet.codes(at)]))) == len(np.unique(code))


def said(sheet: Sheet, cast: Cast, recipe: DataRecipe) -> list[str]:
    """What was guessed, in words, with the key that decides otherwise."""
    notes = []

    def names(columns: Sequence[int]) -> str:
        return in_words([repr(sheet.name(at)) for at in columns])

    if not recipe.time:
        if cast.time:
            notes.append(f"the time is in {names(cast.time)}; --set data.time=... chooses otherwise")
        else:
            notes.append("no column says the time: rows are counted; --set data.time=... names one")
    if not recipe.series and cast.series:
        notes.append(f"{names(cast.series)} tells series apart; --set data.series=... chooses otherwise")
    if cast.variable >= 0:
        notes.append(f"{names([cast.variable])} names what each value is: they become channels of one series")
    if not recipe.target and cast.channels:
        what = "is what is forecast" if len(cast.channels) == 1 else "are what is forecast, as channels of one series"
        notes.append(f"{names(cast.channels)} {what}; --set data.target=... chooses otherwise")
    if cast.unused:
        verb = "is" if len(cast.unused) == 1 else "are"
        notes.append(f"{names(cast.unused)} {verb} not used; --set data.known=... names what is known beforehand")
    return notes
