"""The frequency of series: inferred from timestamps, parsed from the recipe, and used to count time steps."""

import re

import numpy as np

from atento.data.series.series import Frequency, Integers, Mask, Numbers, Times
from atento.errors import InputError

# Axes: N rows of all series, sorted by series and time.

MICROSECONDS = {"us": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
UNITS = {
    "us": "us", "ms": "ms", "s": "s", "sec": "s", "second": "s", "m": "min", "min": "min", "t": "min", "minute": "min",
    "h": "h", "hour": "h", "d": "d", "day": "d", "mo": "mo", "month": "mo", "ms*": "mo", "me": "mo", "y": "y",
    "year": "y", "a": "y", "ye": "y", "ys": "y", "wd": "wd", "b": "wd", "row": "", "rows": "",
}  # fmt: skip
MULTIPLES = {"w": (7, "d"), "week": (7, "d"), "q": (3, "mo"), "quarter": (3, "mo"), "qs": (3, "mo"), "qe": (3, "mo")}
NAMES = {Frequency(7, "d"): "a week", Frequency(3, "mo"): "a quarter", Frequency(1, "wd"): "a working day"}
SHORTEST_MONTH = 28 * MICROSECONDS["d"]
MIN_SHARE = 0.5  # of the time differences that a frequency must explain
TOLERANCE = 0.02  # relative, of numbers that count
USUAL = ("1s", "5s", "10s", "30s", "1min", "5min", "10min", "15min", "30min", "1h", "2h", "3h", "6h", "12h", "1d", "7d")
SAME_DAY_SHARE = 0.9  # of timestamps on the same day of their months


def parse_frequency(text: str) -> Frequency:
    """The frequency of a text: `15min`, `1h`, `h`, `7d`, `week`, `1mo`, `quarter`, `1y`."""
    found = re.fullmatch(r"\s*(\d*)\s*([A-Za-z]+)\s*", text)
    unit = found[2] if found else ""
    name = "mo" if unit in ("M", "MS", "ME") else unit.lower()
    name = name.removesuffix("s") if name.removesuffix("s") in UNITS | MULTIPLES and len(name) > 2 else name
    count = int(found[1] or 1) if found else 0
    if count and name in UNITS:
        return Frequency(count, UNITS[name])
    if count and name in MULTIPLES:
        return Frequency(count * MULTIPLES[name][0], MULTIPLES[name][1])
    raise InputError(
        f"data.frequency: {text!r} is not a frequency.",
        found=repr(text),
        fix="write 30s, 15min, 1h, 1d, 7d, 1mo, 3mo or 1y; 1wd for working days",
    )


def frequency_text(frequency: Frequency) -> str:
    """A frequency as a message writes it: `15min`, `a week`."""
    return NAMES.get(frequency, str(frequency))


def infer_frequency(times: Integers, series: Integers) -> Frequency | None:
    """The most common time difference of timestamps (N,) in microseconds within each series; None: there is none."""
    differences = np.diff(times)
    differences = differences[(np.diff(series) == 0) & (differences > 0)]
    if not len(differences):
        return None
    if np.median(differences) >= SHORTEST_MONTH and on_same_day(times):
        months = np.diff(months_of(times))
        usual = most_common(months[(np.diff(series) == 0) & (months > 0)])
        return Frequency(usual // 12, "y") if usual % 12 == 0 else Frequency(usual, "mo")
    usual = most_common(differences)
    if np.mean(differences == usual) < MIN_SHARE:
        return None
    if usual == MICROSECONDS["d"] and only_working_days(times, differences):
        return Frequency(1, "wd")
    unit = next(name for name in reversed(MICROSECONDS) if usual % MICROSECONDS[name] == 0)
    return Frequency(usual // MICROSECONDS[unit], unit)


def near_frequency(step: float) -> str:
    """The usual frequency whose time step is nearest to a number of microseconds, by their ratio."""
    usual = [parse_frequency(text) for text in USUAL]
    return str(min(usual, key=lambda one: abs(np.log(one.count * MICROSECONDS[one.unit] / step))))


def infer_spacing(times: Numbers, series: Integers) -> float:
    """The usual difference of numbers that count rows; 0: there is none."""
    differences = np.diff(times)
    differences = differences[(np.diff(series) == 0) & (differences > 0)]
    if not len(differences):
        return 0.0
    usual = float(np.median(differences))
    close = np.abs(differences - usual) <= TOLERANCE * usual
    return float(differences[close].mean()) if close.mean() >= MIN_SHARE else 0.0


def most_common(values: Integers) -> int:
    """The most common value; of several the smallest."""
    distinct, counts = np.unique(values, return_counts=True)
    return int(distinct[np.argmax(counts)])


def months_of(times: Integers) -> Integers:
    """Months since 1970."""
    return times.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)


def since_month_start(times: Integers) -> Integers:
    """Microseconds since the beginning of the month."""
    return times - months_of(times).astype("datetime64[M]").astype("datetime64[us]").astype(np.int64)


def until_month_end(times: Integers) -> Integers:
    """Microseconds until the beginning of the next month."""
    return (months_of(times) + 1).astype("datetime64[M]").astype("datetime64[us]").astype(np.int64) - times


def on_same_day(times: Integers) -> bool:
    """Whether nearly all timestamps are on the same day of their months, counted from the first or from the last."""
    counts = (np.unique(days(times), return_counts=True)[1] for days in (since_month_start, until_month_end))
    return any(float(count.max() / len(times)) >= SAME_DAY_SHARE for count in counts)


def only_working_days(times: Integers, differences: Integers) -> bool:
    """Whether all days are from Monday to Friday, and weekends are skipped."""
    weekday = (times // MICROSECONDS["d"] + 3) % 7  # 1970 began on a Thursday
    return bool((weekday < 5).all() and (differences == 3 * MICROSECONDS["d"]).mean() > 0.1)


def time_steps(times: Integers, first: Integers, frequency: Frequency) -> tuple[Integers, Mask]:
    """The number of time steps from the first timestamp of its series to each row, and whether it is a whole number."""
    if frequency.unit in ("mo", "y"):
        count = frequency.count * (12 if frequency.unit == "y" else 1)
        months = months_of(times) - months_of(first)
        fits = max((days(times) == days(first) for days in (since_month_start, until_month_end)), key=np.mean)
        return months // count, (months % count == 0) & fits
    if frequency.unit == "wd":
        days, first_day = ((each // MICROSECONDS["d"]).astype("datetime64[D]") for each in (times, first))
        working = np.is_busday(days) & (times % MICROSECONDS["d"] == first % MICROSECONDS["d"])
        return np.busday_count(first_day, days).astype(np.int64), working
    size = frequency.count * MICROSECONDS[frequency.unit]
    return (times - first) // size, (times - first) % size == 0


def round_down(times: Integers, frequency: Frequency) -> Integers:
    """Timestamps in microseconds at the beginning of their time step; weeks begin on Monday."""
    if frequency.unit in ("mo", "y"):
        count = frequency.count * (12 if frequency.unit == "y" else 1)
        months = months_of(times) // count * count
        return months.astype("datetime64[M]").astype("datetime64[us]").astype(np.int64)
    size = frequency.count * MICROSECONDS["d" if frequency.unit == "wd" else frequency.unit]
    monday = 4 * MICROSECONDS["d"]  # 1970-01-05
    return (times - monday) // size * size + monday


def date_range(first: np.datetime64, frequency: Frequency, count: int, *, begin: int = 0) -> Times:
    """`count` timestamps at a frequency, from the first one on, or from `begin` steps after it."""
    steps = np.arange(begin, begin + count) * frequency.count
    start = np.array([first.astype("datetime64[us]").astype(np.int64)])
    if frequency.unit in ("mo", "y"):
        months = months_of(start) + steps * (12 if frequency.unit == "y" else 1)
        since, until = int(since_month_start(start)[0]), int(until_month_end(start)[0])
        if since >= SHORTEST_MONTH - MICROSECONDS["d"] and until <= MICROSECONDS["d"]:  # at the end of each month
            return shifted((months + 1).astype("datetime64[M]"), -until)
        return shifted(months.astype("datetime64[M]"), since)
    if frequency.unit == "wd":
        days = np.busday_offset(first.astype("datetime64[D]"), steps, roll="forward")
        return shifted(days, int(start[0] % MICROSECONDS["d"]))
    return (start + steps * MICROSECONDS[frequency.unit]).astype("datetime64[us]")


def shifted(times: Times, microseconds: int) -> Times:
    """The beginnings of days or months, moved by some microseconds."""
    return (times.astype("datetime64[us]").astype(np.int64) + microseconds).astype("datetime64[us]")
