"""What is known beforehand: columns of numbers, and columns of few texts as 0 and 1."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from atento.data.records import in_words
from atento.data.series.series import Numbers
from atento.data.series.sheet import Sheet
from atento.errors import InputError

MOST_TEXTS = 50  # different texts of a column
MARK = "="


class Covariates(NamedTuple):
    """Columns of numbers for all N rows of a table."""

    names: tuple[str, ...]
    columns: tuple[int, ...]  # the column of the table that each comes from
    values: Numbers  # (N, K); NaN: empty or none
    notes: tuple[str, ...]


def read_covariates(sheet: Sheet, known: Sequence[int], wanted: Sequence[str] = ()) -> Covariates:
    """The columns that are known beforehand; `wanted` are the names that a trained model expects, in its order."""
    names: list[str] = []
    columns: list[int] = []
    values: list[Numbers] = []
    notes: list[str] = []
    for at in known:
        numeric = sheet.is_numeric(at)
        if wanted:
            numeric = sheet.name(at) in wanted
        if numeric:
            names.append(sheet.name(at))
            columns.append(at)
            values.append(sheet.numbers(at).values)
            continue
        texts = texts_of(sheet, at, wanted)
        cells = np.array([cell.strip() for cell in sheet.columns[at]], dtype=object)
        empty = cells == ""
        for text in texts:
            names.append(f"{sheet.name(at)}{MARK}{text}")
            columns.append(at)
            values.append(np.where(empty, np.nan, (cells == text).astype(float)))
        notes.append(f"{sheet.name(at)!r} holds texts: {in_words([repr(text) for text in texts])} become columns of 0 and 1")
    stacked = np.stack(values, axis=1) if values else np.zeros((len(sheet), 0))
    return Covariates(tuple(names), tuple(columns), stacked, tuple(notes))


def texts_of(sheet: Sheet, at: int, wanted: Sequence[str]) -> list[str]:
    """The texts of a column that get a column each; of two texts one says all."""
    name = sheet.name(at)
    if wanted:
        return [each.removeprefix(name + MARK) for each in wanted if each.startswith(name + MARK)]
    texts = sorted({cell.strip() for cell in sheet.columns[at] if cell.strip()})
    if len(texts) > MOST_TEXTS:
        raise InputError(
            f"{sheet.table.file}:1: the column {name!r} holds {len(texts)} different texts, too many to be known beforehand.",
            found=in_words([repr(text) for text in texts[:5]]),
            fix="leave it out of data.known, or write numbers there",
        )
    return texts[1:] if len(texts) == 2 else texts
