"""A column of times as numbers on one line: microseconds of a calendar, or numbers that only count."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.series.column_names import COUNT, TIME, YEAR, goes_by
from atento.data.series.number_cells import NumberCells
from atento.data.series.series import Step
from atento.data.series.stamps import DAY, NO_ZONE, Stamps, days_of, read_stamps
from atento.data.series.steps import SIZES, find_step, places

EPOCHS = ((1e8, 5e9, 10**6), (1e11, 5e12, 10**3), (1e14, 5e15, 1))  # from, to, microseconds in one
SECONDS, NANO = ("seconds", "milliseconds", "microseconds"), (1e17, 5e18)
AUTUMN = (4, 9, 10, 11)  # months in which clocks are set back somewhere
CLEARLY = 0.1  # by which one reading must be more even than the other
YEARS = (1000, 2999)
DATES = (15_000_101, 22_001_231)  # 1500-01-01 and 2200-12-31 as yyyymmdd


class Clock(NamedTuple):
    """The times of N rows."""

    at: NDArray[np.int64] | NDArray[np.float64]  # microseconds since 1970, or numbers that count
    good: NDArray[np.bool_]
    calendar: bool
    notes: tuple[str, ...] = ()
    mixed: int = -1  # the first row in another zone than the rows before it
    unclear: bool = False  # day and month could be either


def of_stamps(cells: Sequence[str], *, to_utc: bool) -> Clock:
    """The times of cells that are written as dates."""
    stamps = read_stamps(cells)
    local, good, notes, unclear = by_day_or_month(stamps)
    if stamps.short:
        notes += ("years of two digits are read as 1940 to 2039",)
    offsets = np.unique(stamps.offset[good])
    if len(offsets) < 2 and (not len(offsets) or offsets[0] in (NO_ZONE, 0)):
        return Clock(local, good, True, notes, unclear=unclear)
    if len(offsets) > 1 and not to_utc:
        other = np.flatnonzero(good & (stamps.offset != stamps.offset[np.argmax(good)]))
        return Clock(local, good, True, notes, mixed=int(other[0]), unclear=unclear)
    if not (local[good] % DAY).any():
        notes += ("all times are midnight where they were written: they are days",)
        return Clock(local, good, True, notes, unclear=unclear)
    shift = np.where(stamps.offset == NO_ZONE, 0, stamps.offset) * 60_000_000
    zones = "of several zones" if len(offsets) > 1 else f"at {zone_of(int(offsets[0]))}"
    return Clock(local - shift, good, True, (*notes, f"times {zones} are told in UTC"), unclear=unclear)


def zone_of(minutes: int) -> str:
    """`+02:00`."""
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def by_day_or_month(stamps: Stamps) -> tuple[NDArray[np.int64], NDArray[np.bool_], tuple[str, ...], bool]:
    """The reading, day first or month first, that fits the whole column; else the one with equal distances."""
    slashed = stamps.slashed
    if not slashed.any():
        return stamps.local, stamps.good, (), False
    day, month = int(stamps.good[slashed].sum()), int(stamps.other_good[slashed].sum())
    if day == month:
        even = density(stamps.local[stamps.good]), density(stamps.other[stamps.other_good])
        if abs(even[0] - even[1]) < CLEARLY and (stamps.local != stamps.other).any():
            return stamps.local, stamps.good, (), True
        day, month = (1, 0) if even[0] >= even[1] else (0, 1)
    first = "the day" if day > month else "the month"
    notes = (f"dates begin with {first}, by all of the column",)
    return (stamps.local, stamps.good, notes, False) if day > month else (stamps.other, stamps.other_good, notes, False)


def density(times: NDArray[np.int64]) -> float:
    """How many of the steps between the first and the last time are taken: 1 where all distances are equal."""
    distinct = np.unique(times)
    code = np.zeros(len(distinct), np.int64)
    step = find_step(distinct, code) if len(distinct) > 1 else None
    if step is None:
        return 0.0
    at, fits = places(distinct, np.full_like(distinct, distinct[0]), step)
    return float(fits.mean() * len(np.unique(at)) / (at.max() + 1))


def set_back(clock: Clock, row: int, step: Step) -> bool:
    """Whether a row is in an hour that comes twice where summer time ends: early on a Sunday in autumn."""
    if not clock.calendar or SIZES.get(step.unit, DAY) * step.count >= DAY:
        return False
    at = int(clock.at[row])
    month = at_month(at)
    return (at // DAY + 3) % 7 == 6 and at % DAY < 4 * SIZES["h"] and month in AUTUMN


def at_month(at: int) -> int:
    """The month of a time, from 1."""
    return int(np.datetime64(at, "us").astype("datetime64[M]").astype(np.int64)) % 12 + 1


def of_numbers(numbers: NumberCells, name: str) -> Clock:
    """The times of cells that are numbers: dates without signs, years, seconds since 1970, or counts."""
    values, good = numbers.values, np.isfinite(numbers.values)
    filled = values[good]
    if not len(filled):
        return Clock(values, good, False)
    least, most = float(filled.min()), float(filled.max())
    if numbers.is_whole and DATES[0] <= least and most <= DATES[1]:
        whole = np.where(good, values, DATES[0]).astype(np.int64)
        days, fit = days_of(whole // 10_000, whole // 100 % 100, whole % 100)
        if fit.mean() > 0.95:
            return Clock(days * DAY, good & fit, True, ("times are dates, year, month and day without signs",))
    if numbers.is_whole and YEARS[0] <= least and most <= YEARS[1] and goes_by(name, YEAR):
        whole = np.where(good, values, YEARS[0]).astype(np.int64)
        return Clock(days_of(whole, np.ones_like(whole), np.ones_like(whole))[0] * DAY, good, True)
    if numbers.is_whole and 100 * YEARS[0] < least and most < 100 * YEARS[1] + 13 and goes_by(name, TIME):
        whole = np.where(good, values, 100 * YEARS[0] + 1).astype(np.int64)
        days, fit = days_of(whole // 100, whole % 100, np.ones_like(whole))
        if fit.mean() > 0.95:
            return Clock(days * DAY, good & fit, True, ("times are months, year and month without a sign",))
    if goes_by(name, TIME | COUNT):
        for unit, (low, high, factor) in zip(SECONDS, EPOCHS, strict=True):
            if low <= least and most < high:
                at = np.rint(np.where(good, values, 0) * factor).astype(np.int64)
                return Clock(at, good, True, (f"times are {unit} since 1970, in UTC",))
        if NANO[0] <= least and most < NANO[1]:
            at = np.rint(np.where(good, values, 0) / 1000).astype(np.int64)
            return Clock(at, good, True, ("times are nanoseconds since 1970, in UTC",))
    return Clock(values, good, False)
