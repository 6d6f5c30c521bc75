"""The distance of rows: found from all times of a file, named by the user, and walked along.

Axes: N rows of all series, sorted by series and time."""

import re

import numpy as np
from numpy.typing import NDArray

from atento.data.series.series import Step, Times
from atento.errors import InputError

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]

SIZES = {"us": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}  # microseconds
UNITS = {
    "us": "us", "ms": "ms", "s": "s", "sec": "s", "second": "s", "m": "min", "min": "min", "t": "min", "minute": "min",
    "h": "h", "hour": "h", "d": "d", "day": "d", "mo": "mo", "month": "mo", "ms*": "mo", "me": "mo", "y": "y",
    "year": "y", "a": "y", "ye": "y", "ys": "y", "wd": "wd", "b": "wd", "row": "", "rows": "",
}  # fmt: skip
SEVERAL = {"w": (7, "d"), "week": (7, "d"), "q": (3, "mo"), "quarter": (3, "mo"), "qs": (3, "mo"), "qe": (3, "mo")}
WORDS = {Step(7, "d"): "a week", Step(3, "mo"): "a quarter", Step(1, "wd"): "a working day"}
MONTH = 28 * SIZES["d"]
AGREE = 0.5  # of the distances that a step must explain
EXACT = 0.02  # of a step that a written number may be off


def parse_step(text: str) -> Step:
    """`15min`, `1h`, `h`, `7d`, `week`, `1mo`, `quarter`, `1y`."""
    found = re.fullmatch(r"\s*(\d*)\s*([A-Za-z]+)\s*", text)
    unit = found[2] if found else ""
    name = "mo" if unit in ("M", "MS", "ME") else unit.lower()
    name = name.removesuffix("s") if name.removesuffix("s") in UNITS | SEVERAL and len(name) > 2 else name
    count = int(found[1] or 1) if found else 0
    if count and name in UNITS:
        return Step(count, UNITS[name])
    if count and name in SEVERAL:
        return Step(count * SEVERAL[name][0], SEVERAL[name][1])
    raise InputError(
        f"data.frequency: {text!r} is not a distance of two rows.",
        found=repr(text),
        fix="write 30s, 15min, 1h, 1d, 7d, 1mo, 3mo or 1y; 1wd for working days",
    )


def find_step(times: Whole, code: Whole) -> Step | None:
    """The usual distance of times (N,) in microseconds within each series; None: there is none."""
    apart = np.diff(times)
    apart = apart[(np.diff(code) == 0) & (apart > 0)]
    if not len(apart):
        return None
    if np.median(apart) >= MONTH and same_day(times):
        months = np.diff(months_of(times))
        usual = most_common(months[(np.diff(code) == 0) & (months > 0)])
        return Step(usual // 12, "y") if usual % 12 == 0 else Step(usual, "mo")
    usual = most_common(apart)
    if np.mean(apart == usual) < AGREE:
        return None
    if usual == SIZES["d"] and only_working_days(times, apart):
        return Step(1, "wd")
    return in_units(usual)


def find_count(times: NDArray[np.float64], code: Whole) -> float:
    """The usual distance of numbers that count rows; 0: there is none."""
    apart = np.diff(times)
    apart = apart[(np.diff(code) == 0) & (apart > 0)]
    if not len(apart):
        return 0.0
    usual = float(np.median(apart))
    close = np.abs(apart - usual) <= EXACT * usual
    return float(apart[close].mean()) if close.mean() >= AGREE else 0.0


def most_common(values: Whole) -> int:
    """The value that comes most often; of several the smallest."""
    distinct, counts = np.unique(values, return_counts=True)
    return int(distinct[np.argmax(counts)])


def in_units(size: int) -> Step:
    """Microseconds in the largest unit that divides them."""
    unit = next(name for name in reversed(SIZES) if size % SIZES[name] == 0)
    return Step(size // SIZES[unit], unit)


def months_of(times: Whole) -> Whole:
    """Months since 1970."""
    return times.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)


def days_into_month(times: Whole) -> Whole:
    """Microseconds since the month began."""
    return times - months_of(times).astype("datetime64[M]").astype("datetime64[us]").astype(np.int64)


def days_to_end(times: Whole) -> Whole:
    """Microseconds until the next month begins."""
    return (months_of(times) + 1).astype("datetime64[M]").astype("datetime64[us]").astype(np.int64) - times


def same_day(times: Whole) -> bool:
    """Whether nearly all times are at the same day of their months, counted from the first or from the last."""
    return any(max_share(days(times)) >= 0.9 for days in (days_into_month, days_to_end))


def max_share(values: Whole) -> float:
    """The share of the value that comes most often."""
    return float(np.unique(values, return_counts=True)[1].max() / len(values))


def only_working_days(times: Whole, apart: Whole) -> bool:
    """Whether days are from Monday to Friday, and weekends are passed over."""
    weekday = (times // SIZES["d"] + 3) % 7  # 1970 began on a Thursday
    return bool((weekday < 5).all() and (apart == 3 * SIZES["d"]).mean() > 0.1)


def places(times: Whole, first: Whole, step: Step) -> tuple[Whole, Mask]:
    """At which step from the first time of its series each row stands, and whether it stands at one."""
    if step.unit in ("mo", "y"):
        count = step.count * (12 if step.unit == "y" else 1)
        months = months_of(times) - months_of(first)
        fits = max((days(times) == days(first) for days in (days_into_month, days_to_end)), key=np.mean)
        return months // count, (months % count == 0) & fits
    if step.unit == "wd":
        days, begun = ((each // SIZES["d"]).astype("datetime64[D]") for each in (times, first))
        working = np.is_busday(days) & (times % SIZES["d"] == first % SIZES["d"])
        return np.busday_count(begun, days).astype(np.int64), working
    size = step.count * SIZES[step.unit]
    return (times - first) // size, (times - first) % size == 0


def walk(first: np.datetime64, step: Step, count: int) -> Times:
    """So many times from a first one on."""
    steps = np.arange(count) * step.count
    start = np.array([first.astype("datetime64[us]").astype(np.int64)])
    if step.unit in ("mo", "y"):
        months = months_of(start) + steps * (12 if step.unit == "y" else 1)
        begun, left = int(days_into_month(start)[0]), int(days_to_end(start)[0])
        if begun >= MONTH - SIZES["d"] and left <= SIZES["d"]:  # at the end of each month
            return moments((months + 1).astype("datetime64[M]"), -left)
        return moments(months.astype("datetime64[M]"), begun)
    if step.unit == "wd":
        days = np.busday_offset(first.astype("datetime64[D]"), steps, roll="forward")
        return moments(days, int(start[0] % SIZES["d"]))
    return (start + steps * SIZES[step.unit]).astype("datetime64[us]")


def moments(days: Times, more: int) -> Times:
    """The beginnings of days or months, and so many microseconds more."""
    return (days.astype("datetime64[us]").astype(np.int64) + more).astype("datetime64[us]")


def times_after(times: Times | None, step: Step, count: int) -> Times | None:
    """So many times after the last one; None where rows are only counted."""
    return None if times is None or not len(times) else walk(times[-1], step, count + 1)[1:]


def said(step: Step) -> str:
    """The distance in words."""
    return WORDS.get(step, str(step))
