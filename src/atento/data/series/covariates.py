"""What is known beforehand: columns of numbers, and columns of few texts as 0 and 1."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from atento.data.records import excerpt, in_words
from atento.data.series.grid import fault
from atento.data.series.series import Numbers
from atento.data.series.sheet import Sheet
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
