"""From a grid to a set of series: cut into series, refused where nothing can be learned, described in notes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from atento.data.numbers.cells import LARGEST_NUMBER
from atento.data.records import Refusal, counted
from atento.data.series.cleaning import series_ends
from atento.data.series.covariates import pivot_variables
from atento.data.series.frequency import date_range, frequency_text
from atento.data.series.grid import Grid
from atento.data.series.seasons import find_season
from atento.data.series.series import Frequency, Integers, Series, SeriesSet, Times
from atento.errors import InputError


class Layout(NamedTuple):
    """What the rows and columns of a grid are."""

    file: str
    times: Times | None  # of the rows of the table; None: rows are counted
    frequency: Frequency
    names: tuple[str, ...]  # of series
    channels: tuple[str, ...]
    covariates: tuple[str, ...]
    melted: bool = False  # whether each variable of a series has rows of its own
    lines: tuple[int, ...] = ()  # of the file, on which each series begins


def assemble(
    grid: Grid,
    layout: Layout,
    *,
    refused: Sequence[Refusal] = (),
    notes: Sequence[str] = (),
    keys: tuple[tuple[str, str], ...] = (),
) -> SeriesSet:
    """The set of all series of a grid."""
    return series_set(split_grid(grid, layout), layout, refused=refused, notes=notes, keys=keys)


def series_set(
    series: tuple[Series, ...],
    layout: Layout,
    *,
    refused: Sequence[Refusal] = (),
    notes: Sequence[str] = (),
    keys: tuple[tuple[str, str], ...] = (),
) -> SeriesSet:
    """The set of series, with notes on what they are."""
    channels, all_notes = layout.channels, list(notes)
    if layout.melted:
        series, channels, merged = pivot_variables(series, channels)
        all_notes.extend(merged)
    require_size(series, channels, layout.file)
    require_variety(series, channels, layout.file)
    season, season_note = find_season(series, layout.frequency)
    all_notes += [*future_notes(series), *constant_notes(series, channels)]
    all_notes += [summary(series, channels, layout.frequency), season_note]
    ordered = tuple(sorted(refused, key=lambda refusal: (refusal.line, refusal.column)))
    return SeriesSet(
        layout.file, series, channels, layout.covariates, layout.frequency, season, ordered, tuple(all_notes), keys
    )


def split_grid(grid: Grid, layout: Layout) -> tuple[Series, ...]:
    """The series of a grid, as views of its numbers."""
    series, ends = [], series_ends(grid)
    for number, name in enumerate(layout.names):
        begin, end, stop = int(grid.offsets[number]), int(ends[number]), int(grid.offsets[number + 1])
        times = None if layout.times is None else times_of(grid.row[begin:stop], layout.times, layout.frequency)
        line = layout.lines[number] if layout.lines else 1
        series.append(Series(name, grid.values[begin:end], grid.covariates[begin:stop], times, line=line))
    return tuple(series)


def times_of(rows: Integers, times: Times, frequency: Frequency) -> Times:
    """The timestamps of rows of the table; those of missing rows (-1) follow from the frequency. The first is there."""
    there = rows >= 0
    if there.all():
        return times[rows]
    found = date_range(times[rows[0]], frequency, len(rows))
    found[there] = times[rows[there]]
    return found


def require_size(series: Sequence[Series], channels: Sequence[str], file: str) -> None:
    """Refuse numbers whose squares overflow."""
    for one in series:
        for name, values in zip(channels, one.values.T, strict=True):
            most = np.abs(values).max(initial=0.0)
            if most > LARGEST_NUMBER:
                raise InputError(
                    f"{file}: the numbers of {name!r} are too large to compute with.",
                    found=f"up to {most:.3g}, where at most {LARGEST_NUMBER:g} is possible",
                    fix=f"write them in a larger unit, e.g. divided by {10.0 ** np.floor(np.log10(most)):g}",
                )


def require_variety(series: Sequence[Series], channels: Sequence[str], file: str) -> None:
    """Refuse a file whose channels are all constant."""
    if any(len(one) and np.ptp(one.values, axis=0).any() for one in series):
        return
    there = [one for one in series if len(one)]
    raise InputError(
        f"{file}: all values are constant: there is nothing to forecast.",
        found=f"{channels[0]!r} is {there[0].values[0, 0]:g} in every row" if there else "no numbers",
        fix="name other columns: --set data.target=...",
    )


def constant_notes(series: Sequence[Series], channels: Sequence[str]) -> list[str]:
    """Warnings about constant channels."""
    still = np.array([np.ptp(one.values, axis=0) == 0 if len(one) else np.ones(len(channels), bool) for one in series])
    notes = []
    for name, count in zip(channels, still.sum(0), strict=True):
        if count:
            where = f" in {count} of {len(series)} series" if len(series) > 1 else ""
            notes.append(f"warning: {name!r} is constant{where}")
    return notes


def future_notes(series: Sequence[Series]) -> list[str]:
    """A note on rows after the last value."""
    rows = [len(one.future_covariates) - len(one) for one in series]
    if not any(rows):
        return []
    return [f"{counted(sum(rows), 'row')} after the last value: future rows, at most {max(rows)} in a series"]


def summary(series: Sequence[Series], channels: Sequence[str], frequency: Frequency) -> str:
    """A note on the number and length of the series."""
    lengths = [len(one) for one in series]
    rows = counted(lengths[0], "row")
    if len(series) > 1:
        least, most = min(lengths), max(lengths)
        rows = f"{len(series):,} series of {f'{least:,} to ' if least < most else ''}{most:,} rows"
    return f"{rows}, {counted(len(channels), 'channel')}, {frequency_text(frequency)} apart"
