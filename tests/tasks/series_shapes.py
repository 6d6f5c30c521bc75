"""Small files of series: other names, languages, distances of rows and numbers of series."""

import csv
import io
import json
import math
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

Make = Callable[[Path], str]


def wave(draw: random.Random, row: int, period: int, level: float = 10.0) -> float:
    """A season with noise."""
    return round(level + 3 * math.sin(2 * math.pi * row / period) + draw.gauss(0, 0.5), 3)


def days(count: int, step: timedelta, form: str, start: datetime = datetime(2019, 3, 4)) -> list[str]:
    """Time stamps at equal distances."""
    return [(start + step * row).strftime(form) for row in range(count)]


def months(count: int, form: str = "{year}-{month:02}") -> list[str]:
    """Month after month."""
    return [form.format(year=1990 + at // 12, month=1 + at % 12) for at in range(count)]


def table(name: str, header: Sequence[str], rows: Callable[[random.Random], list[list]], mark: str = ",") -> Make:
    """A file of cells, the same each time."""

    def make(folder: Path) -> str:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=mark, lineterminator="\n")
        if header:
            writer.writerow(header)
        writer.writerows(rows(random.Random(1)))
        (folder / name).write_text(text.getvalue(), encoding="utf-8")
        return str(folder / name)

    return make


def wide(name: str, header: Sequence[str], times: Sequence[str], period: int, mark: str = ",") -> Make:
    """A time and channels beside it."""
    channels = len(header) - 1
    return table(
        name,
        header,
        lambda draw: [
            [time, *(wave(draw, row, period, 10.0 + at) for at in range(channels))] for row, time in enumerate(times)
        ],
        mark,
    )


def long(
    name: str, header: Sequence[str], times: Sequence[str], names: Sequence[str], period: int, mark: str = ","
) -> Make:
    """Series below each other."""
    return table(
        name,
        header,
        lambda draw: [[one, time, wave(draw, row, period)] for one in names for row, time in enumerate(times)],
        mark,
    )


def jsonl(folder: Path) -> str:
    draw = random.Random(1)
    rows = [
        {"sensor": sensor, "timestamp": time, "kWh": wave(draw, row, 24)}
        for sensor in ("north", "south")
        for row, time in enumerate(days(200, timedelta(hours=1), "%Y-%m-%dT%H:%M:%SZ"))
    ]
    (folder / "meters.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return str(folder / "meters.jsonl")


def array(folder: Path) -> str:
    draw = random.Random(1)
    np.save(folder / "signal.npy", np.array([[wave(draw, row, 20), wave(draw, row, 30)] for row in range(300)]))
    return str(folder / "signal.npy")


HOUR, QUARTER, DAY, WEEK = (timedelta(minutes=minutes) for minutes in (60, 15, 1440, 10080))

FORECAST: dict[str, Make] = {
    "as NeuralForecast has it": long(
        "long.csv", ("unique_id", "ds", "y"), days(120, DAY, "%Y-%m-%d"), ("a", "b", "c"), 7
    ),
    "hours of several channels": wide("load.csv", ("date", "HUFL", "OT"), days(300, HOUR, "%Y-%m-%d %H:%M:%S"), 24),
    "months": wide("spots.csv", ("Month", "Sunspots"), months(200), 12),
    "German, semicolons": wide(
        "strom.csv", ("Zeitpunkt", "Verbrauch (kWh)"), days(300, QUARTER, "%d.%m.%Y %H:%M"), 96, ";"
    ),
    "Spanish stores, weeks": long(
        "ventas.csv", ("tienda", "semana", "ventas"), days(110, WEEK, "%Y-%m-%d"), ("Bilbao", "Vigo"), 52
    ),
    "French, tabs": wide("temperature.tsv", ("jour", "température"), days(200, DAY, "%d/%m/%Y"), 7, "\t"),
    "American dates": wide("sales.csv", ("Day", "Units"), days(200, DAY, "%m/%d/%Y"), 7),
    "no times at all": table(
        "xyz.csv", ("x", "y", "z"), lambda draw: [[wave(draw, row, 17 + at) for at in range(3)] for row in range(300)]
    ),
    "runs and steps": table(
        "runs.csv",
        ("run", "step", "x", "y"),
        lambda draw: [[run, row, wave(draw, row, 20), wave(draw, row, 30)] for run in range(5) for row in range(100)],
    ),
    "years": wide("lynx.csv", ("year", "lynx"), [str(1821 + at) for at in range(114)], 10),
    "one nameless column": table("numbers.csv", (), lambda draw: [[wave(draw, row, 12)] for row in range(200)]),
    "JSON lines, UTC": jsonl,
    "an array": array,
    "epoch seconds": wide("ticks.csv", ("time", "price"), [str(1_600_000_000 + 60 * at) for at in range(300)], 60),
}
