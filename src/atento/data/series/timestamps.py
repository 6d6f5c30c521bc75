"""Cells to timestamps: all common formats of dates and times, parsed for a whole column at once.

The digits of a cell become zeros, which leaves its shape; cells of one shape have their numbers at the same positions.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.series.series import Integers, Mask

Characters = NDArray[np.uint32]  # code points

MONTH_NAMES = (
    "january february march april may june july august september october november december",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
)


def number_months() -> dict[str, int]:
    """The number of each month by its name and by its first three or four letters, except where these are ambiguous."""
    known: dict[str, int] = {}
    unclear = set()
    for language in MONTH_NAMES:
        for number, name in enumerate(language.split(), start=1):
            for length in (3, 4, len(name)):
                if known.setdefault(name[:length], number) != number:
                    unclear.add(name[:length])
    return {name: number for name, number in known.items() if name not in unclear} | {"sept": 9, "jui": 0}


MONTHS = number_months()
DIGITS = str.maketrans("123456789", "0" * 9)
NAME = r"(?P<name>[^\W\d_]{3,10})\.?"
WEEK = r"(?i:week|kw|sem\.?|wk|w) ?"
WEEKDAY_NAMES = """
    mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday tues thur thurs
    mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonntag sonnabend
    lun mié mie jue vie sáb sab dom lunes martes miércoles miercoles jueves viernes sábado sabado domingo
    mer jeu ven sam dim lundi mardi mercredi jeudi vendredi samedi dimanche
    gio lunedì martedì mercoledì giovedì venerdì sabato domenica
    seg ter qua qui sex segunda terça quarta quinta sexta segunda-feira terça-feira quarta-feira
    quinta-feira sexta-feira
    ma wo vr za zo maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
"""
WEEKDAY = re.compile(rf"(?i:{'|'.join(sorted(WEEKDAY_NAMES.split(), key=len, reverse=True))})(?:\.,|[.,])? +(?=\S)")
DATES = (
    r"(?P<y>0000)(?P<p>[-/.])(?P<m>00?)(?P=p)(?P<d>00?)",
    r"(?P<a>00?)(?P<p>[-/.])(?P<b>00?)(?P=p)(?P<y>0000|00)",  # day or month first, decided by the whole column
    r"(?P<y>0000)(?P<m>00)(?P<d>00)",
    r"(?P<y>0000)[-/Mm](?P<m>00?)",
    r"(?P<m>00?)[-/](?P<y>0000)",
    r"(?P<m>00)(?P<point>\.)(?P<y>0000)",  # also a decimal number
    r"(?P<y>0000)[-/ ]?[QqTt](?P<q>0)",
    r"[QqTt](?P<q>0)[-/ ]?(?P<y>0000)",
    r"(?P<q>0)[.º]?[QqTt][-/ ]?(?P<y>0000|00)",
    r"(?P<y>0000)-?W(?P<w>00)(?:-?(?P<wd>0))?",
    rf"(?P<y>0000)[-/ ]{WEEK}(?P<w>00?)",
    rf"{WEEK}(?P<w>00?)[-/, ]+(?P<y>0000)",
    r"FY ?(?P<y>0000|00)",
    r"(?P<y>0000)-(?P<m>00)-(?P<d>00) ?[-/–] ?0000-00-00",  # a span of days
    r"(?P<y>0000)\. ?(?P<m>00?)\. ?(?P<d>00?)\.?",
    r"(?P<y>0000)[年년] ?(?P<m>00?)[月월](?: ?(?P<d>00?)[日일])?",
    rf"(?P<d>00?){NAME}(?P<y>0000|00)",
    rf"(?P<d>00?)(?P<p>[-/. ]){NAME}(?P=p)(?P<y>0000|00)",
    rf"(?P<d>00?)(?:\.|er|º)? (?:de )?{NAME},?(?: de)? (?P<y>0000)",
    rf"{NAME} (?P<d>00?)(?:st|nd|rd|th)?(?:, ?| )(?P<y>0000)",
    rf"{NAME}(?:[-/ ]| de )(?P<y>0000|00)",
    rf"(?P<y>0000)[-/ ]{NAME}",
)
TIME_OF_DAY = (
    r"(?:(?:[Tt:]| +|, *)(?:(?P<H>00?)[:.h](?P<M>00)(?:[:.](?P<S>00)(?:[.,](?P<f>0{1,9}))?)?"
    r"(?:[ \u00a0\u202f]?(?P<half>[AaPp])\.?[Mm]\.?)?|(?P<h>00)(?P<n>00)(?P<s>00)?"
    r"|(?P<t>00?)[ \u00a0\u202f]?(?P<noon>[AaPp])\.?[Mm]\.?|(?P<o>00)))?"
)
ZONE = r" ?(?P<zone>Z|z|UTC|GMT|(?P<sign>[+-])(?P<zh>00)(?::?(?P<zm>00))?)?(?: ?[A-Z]{2,3}T)?(?:\[[\w/+-]+\])?"
C_TIME = rf"{NAME} +(?P<d>00?) (?P<H>00):(?P<M>00):(?P<S>00) (?P<y>0000)"
PATTERNS = tuple(re.compile(pattern) for pattern in (*(date + TIME_OF_DAY + ZONE for date in DATES), C_TIME))
DAY = 86_400_000_000  # microseconds
NO_ZONE = -10_000  # minutes
SEASON = re.compile(r"(\d{4})[-/–](\d\d)")
FEW = 20  # cells that show whether weekdays stand before the dates
LONGEST = 48  # characters of a timestamp
FIRST, LAST = 1900, 2100  # years of dates that could be other numbers
PIVOT = 40  # two-digit years from here on are of 1900, others of 2000


class TimestampCells(NamedTuple):
    """The local times of N cells, read with the day, the month or the year first where several are possible."""

    day_first: Integers  # (N,) microseconds since 1970
    valid: Mask  # (N,) whether the cell is a timestamp
    offset: Integers  # (N,) minutes east of Greenwich; NO_ZONE: not given
    ambiguous: Mask  # (N,) whether it may begin with the day or with the month
    month_first: Integers  # (N,) microseconds since 1970
    month_first_valid: Mask
    two_digit_years: bool  # whether years have two digits
    year_first: Integers  # (N,) microseconds since 1970, where a year of two digits may come first
    year_first_valid: Mask


def are_timestamps(cells: Sequence[str], share: float) -> bool:
    """Whether at least this share of the cells are valid dates, with or without a time of day."""
    found = parse_timestamps(cells)
    valid = max(int(each.sum()) for each in (found.valid, found.month_first_valid, found.year_first_valid))
    return valid >= share * len(cells) > 0


def parse_timestamps(cells: Sequence[str]) -> TimestampCells:
    """The timestamps of a column."""
    count = len(cells)
    if any(WEEKDAY.match(cell) for cell in cells[:FEW]):
        cells = [WEEKDAY.sub("", cell.strip(), count=1) for cell in cells]
    if are_seasons(cells):
        cells = [f"{cell.strip()[:4]}-01" for cell in cells]
    day_first, month_first = np.zeros(count, np.int64), np.zeros(count, np.int64)
    year_first = np.zeros(count, np.int64)
    valid, month_first_valid, year_first_valid, ambiguous = (np.zeros(count, bool) for _ in range(4))
    offset, two_digit_years = np.full(count, NO_ZONE, np.int64), False
    for shape, characters, rows in by_shape(cells):
        found = next((match for pattern in PATTERNS if (match := pattern.fullmatch(shape))), None)
        if found is None:
            continue
        fields = DateFields(characters, found)
        offset[rows] = fields.offset()
        two_digit_years |= found["y"] == "00"
        ambiguous[rows] = "a" in found.groupdict()
        day_first[rows], valid[rows] = fields.times()
        year_first[rows], year_first_valid[rows] = day_first[rows], valid[rows]
        month_first[rows], month_first_valid[rows] = day_first[rows], valid[rows]
        if ambiguous[rows[0]]:
            month_first[rows], month_first_valid[rows] = fields.times(day_first=False)
            year_first_valid[rows] = False
            if found["y"] == found["a"] == "00":
                year_first[rows], year_first_valid[rows] = fields.times(year_first=True)
    others = month_first, month_first_valid, two_digit_years, year_first, year_first_valid
    return TimestampCells(day_first, valid, offset, ambiguous, *others)


def are_seasons(cells: Sequence[str]) -> bool:
    """Whether cells are years that end in the next one, `1999/00`, which months written so never all are."""
    found = [SEASON.fullmatch(cell.strip()) for cell in cells[:FEW]]
    first = [match for match in found if match is not None]
    if len(first) < max(2, len(found)):
        return False
    every = (SEASON.fullmatch(cell.strip()) for cell in cells)
    return all(match is not None and (int(match[1]) + 1) % 100 == int(match[2]) for match in every)


def by_shape(cells: Sequence[str]) -> Iterator[tuple[str, Characters, Integers]]:
    """Each shape with the characters (N, L) of its cells and their rows; cells too long for a date are left out."""
    stripped = [cell.strip() for cell in cells]
    texts = np.array([cell if len(cell) <= LONGEST else "" for cell in stripped] or [""], dtype=np.str_)
    characters = texts.view(np.uint32).reshape(len(texts), -1)  # (N, L), NUL after the end
    is_digit = (characters >= ord("1")) & (characters <= ord("9"))
    shapes = np.where(is_digit, np.uint32(ord("0")), characters)
    left = np.arange(len(cells))
    while len(left):
        alike = (shapes[left] == shapes[left[0]]).all(1)
        rows, left = left[alike], left[~alike]
        shape = shapes[rows[0]].tobytes().decode("utf-32-le").rstrip("\0")
        yield shape, characters[rows], rows
        if len(rows) == 1 and len(left):  # hardly a column of timestamps: the other cells one by one
            seen: dict[str, list[int]] = {}
            for row in left:
                seen.setdefault(stripped[row].translate(DIGITS), []).append(row)
            yield from ((shape, characters[several], np.array(several)) for shape, several in seen.items())
            return


class DateFields:
    """The numbers in the cells of one shape."""

    def __init__(self, characters: Characters, found: re.Match[str]) -> None:
        self.characters = characters  # (N, L)
        self.found = found
        self.named = found.groupdict()

    def number(self, name: str, default: int = 0) -> Integers:
        """The numbers of a group of the pattern; a default where there is no such group."""
        total = np.full(len(self.characters), default if self.named.get(name) is None else 0, np.int64)
        for position in range(*self.found.span(name) if self.named.get(name) is not None else (0,)):
            total = total * 10 + (self.characters[:, position].astype(np.int64) - ord("0"))
        return total

    def times(self, *, day_first: bool = True, year_first: bool = False) -> tuple[Integers, Mask]:
        """Microseconds since 1970, and whether there is such a time."""
        day, valid_day = self.days(day_first=day_first, year_first=year_first)
        time_of_day, valid_time = self.time_of_day()
        return day * DAY + time_of_day, valid_day & valid_time

    def days(self, *, day_first: bool, year_first: bool) -> tuple[Integers, Mask]:
        """Days since 1970, and whether there is such a day."""
        year = self.number("a" if year_first else "y")
        if self.named["y"] == "00":
            year = year + np.where(year >= PIVOT, 1900, 2000)
        if self.named.get("w") is not None:
            return iso_weeks(year, self.number("w"), self.number("wd", 1))
        if self.named.get("a") is not None:
            names = ("y", "b") if year_first else ("a", "b") if day_first else ("b", "a")
            day, month = (self.number(name) for name in names)
        else:
            month, day = self.month(), self.number("d", 1)
        days, valid = days_of(year, month, day)
        return days, valid & (year >= FIRST) & (year <= LAST) if self.named.get("point") else valid

    def month(self) -> Integers:
        """Months by number, by name or by quarter; 0 where the name or the quarter is invalid."""
        if self.named.get("name") is not None:
            return np.full(len(self.characters), MONTHS.get(self.named["name"].lower(), 0), np.int64)
        if self.named.get("q") is not None:
            quarter = self.number("q")
            return np.where((quarter >= 1) & (quarter <= 4), 3 * quarter - 2, 0)
        return self.number("m", 1)

    def time_of_day(self) -> tuple[Integers, Mask]:
        """Microseconds since midnight, and whether there is such a time; 24:00 is the end of a day."""
        hour = self.number("H") + self.number("h") + self.number("o") + self.number("t")
        minute, second = self.number("M") + self.number("n"), self.number("S") + self.number("s")
        valid = (hour < 24) | ((hour == 24) & (minute == 0) & (second == 0))
        half = self.named.get("half") or self.named.get("noon")
        if half:
            valid = (hour >= 1) & (hour <= 12)
            hour = hour % 12 + 12 * (half in "Pp")
        fraction = self.number("f") * 10**9 // 10 ** len(self.named.get("f") or "") // 1000
        return ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction, valid & (minute < 60) & (second < 60)

    def offset(self) -> Integers:
        """Minutes east of Greenwich."""
        if not self.named.get("zone"):
            return np.full(len(self.characters), NO_ZONE, np.int64)
        minutes = self.number("zh") * 60 + self.number("zm")
        return -minutes if self.named.get("sign") == "-" else minutes


def days_of(year: Integers, month: Integers, day: Integers) -> tuple[Integers, Mask]:
    """Days since 1970 of a date, and whether it exists."""
    valid = (month >= 1) & (month <= 12) & (day >= 1)
    first = ((year - 1970) * 12 + np.clip(month, 1, 12) - 1).astype("datetime64[M]")
    length = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    return first.astype("datetime64[D]").astype(np.int64) + day - 1, valid & (day <= length)


def iso_weeks(year: Integers, week: Integers, weekday: Integers) -> tuple[Integers, Mask]:
    """Days since 1970 of a day of an ISO week: week 1 holds 4 January."""
    fourth, _ = days_of(year, np.ones_like(year), np.full_like(year, 4))
    next_fourth, _ = days_of(year + 1, np.ones_like(year), np.full_like(year, 4))
    monday, next_monday = (day - (day + 3) % 7 for day in (fourth, next_fourth))
    found = monday + 7 * (week - 1) + weekday - 1
    return found, (week >= 1) & (weekday >= 1) & (weekday <= 7) & (found < next_monday)
