"""Public data sets of series and of number sequences, in the forms in which they are downloaded."""

import json
import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from tests.journeys.real_files.contents import Expected, days, lines, mean, real, seasonal, write


@real("Johns Hopkins, a column for each day")
def johns_hopkins(folder: Path) -> Expected:
    """Latitude and longitude stand between the names and the days, which begin with the month."""
    first = date(2020, 1, 22)
    when = [f"{day.month}/{day.day}/{day:%y}" for day in (first + timedelta(at) for at in range(60))]
    places = [("", "Albania"), ("Anhui", "China"), ("Hubei", "China"), ("", '"Korea, South"')]
    values = [seasonal(60, base=900, swing=200, period=30, seed=at) for at in range(len(places))]
    body = [[*place, f"{31 + at}.8257", f"{117 - at}.2264", *map(str, values[at])] for at, place in enumerate(places)]
    header = ",".join(["Province/State", "Country/Region", "Lat", "Long", *when])
    text = "".join(",".join(row) + "\n" for row in [[header], *body])
    return Expected(
        write(folder, "time_series_covid19_confirmed_global.csv", text),
        "forecast",
        rows=240,
        series=4,
        frequency="1d",
        means={"": mean(number for row in values for number in row)},
        says=("'Lat' and 'Long' are not used",),
    )


@real("M5, a column for each day")
def m5(folder: Path) -> Expected:
    """Small counts, of which a day says little about the next; the columns are named by the day."""
    draw = random.Random(5)
    values = [[draw.choice((0, 0, 0, 1, 1, 2, 4)) for _ in range(90)] for _ in range(6)]
    header = ["id", "item_id", "dept_id", "cat_id", "store_id", "state_id", *(f"d_{at}" for at in range(1, 91))]
    body = [
        [f"HOBBIES_1_{at:03}_CA_1_validation", f"HOBBIES_1_{at:03}", "HOBBIES_1", "HOBBIES", "CA_1", "CA"]
        + [str(each) for each in row]
        for at, row in enumerate(values)
    ]
    return Expected(
        write(folder, "sales_train_validation.csv", lines([header, *body], ",")),
        "forecast",
        rows=540,
        series=6,
        means={"": mean(number for row in values for number in row)},
    )


@real("Box and Jenkins, two columns of numbers")
def series_j(folder: Path) -> Expected:
    """Spaces align the numbers, and nothing names them."""
    gas, output = (seasonal(296, base=base, swing=3, period=37, digits=3, seed=base) for base in (0, 53))
    text = "".join(f"  {one:8.3f}  {other:8.3f}\n" for one, other in zip(gas, output, strict=True))
    return Expected(
        write(folder, "series_j.txt", text), "forecast", rows=296, means={"": mean(gas)}, says=("spaces separate",)
    )


@real("NOAA, comments above aligned numbers")
def noaa(folder: Path) -> Expected:
    """Year and month in two columns without names, and again as a year with decimals."""
    values = seasonal(240, base=330, swing=4, period=12)
    rows = "".join(
        f"{1958 + at // 12} {at % 12 + 1:5} {1958 + (at + 0.5) / 12:13.4f} {value:10.2f}      {25 + at % 5:2}\n"
        for at, value in enumerate(values)
    )
    text = "# USE OF NOAA GML DATA\n#\n#            decimal   monthly  #days\n" + rows
    return Expected(
        write(folder, "co2_mm_mlo.txt", text),
        "forecast",
        rows=240,
        frequency="1mo",
        means={"": mean(values)},
        says=("3 lines of comments", "'3' only counts rows or time"),
    )


@real("SILSO, a day in three columns without names")
def silso(folder: Path) -> Expected:
    values = seasonal(150, base=60, swing=30, period=27, digits=0)
    rows = [
        [f"{day:%Y}", f"{day:%m}", f"{day:%d}", f"{day.year + day.timetuple().tm_yday / 366:.3f}", f"{value:4.0f}"]
        for day, value in zip(days(150), values, strict=True)
    ]
    return Expected(
        write(folder, "SN_d_tot_V2.0.csv", lines([[*row, f"{3 + at % 4}.1"] for at, row in enumerate(rows)], ";")),
        "forecast",
        rows=150,
        frequency="1d",
        means={"": mean(values)},
    )


@real("UCI bike sharing, the hour in a column of its own")
def bike_sharing(folder: Path) -> Expected:
    """Facts of the calendar, and a number of the row under a name of its own."""
    values = seasonal(240, base=180, swing=90, period=24, digits=0)
    header = ["instant", "dteday", "season", "yr", "mnth", "hr", "weekday", "workingday", "temp", "cnt"]
    body = []
    for at, value in enumerate(values):
        when = datetime(2011, 1, 28) + timedelta(hours=at)
        facts = [1, 0, when.month, when.hour, when.isoweekday() % 7, int(when.weekday() < 5)]
        body.append([str(at + 1), f"{when:%Y-%m-%d}", *map(str, facts), f"{0.2 + at % 7 / 100:.2f}", f"{value:.0f}"])
    return Expected(
        write(folder, "hour.csv", lines([header, *body], ",")),
        "forecast",
        rows=240,
        frequency="1h",
        means={"cnt": mean(values)},
        says=("'instant' only counts", "'dteday' and 'hr'", "'season', 'yr', 'mnth', 'weekday' and 'workingday'"),
    )


@real("Binance, the end of each hour beside its beginning")
def binance(folder: Path) -> Expected:
    """No header; the seventh column is the time again."""
    close = seasonal(160, base=30_000, swing=900, period=40)
    begin = int(datetime(2022, 1, 1, tzinfo=UTC).timestamp()) * 1000
    body = [
        [str(begin + 3_600_000 * at), *[f"{value:.8f}"] * 4, f"{at % 9 + 1}.5", str(begin + 3_600_000 * (at + 1) - 1)]
        for at, value in enumerate(close)
    ]
    return Expected(
        write(folder, "BTCUSDT-1h-2022-01.csv", lines(body, ",")),
        "forecast",
        rows=160,
        frequency="1h",
        means={"": mean(close)},
        says=("'7' only counts",),
    )


@real("Google Trends, less than one")
def google_trends(folder: Path) -> Expected:
    values = seasonal(160, base=20, swing=9, period=52, digits=0)
    cells = ["<1" if at in (12, 13, 70) else f"{value:.0f}" for at, value in enumerate(values)]
    weeks = [date(2019, 1, 6) + timedelta(7 * at) for at in range(len(values))]
    body = "".join(f"{week},{cell}\n" for week, cell in zip(weeks, cells, strict=True))
    return Expected(
        write(folder, "multiTimeline.csv", f"Category: All categories\n\nWeek,atento: (Worldwide)\n{body}"),
        "forecast",
        rows=160,
        frequency="7d",
        means={"": mean(float(cell) for cell in cells if cell != "<1")},
        says=("'<1' stands for a missing number",),
        refused=True,
        key="data.gaps=previous",
        because="(Worldwide)",
    )


@real("a sensor at uneven times, some seconds apart")
def uneven(folder: Path) -> Expected:
    """The frequency that is proposed is near to the usual step, so that few rows are averaged away."""
    draw = random.Random(6)
    when, body = datetime(2024, 1, 1), []
    for value in seasonal(150, base=120, swing=20, period=40, digits=1):
        when += timedelta(milliseconds=draw.randint(20_000, 45_000))
        body.append([f"{when:%Y-%m-%d %H:%M:%S}.{when.microsecond // 1000:03}", str(value)])
    return Expected(
        write(folder, "glucose.csv", lines([["time", "glucose"], *body], ",")),
        "forecast",
        rows=int(when.timestamp() // 30 - datetime.fromisoformat(body[0][0]).timestamp() // 30) + 1,
        refused=True,
        key="data.frequency=30s",
        because="data.frequency=30s",
    )


@real("UCR archive, numbers aligned by spaces")
def ucr_text(folder: Path) -> Expected:
    """The label is first, and as numpy writes it."""
    draw = random.Random(7)
    text = "".join(
        "  " + "  ".join(f"{each:.7e}" for each in [1 + at % 3, *(draw.gauss(at % 3, 1) for _ in range(24))]) + "\n"
        for at in range(60)
    )
    return Expected(
        write(folder, "Waves_TRAIN.txt", text),
        "classify-series",
        {"sequence": "sequence", "label": "label"},
        rows=60,
        labels=("1", "2", "3"),
        says=("1.0000000e+00 is 1",),
    )


@real("heart beats, the label last and as numpy writes it")
def heart_beats(folder: Path) -> Expected:
    draw = random.Random(8)
    body = [[f"{draw.random():.18e}" for _ in range(30)] + [f"{float(at % 2):.18e}"] for at in range(60)]
    return Expected(
        write(folder, "mitbih_train.csv", lines(body, ",")),
        "classify-series",
        {"sequence": "sequence", "label": "label"},
        rows=60,
        labels=("0", "1"),
    )


@real("counts that repeat, in a JSON list")
def counts(folder: Path) -> Expected:
    """A single column is forecast, whatever its name: it labels nothing."""
    draw = random.Random(9)
    values = [draw.choice((0, 1, 1, 2, 3)) for _ in range(120)]
    return Expected(
        write(folder, "counts.json", json.dumps([{"y": value} for value in values])),
        "forecast",
        rows=120,
        means={"y": mean(values)},
    )
