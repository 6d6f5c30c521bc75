"""Which columns say the time of a row, and what they say: one, a date and a time of day, or year, month and day.

A column of times as numbers on one line: microseconds of a calendar, or numbers that only count.
Names that columns of times, of series' names and of variables go by, in several languages.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.series.numbers import NumberCells, Sheet
from atento.data.series.series import Step
from atento.data.series.steps import SIZES, find_step, places
from atento.data.series.timestamps import DAY, NO_ZONE, Stamps, days_of, read_stamps

TIME_NAMES = """
    date dates time times datetime timestamp timestamps ds day days month months year years week quarter hour when
    period     fecha fechas hora día dia mes año ano semana trimestre periodo momento
    datum zeit tag monat jahr woche quartal stunde uhrzeit zeitpunkt zeitstempel
    jour mois année annee semaine heure horodatage période data ora giorno mese anno settimana tempo
    dag maand jaar tijd czas dzień miesiąc rok data дата время день месяц год tarih zaman gün ay yıl
    日期 时间 年 月 年月 日付 日時 時刻 時間 날짜 시간 연도 تاريخ وقت
"""
COUNT_NAMES = (
    "t time times step steps tick ticks index idx ds timestamp timestamps epoch ts utc frame sample cycle tempo zeit"
)
YEAR_NAMES = "year years año ano jahr année annee anno jaar rok год yıl 年 연도 ds date yr"
ROW_NAMES = "index idx no nr nº id row unnamed number num rownum zeile fila"
SERIES_NAMES = """
    unique uniqueid series serie run runs case sample instance recording sequence id ids store stores shop item items
    sku product products location region country state city sensor station device meter site customer client household
    building code symbol ticker name group category entity
    key zone node line route batch subject patient user trial episode trajectory track object dept department family
    tienda producto artículo estación sensor región país ciudad cliente filiale geschäft artikel standort land stadt
    kunde magasin produit ville pays capteur negozio prodotto città loja produto sklep produkt магазин товар 店舗 商品
"""
SURE_NAMES = "unique uniqueid series serie"
VARIABLE_NAMES = """
    variable variables channel channels feature parameter parameters measure measurement metric indicator attribute
    quantity signal canal parámetro indicador medida merkmal kanal messgröße grandeur indicateur variabile parametro
"""

TIME = frozenset(TIME_NAMES.split())
COUNT = frozenset(COUNT_NAMES.split())
YEAR = frozenset(YEAR_NAMES.split())
ROW = frozenset(ROW_NAMES.split())
SERIES = frozenset(SERIES_NAMES.split())
SURE = frozenset(SURE_NAMES.split())
VARIABLE = frozenset(VARIABLE_NAMES.split())

# Parts of one time in columns of their own, the largest first; each by the names it goes by.
CALENDAR = tuple(
    frozenset(names.split())
    for names in (
        "year yr año jahr année annee anno jaar 年",
        "month mon mo mes monat mois mese maand 月",
        "day dom día dia tag jour giorno dag 日",
        "hour hr hora stunde heure ora uur 時",
        "minute min minuto",
    )
)


def words_of(name: str) -> list[str]:
    """The words of a column's name in small letters, as in `Order Date`, `storeId` and `unique_id`."""
    parted = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", name)
    return [part for part in re.split(r"[\W\d_]+", parted.lower()) if part]


def goes_by(name: str, known: frozenset[str]) -> bool:
    """Whether a column's name holds a known word."""
    return any(part in known for part in words_of(name))


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
