"""What a set of time series is, and the input of a forecast."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atento.data.records import Refusal

# Axes: T time, F future rows, C channels, K covariates, L look-back, H horizon.

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Times = NDArray[np.datetime64]


@dataclass(frozen=True)
class Frequency:
    """The time step between two rows: `Frequency(15, "min")`; months and years have no fixed length."""

    count: int
    unit: str  # us, ms, s, min, h, d, wd, mo, y; "" where rows have no timestamps and are counted

    def __str__(self) -> str:
        return f"{self.count}{self.unit}" if self.unit else "1 row"


@dataclass(frozen=True, eq=False)
class Series:
    """One time series: its rows are in order of time, at equal time steps."""

    name: str  # "" where a file has one series
    values: Numbers  # (T, C) what is read and forecast
    future_covariates: Numbers  # (T + F, K) what is known in advance, also for future rows
    times: Times | None = None  # (T + F,) in UTC; None: rows are counted
    start: int = 0  # rows of the whole series before these
    line: int = 1  # of its file, on which its first row stands

    def __len__(self) -> int:
        return len(self.values)

    def cut(self, first: int, last: int) -> "Series":
        """Rows first to last, as views of the same numbers; all later covariates are kept."""
        times = None if self.times is None else self.times[first:]
        values, covariates = self.values[first:last], self.future_covariates[first:]
        return Series(self.name, values, covariates, times, self.start + first, self.line)

    def timestamp(self, row: int) -> str:
        """The timestamp of a row as text; its number where there are no timestamps."""
        if self.times is None or row >= len(self.times):
            return f"row {self.start + row}"
        exact, whole = self.times[row], self.times[row].astype("datetime64[s]")
        if exact != whole:
            return str(exact).replace("T", " ").rstrip("0")
        return str(whole).replace("T", " ").removesuffix(":00").removesuffix(" 00:00")


@dataclass(frozen=True, eq=False)
class SeriesSet:
    """All series of a file; they share channels, covariates and frequency."""

    file: str
    series: tuple[Series, ...]
    channels: tuple[str, ...]  # names of what is forecast
    covariates: tuple[str, ...]  # names of the future covariates
    frequency: Frequency
    season_length: int  # rows of the most likely season; 1: there is none
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]
    keys: tuple[tuple[str, str], ...] = ()  # values of data.* with which another file is read in the same way

    @property
    def own_names(self) -> tuple[tuple[str, str], ...]:
        """What the file calls its columns of time and series, where each of them is one column."""
        return tuple((key, name) for key, name in self.keys if key in ("time", "series") and "," not in name)


@dataclass(frozen=True, eq=False)
class Past:
    """The input of a forecast: the look-back window and the covariates, as views of the series."""

    series: str
    until: str  # the timestamp of the last row as text
    values: Numbers  # (L, C)
    future_covariates: Numbers  # (L + H, K), the horizon's rows last
    origin: int = 0  # the row of the whole series at which the forecast begins

    def __str__(self) -> str:
        return f"{self.series} until {self.until}" if self.series else f"until {self.until}"

    def __len__(self) -> int:
        return len(self.values)
