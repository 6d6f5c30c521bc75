"""What is known beforehand: columns of numbers, and columns of few texts as 0 and 1.

A table melted by variable: values of one time in several rows, back to channels of one series.
Covariates that are the target itself, moved in time: who knows them beforehand knows the answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from atento.data.records import counted, excerpt, in_words
from atento.data.series.grid import fault
from atento.data.series.numbers import Sheet
from atento.data.series.series import Numbers, Series
from atento.errors import InputError

MOST_TEXTS = 50  # different texts of a column
MARK = "="  # between a column and one of its texts


class Covariates(NamedTuple):
    """Columns of numbers for all N rows of a table."""

    names: tuple[str, ...]
    columns: tuple[int, ...]  # the column of the table that each comes from
    values: Numbers  # (N, K); NaN: empty or none
    numeric: tuple[int, ...]  # the columns of the table that hold numbers
    notes: tuple[str, ...]


def read_covariates(sheet: Sheet, known: Sequence[int], asked: str) -> Covariates:
    """The columns known beforehand; `asked` is data.known, which may name the texts too: `weekday=Mo,weekday=Tu`."""
    names: list[str] = []
    columns: list[int] = []
    values: list[Numbers] = []
    notes: list[str] = []
    for at in known:
        texts = [text for text in texts_asked(sheet.name(at), asked)]
        if not texts and sheet.is_numeric(at):
            names.append(sheet.name(at))
            columns.append(at)
            values.append(sheet.numbers(at).values)
            continue
        texts = texts or texts_of(sheet, at)
        found = by_text(sheet, at, texts)
        names += [f"{sheet.name(at)}{MARK}{text}" for text in texts]
        columns += [at] * len(texts)
        values += list(found.T)
        notes.append(f"{sheet.name(at)!r} holds texts: {in_words(list(map(repr, texts)))} become columns of 0 and 1")
    stacked = np.stack(values, axis=1) if values else np.zeros((len(sheet), 0))
    numeric = tuple(at for at, name in zip(columns, names, strict=True) if name == sheet.name(at))
    return Covariates(tuple(names), tuple(columns), stacked, numeric, tuple(notes))


def texts_asked(name: str, asked: str) -> list[str]:
    """The texts of a column that data.known names."""
    parts = [part.strip() for part in asked.split(",")]
    return [part.removeprefix(name + MARK) for part in parts if part.startswith(name + MARK)]


def texts_of(sheet: Sheet, at: int) -> list[str]:
    """The different texts of a column."""
    texts = sorted({cell.strip() for cell in sheet.columns[at] if cell.strip()})
    if len(texts) <= MOST_TEXTS:
        return texts
    raise InputError(
        f"{sheet.table.file}:1: the column {sheet.name(at)!r} holds too many different texts to be known beforehand.",
        found=f"{len(texts)} texts: {in_words(list(map(excerpt, texts[:5])))}",
        fix="leave it out of data.known, or write numbers there",
    )


def by_text(sheet: Sheet, at: int, texts: Sequence[str]) -> Numbers:
    """(N, texts) 1 where a cell says the text; an empty cell is NaN, one that says something else is refused."""
    place = {text: number for number, text in enumerate(texts)} | {"": -1}
    found = np.array([place.get(cell.strip(), -2) for cell in sheet.columns[at]])
    if (found == -2).any():
        row = int(np.argmax(found == -2))
        raise fault(
            sheet.table.place(row, at),
            f"the column {sheet.name(at)!r} holds a text that is not known.",
            found=excerpt(sheet.columns[at][row]),
            fix=f"write one of {in_words(list(map(repr, texts)))}",
        )
    return np.where((found == -1)[:, None], np.nan, (found[:, None] == np.arange(len(texts))).astype(np.float64))


BETWEEN = "\t"  # between the name of a series and that of a variable; no cell of a table of numbers holds one


def gather_channels(
    series: Sequence[Series], channels: tuple[str, ...]
) -> tuple[tuple[Series, ...], tuple[str, ...], tuple[str, ...]]:
    """One series of all variables where these have the same times; else a series for each."""
    groups: dict[str, list[Series]] = {}
    for one in series:
        groups.setdefault(one.name.rpartition(BETWEEN)[0], []).append(one)
    names = [one.name.rpartition(BETWEEN)[2] for one in next(iter(groups.values()))]
    alike = all(
        [one.name.rpartition(BETWEEN)[2] for one in group] == names and all(same_times(group[0], one) for one in group)
        for group in groups.values()
    )
    if not alike:
        apart = tuple(replace(one, name=one.name.replace(BETWEEN, "/").removeprefix("/")) for one in series)
        return apart, channels, (f"variables have different times: each is a series, {len(apart)} in all",)
    merged = tuple(
        replace(group[0], name=name, values=np.concatenate([one.values for one in group], axis=1))
        for name, group in groups.items()
    )
    wide = tuple(names) if len(channels) == 1 else tuple(f"{name} {each}" for name in names for each in channels)
    return merged, wide, (f"{counted(len(names), 'variable')} as channels: {in_words(names)}",)


def same_times(one: Series, other: Series) -> bool:
    """Whether two series have the same rows."""
    if one.times is None or other.times is None:
        return len(one) == len(other) and len(one.known) == len(other.known)
    return len(one) == len(other) and np.array_equal(one.times, other.times)


ALIKE = 0.999  # correlation of the values
MOVES_ALIKE = 0.99  # and of their changes: two trends are alike without being one
FEWEST = 30  # rows that both have
ROWS = 20_000  # of a series that are looked at

# Axes: T time, K covariates, C channels.


class Shifted(NamedTuple):
    """known[t] is what the channel is at t + ahead."""

    covariate: int
    channel: int
    ahead: int  # below 0: what the channel was


def shifted_targets(series: Sequence[Series], horizon: int) -> list[Shifted]:
    """Covariates that tell a value of the horizon before it comes: row t holds the value of row t + ahead, where ahead
    is above −horizon. One that holds values a horizon old and older tells nothing that is not known.
    """
    longest = max(series, key=len)
    known, values = longest.known[: len(longest)][:ROWS], longest.values[:ROWS]
    found = []
    for covariate in range(known.shape[1]):
        for channel in range(values.shape[1]):
            nearest = max(shifts_of(known[:, covariate], values[:, channel], horizon), default=None)
            if nearest is not None:
                found.append(Shifted(covariate, channel, nearest[1]))
    return found


def shifts_of(known: Numbers, values: Numbers, horizon: int) -> Iterator[tuple[float, int]]:
    """(correlation, ahead) of every shift that makes two columns (T,) one."""
    for ahead in range(1 - horizon, horizon + 1):
        first, last = max(0, -ahead), min(len(known), len(values) - ahead)
        if last - first < FEWEST:
            continue
        one, other = known[first:last], values[first + ahead : last + ahead]
        alike = correlation(one, other)
        if alike > ALIKE and correlation(np.diff(one), np.diff(other)) > MOVES_ALIKE:
            yield alike, ahead


def correlation(one: Numbers, other: Numbers) -> float:
    """Pearson's, without its sign; 0 where one never changes."""
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return abs(float(one @ other)) / scale if scale > 0 else 0.0
