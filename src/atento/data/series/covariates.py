"""Future covariates: read from columns of numbers or of few texts, and checked for the target shifted in time.

A table in long form, with a row for each variable, becomes channels of one series here too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from atento.data.records import counted, excerpt, in_words
from atento.data.series.grid import error_at
from atento.data.series.series import Numbers, Series
from atento.data.series.typed_table import TypedTable
from atento.errors import InputError

# Axes: N rows of a table, T time, K covariates, C channels.

MOST_CATEGORIES = 50  # distinct texts of a column
CATEGORY_MARK = "="  # between a column and one of its texts
VARIABLE_SEPARATOR = "\t"  # between the name of a series and that of a variable; no cell of a table holds one
SAME_VALUES = 0.999  # correlation from which two columns are the same
SAME_CHANGES = 0.99  # and of their differences: two trends correlate without being the same
FEWEST_ROWS = 30  # that both have
MOST_ROWS = 20_000  # of a series that are compared


class Covariates(NamedTuple):
    """Columns of numbers for all rows of a table."""

    names: tuple[str, ...]
    columns: tuple[int, ...]  # the column of the table that each comes from
    values: Numbers  # (N, K); NaN: empty or none
    numeric: tuple[int, ...]  # the columns of the table that hold numbers
    notes: tuple[str, ...]


def read_covariates(typed: TypedTable, covariates: Sequence[int], asked: str) -> Covariates:
    """The future covariates; `asked` is data.future_covariates, which may name categories: `weekday=Mo,weekday=Tu`."""
    names: list[str] = []
    columns: list[int] = []
    values: list[Numbers] = []
    notes: list[str] = []
    for at in covariates:
        texts = categories_asked(typed.name(at), asked)
        if not texts and typed.is_numeric(at):
            names.append(typed.name(at))
            columns.append(at)
            values.append(typed.numbers(at).values)
            continue
        texts = texts or categories_of(typed, at)
        names += [f"{typed.name(at)}{CATEGORY_MARK}{text}" for text in texts]
        columns += [at] * len(texts)
        values += list(one_hot(typed, at, texts).T)
        notes.append(f"{typed.name(at)!r} holds texts: {in_words(list(map(repr, texts)))} become columns of 0 and 1")
    stacked = np.stack(values, axis=1) if values else np.zeros((len(typed), 0))
    numeric = tuple(at for at, name in zip(columns, names, strict=True) if name == typed.name(at))
    return Covariates(tuple(names), tuple(columns), stacked, numeric, tuple(notes))


def categories_asked(name: str, asked: str) -> list[str]:
    """The categories of a column that data.future_covariates names."""
    parts = [part.strip() for part in asked.split(",")]
    return [part.removeprefix(name + CATEGORY_MARK) for part in parts if part.startswith(name + CATEGORY_MARK)]


def categories_of(typed: TypedTable, at: int) -> list[str]:
    """The distinct texts of a column."""
    texts = sorted({cell.strip() for cell in typed.columns[at] if cell.strip()})
    if len(texts) <= MOST_CATEGORIES:
        return texts
    raise InputError(
        f"{typed.table.file}:1: the column {typed.name(at)!r} holds too many different texts for a covariate.",
        found=f"{len(texts)} texts: {in_words(list(map(excerpt, texts[:5])))}",
        fix="leave it out of data.future_covariates, or write numbers there",
    )


def one_hot(typed: TypedTable, at: int, texts: Sequence[str]) -> Numbers:
    """(N, texts) 1 where a cell is the text; an empty cell is NaN, any other text is refused."""
    code = {text: number for number, text in enumerate(texts)} | {"": -1}
    found = np.array([code.get(cell.strip(), -2) for cell in typed.columns[at]])
    if (found == -2).any():
        row = int(np.argmax(found == -2))
        raise error_at(
            typed.table.place(row, at),
            f"the column {typed.name(at)!r} holds an unknown text.",
            found=excerpt(typed.columns[at][row]),
            fix=f"write one of {in_words(list(map(repr, texts)))}",
        )
    return np.where((found == -1)[:, None], np.nan, (found[:, None] == np.arange(len(texts))).astype(np.float64))


def pivot_variables(
    series: Sequence[Series], channels: tuple[str, ...]
) -> tuple[tuple[Series, ...], tuple[str, ...], tuple[str, ...]]:
    """Variables as channels of one series where their timestamps are the same; else a series for each. Also the names
    of the channels, and notes.
    """
    groups: dict[str, list[Series]] = {}
    for one in series:
        groups.setdefault(one.name.rpartition(VARIABLE_SEPARATOR)[0], []).append(one)
    names = variables_of(next(iter(groups.values())))
    aligned = all(
        variables_of(group) == names and all(same_times(group[0], one) for one in group) for group in groups.values()
    )
    if not aligned:
        apart = tuple(replace(one, name=one.name.replace(VARIABLE_SEPARATOR, "/").removeprefix("/")) for one in series)
        return apart, channels, (f"variables have different times: each is a series, {len(apart)} in all",)
    merged = tuple(
        replace(group[0], name=name, values=np.concatenate([one.values for one in group], axis=1))
        for name, group in groups.items()
    )
    wide = tuple(names) if len(channels) == 1 else tuple(f"{name} {each}" for name in names for each in channels)
    return merged, wide, (f"{counted(len(names), 'variable')} as channels: {in_words(names)}",)


def variables_of(group: Sequence[Series]) -> list[str]:
    """The variables of the series of one group."""
    return [one.name.rpartition(VARIABLE_SEPARATOR)[2] for one in group]


def same_times(one: Series, other: Series) -> bool:
    """Whether two series have the same rows."""
    if one.times is None or other.times is None:
        return len(one) == len(other) and len(one.future_covariates) == len(other.future_covariates)
    return len(one) == len(other) and np.array_equal(one.times, other.times)


class ShiftedTarget(NamedTuple):
    """A covariate whose value at t is that of a channel at t + ahead."""

    covariate: int
    channel: int
    ahead: int  # below 0: an earlier value of the channel


def shifted_targets(series: Sequence[Series], horizon: int) -> list[ShiftedTarget]:
    """Covariates that leak a value of the horizon: row t holds the target of row t + ahead, where ahead is above
    −horizon. A covariate that holds targets of at least a horizon ago leaks nothing.
    """
    longest = max(series, key=len)
    covariates, values = longest.future_covariates[: len(longest)][:MOST_ROWS], longest.values[:MOST_ROWS]
    found = []
    for covariate in range(covariates.shape[1]):
        for channel in range(values.shape[1]):
            best = max(matching_shifts(covariates[:, covariate], values[:, channel], horizon), default=None)
            if best is not None:
                found.append(ShiftedTarget(covariate, channel, best[1]))
    return found


def matching_shifts(covariate: Numbers, values: Numbers, horizon: int) -> Iterator[tuple[float, int]]:
    """(correlation, ahead) of every shift at which two columns (T,) are the same."""
    for ahead in range(1 - horizon, horizon + 1):
        first, last = max(0, -ahead), min(len(covariate), len(values) - ahead)
        if last - first < FEWEST_ROWS:
            continue
        one, other = covariate[first:last], values[first + ahead : last + ahead]
        correlation = absolute_correlation(one, other)
        if correlation > SAME_VALUES and absolute_correlation(np.diff(one), np.diff(other)) > SAME_CHANGES:
            yield correlation, ahead


def absolute_correlation(one: Numbers, other: Numbers) -> float:
    """The absolute value of Pearson's correlation; 0 where one is constant."""
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return abs(float(one @ other)) / scale if scale > 0 else 0.0
