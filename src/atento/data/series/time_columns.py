"""Which columns say the time of a row, and what they say: one, a date and a time of day, or year, month and day."""

import re
from collections.abc import Sequence

import numpy as np

from atento.data.series.clock import Clock, of_numbers, of_stamps
from atento.data.series.column_names import CALENDAR, COUNT, TIME, goes_by, words_of
from atento.data.series.sheet import Sheet

TIME_OF_DAY = re.compile(r"\d{1,2}(?::\d{2}(?::\d{2})?|\.\d{2}\.\d{2})")
EVEN = 0.5  # share of equal distances that numbers named as times have
CLOSE = 0.02  # by which such distances may differ


def guess_time(sheet: Sheet, free: Sequence[int]) -> tuple[int, ...]:
    """A column of dates, with a time of day beside it; else year, month and day; else numbers named as times are."""
    dates = [at for at in free if sheet.is_dates(at)]
    if dates:
        best = max(dates, key=lambda at: (goes_by(sheet.name(at), TIME), sheet.distinct(at), -at))
        clock = next((at for at in free if at not in dates and is_time_of_day(sheet, at)), -1)
        return (best, clock) if clock >= 0 and not any(":" in cell for cell in sheet.sample(best)) else (best,)
    parts = calendar_parts(sheet, free)
    if len(parts) > 1:
        return parts
    return tuple(at for at in free if sheet.is_numeric(at) and may_be_time(sheet, at))[:1]


def may_be_time(sheet: Sheet, at: int) -> bool:
    """Whether numbers are times by their name and their distances."""
    numbers = sheet.numbers(at)
    if not goes_by(sheet.name(at), COUNT | TIME):
        return False
    if of_numbers(numbers, sheet.name(at)).calendar:
        return True
    apart = np.diff(np.unique(numbers.values[np.isfinite(numbers.values)]))
    return len(apart) > 0 and float(np.mean(np.abs(apart - np.median(apart)) <= CLOSE * np.median(apart))) >= EVEN


def is_time_of_day(sheet: Sheet, at: int) -> bool:
    """Whether a column holds times of day."""
    cells = sheet.sample(at)
    return bool(cells) and all(TIME_OF_DAY.fullmatch(cell.strip()) for cell in cells)


def calendar_parts(sheet: Sheet, free: Sequence[int]) -> tuple[int, ...]:
    """Columns of year, month, day and so on, as far as they go."""
    parts: list[int] = []
    for names in CALENDAR:
        named = [at for at in free if words_of(sheet.name(at))[:2] in [[name] for name in names]]
        found = [at for at in named if at not in parts and sheet.is_numeric(at) and sheet.numbers(at).is_whole]
        if not found:
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
    write = with_clock if sheet.is_dates(time[0]) else as_date
    return of_stamps([write(cells) for cells in zip(*(sheet.columns[at] for at in time), strict=True)], to_utc=to_utc)


def with_clock(cells: Sequence[str]) -> str:
    """`2016-07-01` and `18.00.00` as `2016-07-01 18:00:00`."""
    date, *clock = (cell.strip() for cell in cells)
    return (
        " ".join([date, *clock]) if ":" in clock[0] else " ".join([date, *(each.replace(".", ":") for each in clock)])
    )


def as_date(cells: Sequence[str]) -> str:
    """`2016`, `7`, `1`, `0` as `2016-07-01 00:00`."""
    year, *rest = (cell.strip().removesuffix(".0").zfill(2) for cell in cells)
    date = "-".join([year, *rest[:2]])
    return f"{date} {rest[2]}:{rest[3] if len(rest) > 3 else '00'}" if len(rest) > 2 else date
