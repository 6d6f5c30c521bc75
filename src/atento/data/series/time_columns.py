"""Which columns hold the timestamp of a row, and the timestamps themselves.

A timestamp is in one column, in a date and a time of day, or in year, month and day. Cells are parsed as dates, as
numbers of a calendar (20160731, 2016, seconds since 1970), or as numbers that count.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from atento.data.numbers.reading import NumberCells
from atento.data.series.column_words import (
    CALENDAR_PARTS,
    COUNT_WORDS,
    DATE_WORDS,
    TIME_WORDS,
    WEEK_WORDS,
    YEAR_WORDS,
    has_word,
    words_of,
)
from atento.data.series.frequency import MICROSECONDS, infer_frequency, time_steps
from atento.data.series.series import Frequency, Integers, Mask, Numbers
from atento.data.series.timestamps import DAY, NO_ZONE, TimestampCells, days_of, iso_weeks, parse_timestamps
from atento.data.series.typed_table import TypedTable

HOUR_WORDS, LAST_HOUR = CALENDAR_PARTS[3], 23
LIKELY_YEARS = (1500, 2200)
TIME_OF_DAY = re.compile(
    r"\d{1,2}(?::\d{2}(?::\d{2}(?:\.\d{1,6})?)?|\.\d{2}\.\d{2})(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\.?)?"
    r"|\d{1,2}[ \u00a0]?[AaPp][Mm]"
)
REGULAR_SHARE = 0.5  # of equal differences that numbers named as times have
TOLERANCE = 0.02  # relative, of such differences
EPOCHS = ((1e8, 5e9, 10**6), (1e11, 5e12, 10**3), (1e14, 5e15, 1))  # from, to, microseconds in one
EPOCH_UNITS, NANOSECONDS = ("seconds", "milliseconds", "microseconds"), (1e17, 5e18)
YEARS = (1000, 2999)
SERIALS = (("a spreadsheet", 25_569, (20_000, 60_000)), ("MATLAB", 719_529, (712_224, 750_000)))  # 1970, from, to
ORDINALS = (1_900_001, 2_100_366)  # years and days of the year as yyyyddd
DATES = (15_000_101, 22_001_231)  # 1500-01-01 and 2200-12-31 as yyyymmdd
ANY_TIME = "timestamp"  # for the name of a column of times that its name does not show
FEWEST_TIMES = 8
VALID_SHARE = 0.95  # of numbers that must be dates
CLEARLY = 0.1  # by which day first or month first must be more regular than the other
MUCH_LONGER = 5.0  # times the time from the first to the last date, if a year of two digits is read as a day
AUTUMN = (4, 9, 10, 11)  # months in which clocks are set back somewhere


class Timestamps(NamedTuple):
    """The timestamps of N rows."""

    values: Integers | Numbers  # microseconds since 1970, or numbers that count
    valid: Mask
    calendar: bool  # whether values are microseconds since 1970
    notes: tuple[str, ...] = ()
    other_zone_row: int = -1  # the first row in another zone than the rows before it
    ambiguous: bool = False  # whether dates may begin with the day or with the month


def guess_time_columns(typed: TypedTable, free: Sequence[int]) -> tuple[int, ...]:
    """A column of dates, with a time of day beside it; else year, month and day; else numbers named as times are."""
    dates = [at for at in free if typed.is_dates(at)]
    if dates:
        best = max(dates, key=lambda at: (has_word(typed.name(at), TIME_WORDS), typed.distinct(at), -at))
        time_of_day = next((at for at in free if at not in dates and is_time_of_day(typed, at)), -1)
        if time_of_day < 0:
            time_of_day = next((at for at in free if at not in dates and is_hour(typed, at)), -1)
        alone = time_of_day < 0 or any(":" in cell for cell in typed.sample(best))
        return (best,) if alone else (best, time_of_day)
    parts = calendar_parts(typed, free)
    if len(parts) > 1:
        return parts
    if not typed.table.header and is_calendar(typed, free[:3]):
        return tuple(free[:3])
    if not typed.table.header and is_calendar(typed, free[:2]):
        return tuple(free[:2])
    numeric = [at for at in free if typed.is_numeric(at)]
    named = [at for at in numeric if may_be_time(typed, at)]
    return tuple(named or [at for at in numeric if is_regular_time(typed, at)])[:1]


def may_be_time(typed: TypedTable, at: int) -> bool:
    """Whether numbers are times by their name and their differences."""
    numbers = typed.numbers(at)
    if not has_word(typed.name(at), COUNT_WORDS | TIME_WORDS):
        return False
    if timestamps_from_numbers(numbers, typed.name(at)).calendar:
        return True
    differences = np.diff(np.unique(numbers.values[np.isfinite(numbers.values)]))
    usual = np.median(differences) if len(differences) else 0.0
    return len(differences) > 0 and float(np.mean(np.abs(differences - usual) <= TOLERANCE * usual)) >= REGULAR_SHARE


def is_regular_time(typed: TypedTable, at: int) -> bool:
    """Whether numbers are plainly times, whatever their name: dates without separators or seconds since 1970, each
    later than the one above, at equal time steps.
    """
    found = timestamps_from_numbers(typed.numbers(at), ANY_TIME)
    if not found.calendar or not found.valid.all() or len(found.values) < FEWEST_TIMES:
        return False
    times = found.values.astype(np.int64)
    return bool((np.diff(times) > 0).all()) and regularity(times) >= VALID_SHARE


def is_time_of_day(typed: TypedTable, at: int) -> bool:
    """Whether a column holds times of day."""
    cells = typed.sample(at)
    return bool(cells) and all(TIME_OF_DAY.fullmatch(cell.strip()) for cell in cells)


def is_hour(typed: TypedTable, at: int) -> bool:
    """Whether a column holds the hours of the day, from 0 to 23, by its name and its numbers."""
    if not has_word(typed.name(at), HOUR_WORDS) or not typed.is_numeric(at) or not typed.numbers(at).is_whole:
        return False
    values = typed.numbers(at).values
    return bool(np.isfinite(values).all()) and values.min(initial=0) >= 0 and values.max(initial=0) == LAST_HOUR


def is_calendar(typed: TypedTable, parts: Sequence[int]) -> bool:
    """Whether columns without names are plainly the year, the month and perhaps the day of each row: dates that exist,
    each later than the one above, at equal time steps.
    """
    if len(parts) < 2 or len(typed) < FEWEST_TIMES:
        return False
    if not all(typed.is_numeric(at) and typed.numbers(at).is_whole for at in parts):
        return False
    years = typed.numbers(parts[0]).values
    if not LIKELY_YEARS[0] <= years.min() <= years.max() <= LIKELY_YEARS[1]:
        return False
    found = timestamps_from_text(
        [join_calendar_parts(cells) for cells in zip(*(typed.columns[at] for at in parts), strict=True)], to_utc=False
    )
    times = found.values.astype(np.int64)
    return bool(found.valid.all() and (np.diff(times) > 0).all()) and regularity(times) >= VALID_SHARE


def calendar_parts(typed: TypedTable, free: Sequence[int]) -> tuple[int, ...]:
    """Columns of year, month, day and so on, as far as there are any."""
    parts: list[int] = []
    for names in CALENDAR_PARTS:
        named = [at for at in free if words_of(typed.name(at))[:2] in [[name] for name in names]]
        found = [at for at in named if at not in parts and typed.is_numeric(at) and typed.numbers(at).is_whole]
        if not found:
            break
        parts.append(found[0])
    return tuple(parts)


def read_timestamps(typed: TypedTable, time: Sequence[int], *, to_utc: bool) -> Timestamps | None:
    """The timestamps of all rows from the columns `time`; None where there are no such columns."""
    if not time:
        return None
    if len(time) == 1:
        if not typed.is_dates(time[0]) and typed.is_numeric(time[0]):
            named = has_word(typed.name(time[0]), TIME_WORDS | COUNT_WORDS)
            return timestamps_from_numbers(typed.numbers(time[0]), typed.name(time[0]) if named else ANY_TIME)
        return timestamps_from_text(typed.columns[time[0]], to_utc=to_utc)
    join = join_time_of_day if typed.is_dates(time[0]) else join_calendar_parts
    cells = [join(parts) for parts in zip(*(typed.columns[at] for at in time), strict=True)]
    return timestamps_from_text(cells, to_utc=to_utc)


def join_time_of_day(cells: Sequence[str]) -> str:
    """`2016-07-01` and `18.00.00` as `2016-07-01 18:00:00`; `2016-07-01` and `18` as `2016-07-01 18:00`."""
    date, *times = (cell.strip() for cell in cells)
    if times[0].removesuffix(".0").isdigit():  # an hour alone
        times = [f"{times[0].removesuffix('.0')}:00"]
    return " ".join([date, *(times if ":" in times[0] else (each.replace(".", ":") for each in times))])


def join_calendar_parts(cells: Sequence[str]) -> str:
    """`2016`, `7`, `1`, `0` as `2016-07-01 00:00`."""
    year, *rest = (cell.strip().removesuffix(".0").zfill(2) for cell in cells)
    date = "-".join([year, *rest[:2]])
    return f"{date} {rest[2]}:{rest[3] if len(rest) > 3 else '00'}" if len(rest) > 2 else date


def timestamps_from_text(cells: Sequence[str], *, to_utc: bool) -> Timestamps:
    """The timestamps of cells that are written as dates."""
    parsed = parse_timestamps(cells)
    local, valid, notes, ambiguous = resolve_day_or_month(parsed)
    if parsed.two_digit_years:
        notes += ("years of two digits are read as 1940 to 2039",)
    offsets = np.unique(parsed.offset[valid])
    if len(offsets) < 2 and (not len(offsets) or offsets[0] in (NO_ZONE, 0)):
        return Timestamps(local, valid, True, notes, ambiguous=ambiguous)
    if len(offsets) > 1 and not to_utc:
        other = np.flatnonzero(valid & (parsed.offset != parsed.offset[np.argmax(valid)]))
        return Timestamps(local, valid, True, notes, other_zone_row=int(other[0]), ambiguous=ambiguous)
    if not (local[valid] % DAY).any():
        notes += ("all times are midnight in their zone: they are days",)
        return Timestamps(local, valid, True, notes, ambiguous=ambiguous)
    shift = np.where(parsed.offset == NO_ZONE, 0, parsed.offset) * 60_000_000
    sign, minutes = "-" if offsets[0] < 0 else "+", abs(int(offsets[0]))
    zones = "of several zones" if len(offsets) > 1 else f"at {sign}{minutes // 60:02}:{minutes % 60:02}"
    return Timestamps(local - shift, valid, True, (*notes, f"times {zones} are converted to UTC"), ambiguous=ambiguous)


def resolve_day_or_month(parsed: TimestampCells) -> tuple[Integers, Mask, tuple[str, ...], bool]:
    """The times with the day, the month or a year of two digits first, whichever is valid for most of the column, else
    whichever has the most regular time steps; whether they are valid, notes, and whether two are as regular.
    """
    either = parsed.ambiguous
    if not either.any():
        return parsed.day_first, parsed.valid, (), False
    readings = {
        "day": (parsed.day_first, parsed.valid),
        "month": (parsed.month_first, parsed.month_first_valid),
        "year": (parsed.year_first, parsed.year_first_valid),
    }
    most = max(int(valid[either].sum()) for _, valid in readings.values())
    likely = [name for name, (_, valid) in readings.items() if int(valid[either].sum()) == most]
    if len(likely) > 1:
        even = {name: regularity(readings[name][0][readings[name][1]]) for name in likely}
        likely = [name for name in likely if max(even.values()) - even[name] < CLEARLY]
    if "year" in likely and len(likely) > 1:
        spans = {name: float(np.ptp(readings[name][0][readings[name][1]])) for name in likely}
        likely = [name for name in likely if spans[name] <= MUCH_LONGER * min(spans.values())]
    times, valid = readings[likely[0]]
    if any((readings[name][0] != times).any() for name in likely[1:]):
        return times, valid, (), True
    return times, valid, (f"dates begin with the {likely[0]}, by all of the column",), False


def regularity(times: Integers) -> float:
    """The share of the time steps between the first and the last time that occur: 1 where there is no gap."""
    distinct = np.unique(times)
    frequency = infer_frequency(distinct, np.zeros(len(distinct), np.int64)) if len(distinct) > 1 else None
    if frequency is None:
        return 0.0
    index, on_grid = time_steps(distinct, np.full_like(distinct, distinct[0]), frequency)
    return float(on_grid.mean() * len(np.unique(index)) / (index.max() + 1))


def timestamps_from_numbers(numbers: NumberCells, name: str) -> Timestamps:
    """The timestamps of cells that are numbers: dates without separators, years, seconds since 1970, or counts."""
    values, valid = numbers.values, np.isfinite(numbers.values)
    filled = values[valid]
    if not len(filled):
        return Timestamps(values, valid, False)
    least, most = float(filled.min()), float(filled.max())
    if numbers.is_whole and DATES[0] <= least and most <= DATES[1]:
        whole = np.where(valid, values, DATES[0]).astype(np.int64)
        days, exist = days_of(whole // 10_000, whole // 100 % 100, whole % 100)
        if exist.mean() > VALID_SHARE:
            return Timestamps(days * DAY, valid & exist, True, ("times are dates written as yyyymmdd",))
    if numbers.is_whole and YEARS[0] <= least and most <= YEARS[1] and has_word(name, YEAR_WORDS):
        whole = np.where(valid, values, YEARS[0]).astype(np.int64)
        return Timestamps(days_of(whole, np.ones_like(whole), np.ones_like(whole))[0] * DAY, valid, True)
    if numbers.is_whole and 100 * YEARS[0] < least and most < 100 * YEARS[1] + 54 and has_word(name, TIME_WORDS):
        whole = np.where(valid, values, 100 * YEARS[0] + 1).astype(np.int64)
        days, exist = days_of(whole // 100, whole % 100, np.ones_like(whole))
        if exist.mean() > VALID_SHARE and not has_word(name, WEEK_WORDS):
            return Timestamps(days * DAY, valid & exist, True, ("times are months written as yyyymm",))
        days, exist = iso_weeks(whole // 100, whole % 100, np.ones_like(whole))
        if exist.mean() > VALID_SHARE:
            return Timestamps(days * DAY, valid & exist, True, ("times are ISO weeks written as yyyyww",))
    if has_word(name, TIME_WORDS) and numbers.is_whole and ORDINALS[0] <= least and most <= ORDINALS[1]:
        whole = np.where(valid, values, ORDINALS[0]).astype(np.int64)
        days, exist = days_of_year(whole // 1000, whole % 1000)
        if exist.mean() > VALID_SHARE:
            return Timestamps(days * DAY, valid & exist, True, ("times are days of the year written as yyyyddd",))
    for program, origin, (earliest, latest) in SERIALS if has_word(name, DATE_WORDS) else ():
        if earliest <= least and most < latest:
            times = np.rint((np.where(valid, values, origin) - origin) * 86_400).astype(np.int64) * 10**6
            day = np.datetime64(int(times[np.argmax(valid)]), "us").astype("datetime64[D]")
            said = f"times are numbers of days, as {program} writes dates: {filled[0]:.10g} is {day}"
            return Timestamps(times, valid, True, (said,))
    if has_word(name, TIME_WORDS | COUNT_WORDS):
        for unit, (low, high, factor) in zip(EPOCH_UNITS, EPOCHS, strict=True):
            if low <= least and most < high:
                times = np.rint(np.where(valid, values, 0) * factor).astype(np.int64)
                return Timestamps(times, valid, True, (f"times are {unit} since 1970, in UTC",))
        if NANOSECONDS[0] <= least and most < NANOSECONDS[1]:
            times = np.rint(np.where(valid, values, 0) / 1000).astype(np.int64)
            return Timestamps(times, valid, True, ("times are nanoseconds since 1970, in UTC",))
    return Timestamps(values, valid, False)


def days_of_year(year: Integers, day: Integers) -> tuple[Integers, Mask]:
    """Days since 1970 of a day of the year, from 1, and whether it exists."""
    first, _ = days_of(year, np.ones_like(year), np.ones_like(year))
    following, _ = days_of(year + 1, np.ones_like(year), np.ones_like(year))
    return first + day - 1, (day >= 1) & (day <= following - first)


def in_repeated_hour(timestamps: Timestamps, row: int, frequency: Frequency) -> bool:
    """Whether a row may be in the hour that is repeated when summer time ends: early on a Sunday in autumn."""
    if not timestamps.calendar or MICROSECONDS.get(frequency.unit, DAY) * frequency.count >= DAY:
        return False
    time = int(timestamps.values[row])
    month = int(np.datetime64(time, "us").astype("datetime64[M]").astype(np.int64)) % 12 + 1
    return (time // DAY + 3) % 7 == 6 and time % DAY < 4 * MICROSECONDS["h"] and month in AUTUMN
