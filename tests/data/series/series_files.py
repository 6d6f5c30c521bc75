"""One course of numbers written as many kinds of files, with what must be read of each."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROWS = 130
DAYS = np.datetime64("2021-01-25") + np.arange(ROWS)
HOURS = np.datetime64("2021-01-25T00") + np.arange(ROWS)
WAVE = np.round(3 * np.sin(np.arange(ROWS) * 2 * np.pi / 7) + 0.01 * np.arange(ROWS), 3)
DRIFT = np.round(np.cumsum(np.random.default_rng(2).normal(size=ROWS)), 3)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Shape(NamedTuple):
    """A file, and its series as they must come out."""

    name: str
    text: str | bytes
    step: str
    channels: tuple[str, ...] = ("v",)
    values: Sequence[np.ndarray] = (WAVE[:, None],)  # of each series (T, C)
    names: tuple[str, ...] = ("",)
    first: str = ""  # the first time; empty: rows are counted

    def write(self, folder: Path) -> str:
        data = self.text.encode() if isinstance(self.text, str) else self.text
        (folder / self.name).write_bytes(data)
        return str(folder / self.name)


def table(header: str, *columns: Sequence[object], mark: str = ",") -> str:
    rows = "\n".join(mark.join(map(str, row)) for row in zip(*columns, strict=True))
    return f"{header}\n{rows}\n" if header else f"{rows}\n"


def said(times: np.ndarray, write: Callable[[str], str]) -> list[str]:
    return [write(str(time)) for time in times]


def clock(hour: str) -> str:
    number = int(hour[11:13])
    return f"{int(hour[5:7])}/{int(hour[8:10])}/2021 {(number + 11) % 12 + 1}:00 {'AM' if number < 12 else 'PM'}"


def comma(values: np.ndarray) -> list[str]:
    return [f"{value:.3f}".replace(".", ",") for value in values]


def packed_frame() -> bytes:
    import io

    import pyarrow
    import pyarrow.parquet

    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"date": DAYS.astype("datetime64[ms]"), "v": WAVE}), sink)
    return sink.getvalue()


both = np.stack([WAVE, DRIFT], axis=1)
half = ROWS // 2
two = (WAVE[:half, None], WAVE[half:, None])
four = tuple(part[:, None] for part in np.split(WAVE[:128], 4))
first_of_months = [f"01/{at % 12 + 1:02}/{2000 + at // 12}" for at in range(ROWS)]
month_ends = (np.datetime64("2000-01") + np.arange(ROWS) + 1).astype("datetime64[D]") - 1
working = np.array([day for day in DAYS if np.is_busday(day)])
begun = "2021-01-25"

SHAPES = (
    Shape("wide.csv", table("date,v,w", DAYS, WAVE, DRIFT), "1d", ("v", "w"), (both,), first=begun),
    Shape("no-header.csv", table("", DAYS, WAVE), "1d", ("2",), first=begun),
    Shape(
        "units.csv",
        table("Día,Consumo [kWh],Precio €/MWh", DAYS, WAVE, DRIFT),
        "1d",
        ("Consumo [kWh]", "Precio €/MWh"),
        (both,),
        first=begun,
    ),
    Shape("commas.csv", table("Fecha;T (°C)", DAYS, comma(WAVE), mark=";"), "1d", ("T (°C)",), first=begun),
    Shape("day-first.csv", table("date,v", said(DAYS, lambda d: f"{d[8:]}/{d[5:7]}/{d[:4]}"), WAVE), "1d", first=begun),
    Shape("dots.csv", table("Datum,v", said(DAYS, lambda d: f"{d[8:]}.{d[5:7]}.{d[:4]}"), WAVE), "1d", first=begun),
    Shape("month-first.csv", table("when,v", said(HOURS, clock), WAVE), "1h", first=begun),
    Shape("firsts.csv", table("date,v", first_of_months, WAVE), "1mo", first="2000-01-01"),
    Shape("ends.csv", table("date,v", month_ends, WAVE), "1mo", first="2000-01-31"),
    Shape("seconds.csv", table("timestamp,v", HOURS.astype("datetime64[s]").astype(int), WAVE), "1h", first=begun),
    Shape("millis.csv", table("time,v", HOURS.astype("datetime64[ms]").astype(int), WAVE), "1h", first=begun),
    Shape("years.csv", table("year,v", range(1800, 1800 + ROWS), WAVE), "1y", first="1800-01-01"),
    Shape("joined.csv", table("date,v", said(DAYS, lambda d: d.replace("-", "")), WAVE), "1d", first=begun),
    Shape(
        "months.csv",
        table("month,v", [f"{1990 + at // 12}{at % 12 + 1:02}" for at in range(ROWS)], WAVE),
        "1mo",
        first="1990-01-01",
    ),
    Shape(
        "names.csv",
        table("Month,v", [f"{MONTHS[at % 12]}-{60 + at // 12:02}" for at in range(ROWS)], WAVE),
        "1mo",
        first="1960-01-01",
    ),
    Shape(
        "quarters.csv",
        table("quarter,v", [f"{1980 + at // 4}Q{at % 4 + 1}" for at in range(ROWS)], WAVE),
        "3mo",
        first="1980-01-01",
    ),
    Shape(
        "weeks.csv", table("week,v", np.datetime64("2000-01-02") + 7 * np.arange(ROWS), WAVE), "7d", first="2000-01-02"
    ),
    Shape(
        "stock.csv",
        table("Date,v", working, WAVE[: len(working)]),
        "1wd",
        values=(WAVE[: len(working), None],),
        first=begun,
    ),
    Shape("zulu.csv", table("ds,v", said(HOURS, lambda h: f"{h}:00:00Z"), WAVE), "1h", first=begun),
    Shape("offset.csv", table("ds,v", said(HOURS, lambda h: f"{h}:00+02:00"), WAVE), "1h", first="2021-01-24T22:00"),
    Shape(
        "fast.csv",
        table("time,v", np.datetime64("2021-01-25T00:00:00.000") + 10 * np.arange(ROWS), WAVE),
        "10ms",
        first=begun,
    ),
    Shape(
        "date-and-time.csv",
        table("Date,Time,v", said(HOURS, lambda h: h[:10]), said(HOURS, lambda h: f"{h[11:]}.00.00"), WAVE),
        "1h",
        first=begun,
    ),
    Shape(
        "parts.csv",
        table(
            "No,year,month,day,hour,v",
            range(1, ROWS + 1),
            *(
                said(HOURS, lambda h, at=at: str(int(h[at])))
                for at in (slice(0, 4), slice(5, 7), slice(8, 10), slice(11, 13))
            ),
            WAVE,
        ),
        "1h",
        first=begun,
    ),
    Shape("counted.csv", table("v,w", WAVE, DRIFT), "1 row", ("v", "w"), (both,)),
    Shape("index.csv", table(",v", range(ROWS), WAVE), "1 row"),
    Shape(
        "simulated.csv",
        table("t,v,w", [f"{0.02 * at:.2f}" for at in range(ROWS)], WAVE, DRIFT),
        "1 row",
        ("v", "w"),
        (both,),
    ),
    Shape("lines.txt", table("", WAVE), "1 row", ("text",)),
    Shape(
        "frame.csv",
        table("unique_id,ds,y", ["a"] * half + ["b"] * half, [*DAYS[:half]] * 2, WAVE),
        "1d",
        ("y",),
        two,
        ("a", "b"),
        begun,
    ),
    Shape(
        "turns.csv",
        table("day,store,sales,note", np.repeat(DAYS[:half], 2), ["Ávila", "Berlin"] * half, WAVE, ["x"] * ROWS),
        "1d",
        ("sales",),
        (WAVE[::2, None], WAVE[1::2, None]),
        ("Ávila", "Berlin"),
        begun,
    ),
    Shape(
        "stores.csv",
        table(
            "date,store,item,sales", [*DAYS[:32]] * 4, np.repeat([1, 2], 64), [*np.repeat([1, 2], 32)] * 2, WAVE[:128]
        ),
        "1d",
        ("sales",),
        four,
        ("1/1", "1/2", "2/1", "2/2"),
        begun,
    ),
    Shape(
        "runs.csv",
        table("run,step,x,y", np.repeat([0, 1], half), [*range(half)] * 2, WAVE, DRIFT),
        "1 row",
        ("x", "y"),
        (both[:half], both[half:]),
        ("0", "1"),
    ),
    Shape(
        "melted.csv",
        table("date,variable,value", np.repeat(DAYS[:half], 2), ["temp", "wind"] * half, WAVE),
        "1d",
        ("temp", "wind"),
        (WAVE.reshape(half, 2),),
        first=begun,
    ),
    Shape(
        "objects.jsonl",
        "".join(json.dumps({"ds": str(day), "v": value}) + "\n" for day, value in zip(DAYS, WAVE, strict=True)),
        "1d",
        first=begun,
    ),
    Shape("frame.parquet", packed_frame(), "1d", first=begun),
    Shape("packed.csv.gz", gzip.compress(table("date,v", DAYS, WAVE).encode(), mtime=0), "1d", first=begun),
)
