"""From a grid to a set of series: cut, joined to channels, and judged by what varies and what repeats."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.records import Refusal, counted
from atento.data.series.clock import Clock
from atento.data.series.filling import ends
from atento.data.series.grid import Grid
from atento.data.series.seasons import find_season
from atento.data.series.series import Series, SeriesSet, Step, Times
from atento.data.series.steps import said, walk
from atento.data.series.variables import gather_channels
from atento.errors import InputError


class Layout(NamedTuple):
    """What the rows of a grid are."""

    file: str
    clock: Clock | None
    step: Step
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
    """The set of all series."""
    series, channels, said_of_them = cut(grid, layout), layout.channels, list(notes)
    if layout.melted:
        series, channels, merged = gather_channels(series, channels)
        said_of_them.extend(merged)
    require_variety(series, channels, layout.file)
    season, why = find_season(series, layout.step)
    said_of_them += [*to_come(series), *never_varying(series, channels), summary(series, channels, layout.step), why]
    ordered = tuple(sorted(refused, key=lambda refusal: (refusal.line, refusal.column)))
    return SeriesSet(
        layout.file, series, channels, layout.covariates, layout.step, season, ordered, tuple(said_of_them), keys
    )


def cut(grid: Grid, layout: Layout) -> tuple[Series, ...]:
    """The series of a grid, as views of its numbers; times that no row says are walked to."""
    series = []
    last, calendar = ends(grid), layout.clock is not None and layout.clock.calendar
    at = layout.clock.at.astype("datetime64[us]") if layout.clock is not None and calendar else np.zeros(0, "M8[us]")
    for number, name in enumerate(layout.names):
        begin, end, stop = int(grid.first[number]), int(last[number]), int(grid.first[number + 1])
        times = times_of(grid.row[begin:stop], at, layout.step) if calendar else None
        line = layout.lines[number] if layout.lines else 1
        series.append(Series(name, grid.values[begin:end], grid.known[begin:stop], times, line=line))
    return tuple(series)


def times_of(rows: NDArray[np.int64], at: Times, step: Step) -> Times:
    """The times of rows of the table, of which the first is there; those that are missing (-1) are walked to."""
    there = rows >= 0
    if there.all():
        return at[rows]
    times = walk(at[rows[0]], step, len(rows))
    times[there] = at[rows[there]]
    return times


def require_variety(series: Sequence[Series], channels: Sequence[str], file: str) -> None:
    """A file in which nothing varies holds nothing to forecast."""
    if any(len(one) and np.ptp(one.values, axis=0).any() for one in series):
        return
    there = [one for one in series if len(one)]
    raise InputError(
        f"{file}: nothing varies: there is nothing to forecast.",
        found=f"{channels[0]!r} is {there[0].values[0, 0]:g} in every row" if there else "no numbers",
        fix="name other columns: --set data.target=...",
    )


def never_varying(series: Sequence[Series], channels: Sequence[str]) -> list[str]:
    """What to say of channels that stand still."""
    still = np.array([np.ptp(one.values, axis=0) == 0 if len(one) else np.ones(len(channels), bool) for one in series])
    notes = []
    for name, count in zip(channels, still.sum(0), strict=True):
        if count:
            notes.append(
                f"warning: {name!r} never varies" + (f" in {count} of {len(series)} series" * (len(series) > 1))
            )
    return notes


def to_come(series: Sequence[Series]) -> list[str]:
    """What to say of rows after the last value."""
    rows = [len(one.known) - len(one) for one in series]
    if not any(rows):
        return []
    return [f"{counted(sum(rows), 'row')} after the last value: times to come, at most {max(rows)} in a series"]


def summary(series: Sequence[Series], channels: Sequence[str], step: Step) -> str:
    """What was read, in words."""
    lengths = [len(one) for one in series]
    rows = counted(lengths[0], "row")
    if len(series) > 1:
        rows = f"{len(series):,} series of {min(lengths):,} to {max(lengths):,} rows"
    return f"{rows}, {counted(len(channels), 'channel')}, {said(step)} apart"
