"""A time axis with dates: round ticks and how they are written. Places are milliseconds since 1970, in UTC."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from atento.views.report.scales import Axis, round_step

SECOND = 1000.0
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86400 * SECOND
MONTH = 30.44 * DAY
CLOCK_STEPS = [
    *(count * SECOND for count in (1, 5, 15, 30)),
    *(count * MINUTE for count in (1, 5, 15, 30)),
    *(count * HOUR for count in (1, 3, 6, 12)),
    *(count * DAY for count in (1, 2, 7, 14)),
]
MONTH_STEPS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
YEARS_ALONE, MONTHS_ALONE = 4 * 366 * DAY, 75 * DAY  # spans from which a tick names no month, or no day


def milliseconds(times: Sequence[str]) -> list[float]:
    """ISO timestamps in UTC as milliseconds since 1970."""
    return [datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp() * 1000 for time in times]


def date_ticks(across: Axis, most: int) -> dict[float, str]:
    """Round times of an axis, at most about so many, and their labels."""
    span = across.high - across.low
    return {tick: date_label(tick, span) for tick in round_times(across.low, across.high, most)}


def round_times(low: float, high: float, most: int) -> list[float]:
    """Whole minutes, hours, days, months or years between two times."""
    for step in CLOCK_STEPS:
        if (high - low) / step <= most:
            first = int(-(-low // step))
            return [number * step for number in range(first, int(high // step) + 1)]
    months = (high - low) / MONTH
    every = next((count for count in MONTH_STEPS if months / count <= most), int(round_step(months / 12 / most)) * 12)
    return [time for time in month_starts(low, high, every) if low <= time <= high]


def month_starts(low: float, high: float, every: int) -> Iterator[float]:
    """The beginnings of every so many months, from before one time until after another."""
    start = datetime.fromtimestamp(low / 1000, UTC)
    month = (start.year * 12 + start.month - 1) // every * every
    time = low
    while time <= high and month < 12 * 9999:
        time = datetime(max(month // 12, 1), month % 12 + 1, 1, tzinfo=UTC).timestamp() * 1000
        yield time
        month += every


def date_label(time: float, span: float) -> str:
    """A tick: 1990, Mar 1990, 12 Mar or 14:30, as the span of the axis asks."""
    at = datetime.fromtimestamp(time / 1000, UTC)
    if span > YEARS_ALONE:
        return str(at.year)
    if span > MONTHS_ALONE:
        return str(at.year) if at.month == 1 and span <= 400 * DAY else f"{at:%b} {at.year}"
    if time % DAY == 0:
        return f"{at.day} {at:%b}"
    return f"{at:%H:%M:%S}" if time % MINUTE else f"{at:%H:%M}"
