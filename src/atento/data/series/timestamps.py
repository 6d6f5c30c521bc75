"""Cells to times: every usual way to write a date, read for a whole column at once.

Digits of a cell become zeros, which leaves its shape; all cells of one shape have their numbers at the same places.

Months by name, in several languages, whole or by their first letters.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NAMES = (
    "january february march april may june july august september october november december",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
)


def by_name() -> dict[str, int]:
    """The number of every name and of its first three or four letters; first letters of two months are left out."""
    known: dict[str, int] = {}
    unclear = set()
    for language in NAMES:
        for number, name in enumerate(language.split(), start=1):
            for length in (3, 4, len(name)):
                if known.setdefault(name[:length], number) != number:
                    unclear.add(name[:length])
    return {name: number for name, number in known.items() if name not in unclear} | {"sept": 9, "jui": 0}


MONTHS = by_name()


Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
Letters = NDArray[np.uint32]

DIGITS = str.maketrans("123456789", "0" * 9)
NAME = r"(?P<name>[^\W\d_]{3,10})\.?"
DATES = (
    r"(?P<y>0000)(?P<p>[-/.])(?P<m>00?)(?P=p)(?P<d>00?)",
    r"(?P<a>00?)(?P<p>[-/.])(?P<b>00?)(?P=p)(?P<y>0000|00)",  # day or month first: by the whole column
    r"(?P<y>0000)(?P<m>00)(?P<d>00)",
    r"(?P<y>0000)[-/Mm](?P<m>00?)",
    r"(?P<m>00?)[-/](?P<y>0000)",
    r"(?P<y>0000)[-/ ]?[QqTt](?P<q>0)",
    r"[QqTt](?P<q>0)[-/ ](?P<y>0000)",
    r"(?P<y>0000)-?W(?P<w>00)(?:-?(?P<wd>0))?",
    rf"(?P<d>00?)(?P<p>[-/. ]){NAME}(?P=p)(?P<y>0000|00)",
    rf"{NAME} (?P<d>00?), ?(?P<y>0000)",
    rf"{NAME}[-/ ](?P<y>0000|00)",
    rf"(?P<y>0000)[-/ ]{NAME}",
)
CLOCK = (
    r"(?:(?:[Tt]| +|, *)(?:(?P<H>00?)[:.h](?P<M>00)(?:[:.](?P<S>00)(?:[.,](?P<f>0{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?|(?P<h>00)(?P<n>00)(?P<s>00)?|(?P<o>00)))?"
)
ZONE = r" ?(?P<zone>Z|z|UTC|GMT|(?P<sign>[+-])(?P<zh>00)(?::?(?P<zm>00))?)?"
PATTERNS = tuple(re.compile(date + CLOCK + ZONE) for date in DATES)
NUMBER = re.compile(r"-?0+(?:\.0*)?(?:[eE][+-]?0+)?")
DAY = 86_400_000_000  # microseconds
NO_ZONE = -10_000  # minutes
LONGEST = 48  # letters of a time
PIVOT = 40  # a year of two digits from here on is of 1900


class Stamps(NamedTuple):
    """The times of N cells: `local` is what the clock on the wall showed."""

    local: Whole  # (N,) microseconds since 1970
    good: Mask  # (N,) whether the cell is a time
    offset: Whole  # (N,) minutes east of Greenwich; NO_ZONE: not said
    slashed: Mask  # (N,) whether it could begin with the day or with the month
    other: Whole  # (N,) the time with the month first; `local` has the day first
    other_good: Mask
    short: bool  # whether years have two digits


def shape_of(cell: str) -> str:
    """A cell with zeros for its digits."""
    return cell.strip().translate(DIGITS)


def are_stamps(cells: Sequence[str], share: float) -> bool:
    """Whether so many of these cells are dates that exist, with or without a time of day."""
    stamps = read_stamps(cells)
    return max(int(stamps.good.sum()), int(stamps.other_good.sum())) >= share * len(cells) > 0


def read_stamps(cells: Sequence[str]) -> Stamps:
    """The times of a column."""
    count = len(cells)
    local, other = np.zeros(count, np.int64), np.zeros(count, np.int64)
    good, other_good, slashed = (np.zeros(count, bool) for _ in range(3))
    offset, short = np.full(count, NO_ZONE, np.int64), False
    for shape, letters, rows in by_shape(cells):
        found = next((match for pattern in PATTERNS if (match := pattern.fullmatch(shape))), None)
        if found is None:
            continue
        fields = Fields(letters, found)
        offset[rows] = fields.offset()
        short |= found["y"] == "00"
        slashed[rows] = "a" in found.groupdict()
        local[rows], good[rows] = fields.moments(day_first=True)
        if slashed[rows[0]]:
            other[rows], other_good[rows] = fields.moments(day_first=False)
        else:
            other[rows], other_good[rows] = local[rows], good[rows]
    return Stamps(local, good, offset, slashed, other, other_good, short)


def by_shape(cells: Sequence[str]) -> Iterator[tuple[str, Letters, Whole]]:
    """Every shape with the letters of its cells (N, letters) and their rows; cells too long for a date are left out."""
    stripped = [cell.strip() for cell in cells]
    texts = np.array([cell if len(cell) <= LONGEST else "" for cell in stripped] or [""], dtype=np.str_)
    letters = texts.view(np.uint32).reshape(len(texts), -1)  # (N, letters), NUL behind the end
    shapes = np.where((letters >= ord("1")) & (letters <= ord("9")), np.uint32(ord("0")), letters)
    left = np.arange(len(cells))
    while len(left):
        alike = (shapes[left] == shapes[left[0]]).all(1)
        rows, left = left[alike], left[~alike]
        shape = shapes[rows[0]].tobytes().decode("utf-32-le").rstrip("\0")
        yield shape, letters[rows], rows
        if len(rows) == 1 and len(left):  # hardly a column of times: the rest one by one
            seen: dict[str, list[int]] = {}
            for row in left:
                seen.setdefault(shape_of(stripped[row]), []).append(row)
            yield from ((shape, letters[several], np.array(several)) for shape, several in seen.items())
            return


class Fields:
    """The numbers in cells of one shape."""

    def __init__(self, letters: Letters, found: re.Match[str]) -> None:
        self.letters = letters  # (N, letters)
        self.found = found
        self.named = found.groupdict()

    def number(self, name: str, default: int = 0) -> Whole:
        """The numbers in a group of the shape; a default where there is no such group."""
        total = np.full(len(self.letters), default if self.named.get(name) is None else 0, np.int64)
        for place in range(*self.found.span(name) if self.named.get(name) is not None else (0,)):
            total = total * 10 + (self.letters[:, place].astype(np.int64) - ord("0"))
        return total

    def moments(self, *, day_first: bool) -> tuple[Whole, Mask]:
        """Microseconds since 1970, and whether there is such a time."""
        day, good = self.days(day_first=day_first)
        clock, fits = self.clock()
        return day * DAY + clock, good & fits

    def days(self, *, day_first: bool) -> tuple[Whole, Mask]:
        """Days since 1970, and whether there is such a day."""
        year = self.number("y")
        if self.named["y"] == "00":
            year = year + np.where(year >= PIVOT, 1900, 2000)
        if self.named.get("w") is not None:
            return iso_weeks(year, self.number("w"), self.number("wd", 1))
        if self.named.get("a") is not None:
            names = ("a", "b") if day_first else ("b", "a")
            day, month = (self.number(name) for name in names)
        else:
            month, day = self.month(), self.number("d", 1)
        return days_of(year, month, day)

    def month(self) -> Whole:
        """Months by number, by name or by quarter; 0 where a name or a quarter is none."""
        if self.named.get("name") is not None:
            return np.full(len(self.letters), MONTHS.get(self.named["name"].lower(), 0), np.int64)
        if self.named.get("q") is not None:
            quarter = self.number("q")
            return np.where((quarter >= 1) & (quarter <= 4), 3 * quarter - 2, 0)
        return self.number("m", 1)

    def clock(self) -> tuple[Whole, Mask]:
        """Microseconds since midnight, and whether there is such a time; 24:00 ends a day."""
        hour = self.number("H") + self.number("h") + self.number("o")
        minute, second = self.number("M") + self.number("n"), self.number("S") + self.number("s")
        good = (hour < 24) | ((hour == 24) & (minute == 0) & (second == 0))
        half = self.named.get("half")
        if half:
            good = (hour >= 1) & (hour <= 12)
            hour = hour % 12 + 12 * (half in "Pp")
        fraction = self.number("f") * 10**9 // 10 ** len(self.named.get("f") or "") // 1000
        return ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction, good & (minute < 60) & (second < 60)

    def offset(self) -> Whole:
        """Minutes east of Greenwich."""
        if not self.named.get("zone"):
            return np.full(len(self.letters), NO_ZONE, np.int64)
        minutes = self.number("zh") * 60 + self.number("zm")
        return -minutes if self.named.get("sign") == "-" else minutes


def days_of(year: Whole, month: Whole, day: Whole) -> tuple[Whole, Mask]:
    """Days since 1970 of a date, and whether it exists."""
    good = (month >= 1) & (month <= 12) & (day >= 1)
    first = ((year - 1970) * 12 + np.clip(month, 1, 12) - 1).astype("datetime64[M]")
    length = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    return first.astype("datetime64[D]").astype(np.int64) + day - 1, good & (day <= length)


def iso_weeks(year: Whole, week: Whole, weekday: Whole) -> tuple[Whole, Mask]:
    """Days since 1970 of a day of an ISO week: week 1 holds 4 January."""
    fourth, _ = days_of(year, np.ones_like(year), np.full_like(year, 4))
    next_fourth, _ = days_of(year + 1, np.ones_like(year), np.full_like(year, 4))
    monday, next_monday = (day - (day + 3) % 7 for day in (fourth, next_fourth))
    found = monday + 7 * (week - 1) + weekday - 1
    return found, (week >= 1) & (weekday >= 1) & (weekday <= 7) & (found < next_monday)
