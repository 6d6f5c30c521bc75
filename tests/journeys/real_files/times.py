"""Times as people write them."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

from tests.journeys.real_files.contents import Expected, days, lines, mean, real, seasonal, write


def timed(
    folder: Path, name: str, stamps: Sequence[str], frequency: str, *, header: str = "when", **more: object
) -> Expected:
    """A series at these times."""
    values = seasonal(len(stamps), base=30, swing=10, period=12)
    body = [[stamp, str(value)] for stamp, value in zip(stamps, values, strict=True)]
    return Expected(
        write(folder, name, lines([[header, "y"], *body], ",")),
        "forecast",
        {"time": header, "target": "y"},
        rows=len(stamps),
        frequency=frequency,
        means={"y": mean(values)},
        **more,  # type: ignore[arg-type]
    )


@real("ISO weeks")
def iso_weeks(folder: Path) -> Expected:
    weeks = [(date(2019, 1, 7) + timedelta(7 * at)).isocalendar() for at in range(120)]
    return timed(folder, "weeks.csv", [f"{week.year}-W{week.week:02}" for week in weeks], "7d", header="week")


@real("quarters")
def quarters(folder: Path) -> Expected:
    return timed(
        folder, "quarters.csv", [f"Q{at % 4 + 1} {1990 + at // 4}" for at in range(100)], "3mo", header="quarter"
    )


@real("years alone")
def years(folder: Path) -> Expected:
    return timed(folder, "years.csv", [str(1900 + at) for at in range(110)], "1y", header="Year")


@real("Unix seconds")
def unix_seconds(folder: Path) -> Expected:
    return timed(folder, "seconds.csv", [str(1_700_000_000 + 3600 * at) for at in range(150)], "1h", header="timestamp")


@real("Unix milliseconds without a telling name")
def unix_milliseconds(folder: Path) -> Expected:
    return timed(
        folder, "millis.csv", [str(1_700_000_000_000 + 60_000 * at) for at in range(150)], "1min", header="open"
    )


@real("twelve-hour clock")
def twelve_hours(folder: Path) -> Expected:
    stamps = [datetime(2023, 1, 30) + timedelta(hours=at) for at in range(150)]
    written = [f"{one.month}/{one.day}/{one.year} {one.hour % 12 or 12}:{one:%M:%S} {one:%p}" for one in stamps]
    return timed(folder, "hours.csv", written, "1h", header="Datetime", says=("month",))


@real("two-digit years")
def two_digit_years(folder: Path) -> Expected:
    return timed(folder, "short.csv", [day.strftime("%d-%b-%y") for day in days(150)], "1d", header="Date")


@real("day and time in two columns, am and pm")
def two_columns(folder: Path) -> Expected:
    stamps = [datetime(2023, 1, 30) + timedelta(hours=at) for at in range(150)]
    values = seasonal(150, base=30, swing=10, period=24)
    body = [
        [f"{one:%m/%d/%Y}", f"{one.hour % 12 or 12}:{one:%M} {one:%p}", str(value)]
        for one, value in zip(stamps, values, strict=True)
    ]
    return Expected(
        write(folder, "meter.csv", lines([["Date", "Time", "kWh"], *body], ",")),
        "forecast",
        {"time": "Date,Time", "target": "kWh"},
        rows=150,
        frequency="1h",
        means={"kWh": mean(values)},
    )


@real("seasons that end in the next year")
def seasons(folder: Path) -> Expected:
    """2003/04 would be a month, but the whole column says otherwise."""
    stamps = [f"{1960 + at}/{(1961 + at) % 100:02}" for at in range(60)]
    return timed(folder, "league.csv", stamps, "1y", header="season")


@real("weeks without separators")
def bare_weeks(folder: Path) -> Expected:
    weeks = [(date(2019, 1, 7) + timedelta(7 * at)).isocalendar() for at in range(120)]
    stamps = [f"{week.year}{week.week:02}" for week in weeks]
    return timed(folder, "sales.csv", stamps, "7d", header="period_id", says=("yyyyww",))


@real("an id and the weekday beside a series")
def calendar_facts(folder: Path) -> Expected:
    """Neither is forecast: the one counts rows in steps of seven, the other is known in advance."""
    values = seasonal(120, base=30, swing=10, period=7)
    body = [
        [str(day), str(3 + 7 * at), str(day.weekday()), str(value)]
        for at, (day, value) in enumerate(zip(days(120), values, strict=True))
    ]
    return Expected(
        write(folder, "visits.csv", lines([["date", "id", "weekday", "visits"], *body], ",")),
        "forecast",
        {"time": "date", "target": "visits"},
        rows=120,
        frequency="1d",
        means={"": mean(values)},
        says=("'id' only counts rows", "'weekday' is not used"),
    )
