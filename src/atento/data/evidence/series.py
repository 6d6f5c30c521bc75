"""Evidence that a table holds time series: its columns, their frequency, and the autocorrelation of the values."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from atento.data.series.columns import SeriesColumns, combine_codes, find_columns
from atento.data.series.frequency import frequency_text, infer_frequency, infer_spacing
from atento.data.series.series import Integers, Mask, Numbers
from atento.data.series.series_in_rows import count_time, find_series_in_rows, smoothness, time_axis
from atento.data.series.time_columns import Timestamps, read_timestamps
from atento.data.series.typed_table import TypedTable
from atento.data.tables.table import Table
from atento.spec import DataRecipe

KINDS = frozenset({"csv", "tsv", "jsonl", "parquet", "text", "npy", "xlsx"})
FEWEST_ROWS = 8  # of evidence
MOST_ROWS = 100_000  # that are read


class SeriesEvidence(NamedTuple):
    """A table read as series, by the names of its columns."""

    time: tuple[str, ...]
    series: tuple[str, ...]
    channels: tuple[str, ...]
    unused: tuple[str, ...]
    calendar: bool  # whether timestamps are dates
    frequency: str  # the time step as text; empty: rows are not at equal time steps
    increasing_share: float  # share of rows later than the row above in their series
    autocorrelation: float  # at lag one, of the channel that has least
    in_rows: bool = False  # whether each row is a series of its own
    steps_named: bool = False  # whether its steps are columns whose names count a unit of time


def evidence_in_rows(table: Table) -> SeriesEvidence | None:
    """A table with a row for each series; None for any other."""
    form = find_series_in_rows(table)
    if form is None:
        return None
    frequency, _ = time_axis(table, form, DataRecipe())
    used = {*form.names, *form.steps, form.start, form.frequency}
    return SeriesEvidence(
        time=(table.columns[form.start],) if form.start >= 0 else (),
        series=tuple(table.columns[at] for at in form.names),
        channels=("value",),
        unused=tuple(name for at, name in enumerate(table.columns) if at not in used),
        calendar=bool(frequency.unit),
        frequency=frequency_text(frequency),
        increasing_share=1.0,
        autocorrelation=smoothness(table, form),
        in_rows=True,
        steps_named=count_time(table, form),
    )


def series_evidence(table: Table) -> SeriesEvidence | None:
    """A table read as series; None where it has no numbers or too few rows."""
    if table.kind not in KINDS or len(table.rows) < FEWEST_ROWS:
        return None
    table = replace(table, rows=table.rows[:MOST_ROWS], lines=table.lines[:MOST_ROWS])
    typed = TypedTable(table)
    if not any(typed.is_numeric(at) for at in range(len(table.columns))):
        return None
    columns = find_columns(typed, DataRecipe())
    if not columns.channels:
        return None
    timestamps = read_timestamps(typed, columns.time, to_utc=True)
    codes = [typed.codes(at) for at in columns.identifiers] or [np.zeros(len(typed), np.int64)]
    series = combine_codes(codes)
    frequency, increasing = time_evidence(timestamps, series) if timestamps is not None else ("1 row", 1.0)

    def names(several: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(table.columns[at] for at in several)

    return SeriesEvidence(
        names(columns.time),
        names(columns.identifiers),
        names(columns.channels),
        names(columns.unused),
        timestamps is not None and timestamps.calendar,
        frequency,
        increasing,
        least_autocorrelation(typed, columns, series),
    )


def time_evidence(timestamps: Timestamps, series: Integers) -> tuple[str, float]:
    """The frequency as text, and the share of rows that are later than the one above."""
    times, series = timestamps.values[timestamps.valid], series[timestamps.valid]
    by_series = np.argsort(series, kind="stable")
    same = np.diff(series[by_series]) == 0
    increasing = float((np.diff(times[by_series])[same] > 0).mean()) if same.any() else 0.0
    order = np.lexsort((times, series))
    if timestamps.calendar:
        frequency = infer_frequency(times[order].astype(np.int64), series[order])
        return frequency_text(frequency) if frequency else "", increasing
    return "1 row" if infer_spacing(times[order].astype(np.float64), series[order]) else "", increasing


def least_autocorrelation(typed: TypedTable, columns: SeriesColumns, series: Integers) -> float:
    """The least autocorrelation at lag one among the channels, each series centred by itself."""
    order = np.argsort(series, kind="stable")
    series = series[order]
    same = np.diff(series) == 0
    centred = (centre_by_series(typed.numbers(at).values[order], series) for at in columns.channels)
    found = [lag_one_autocorrelation(values, same) for values in centred]
    return min((one for one in found if one is not None), default=0.0)


def centre_by_series(values: Numbers, series: Integers) -> Numbers:
    """Values minus the mean of their series."""
    there = np.isfinite(values)
    total = np.bincount(series, np.where(there, values, 0.0))
    number = np.bincount(series, there)
    return values - (total / np.maximum(number, 1))[series]


def lag_one_autocorrelation(values: Numbers, same: Mask) -> float | None:
    """The correlation of values with those one row before in the same series; None where they are constant."""
    both = same & np.isfinite(values[1:]) & np.isfinite(values[:-1])
    one, other = values[:-1][both], values[1:][both]
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    most = max(np.abs(one).max(), np.abs(other).max())  # so that squares do not overflow
    return float(np.corrcoef(one / most, other / most)[0, 1])
