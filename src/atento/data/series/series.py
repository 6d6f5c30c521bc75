"""What a set of series is, and what is known where a forecast begins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atento.data.records import Refusal

# Axes: T time, F times to come, C channels, K covariates, L past, H horizon.

Numbers = NDArray[np.float64]
Times = NDArray[np.datetime64]


@dataclass(frozen=True)
class Step:
    """The distance of two rows: `Step(15, "min")`; months and years have no fixed length."""

    count: int
    unit: str  # s, min, h, d, mo, y; "" where rows have no times and are only counted

    def __str__(self) -> str:
        return f"{self.count}{self.unit}" if self.unit else "1 row"


@dataclass(frozen=True, eq=False)
class Series:
    """One series, its rows in order of time at equal distances."""

    name: str  # what tells it from the others; "" where a file holds one
    values: Numbers  # (T, C) what is read and forecast
    known: Numbers  # (T + F, K) what is known beforehand, of the times to come too
    times: Times | None = None  # (T + F,) in UTC; None: rows are only counted
    start: int = 0  # how many rows of the whole series lie before these
    line: int = 1  # of its file, on which its first row stands

    def __len__(self) -> int:
        return len(self.values)

    def cut(self, first: int, last: int) -> "Series":
        """Rows first to last, views of the same numbers; what is known stays known to the end."""
        times = None if self.times is None else self.times[first:]
        return Series(self.name, self.values[first:last], self.known[first:], times, self.start + first, self.line)

    def when(self, row: int) -> str:
        """The time of a row in words; its number where there are no times."""
        if self.times is None or row >= len(self.times):
            return f"row {self.start + row}"
        exact, whole = self.times[row], self.times[row].astype("datetime64[s]")
        if exact != whole:
            return str(exact).replace("T", " ").rstrip("0")
        return str(whole).replace("T", " ").removesuffix(":00").removesuffix(" 00:00")


@dataclass(frozen=True, eq=False)
class SeriesSet:
    """All series of a file; they share channels, covariates and the distance of rows."""

    file: str
    series: tuple[Series, ...]
    channels: tuple[str, ...]  # names of what is forecast
    covariates: tuple[str, ...]  # names of what is known beforehand
    step: Step
    season: int  # rows of the likeliest season; 1: none is likely
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]
    keys: tuple[tuple[str, str], ...] = ()  # what data.* must say for another file to be read alike


@dataclass(frozen=True, eq=False)
class Past:
    """The source of a forecast: what is known at its origin. Its numbers are views of the series."""

    series: str
    at: str  # the time of the last row that is known, in words
    values: Numbers  # (L, C)
    known: Numbers  # (L + H, K), the horizon's rows last
    origin: int = 0  # the row of the whole series at which the forecast begins

    def __str__(self) -> str:
        return f"{self.series} until {self.at}" if self.series else f"until {self.at}"

    def __len__(self) -> int:
        return len(self.values)
