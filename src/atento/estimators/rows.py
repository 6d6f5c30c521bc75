"""Rows as the tasks take them: texts, lists of words, couples of texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atento.data.lists import join, split
from atento.errors import InputError
from atento.estimators.frames import columns_of


def texts_of(rows: Any, *, what: str = "X") -> list[str]:
    """One text a row; several columns are one text with spaces between, numbers as they are written."""
    columns = columns_of(rows)
    texts = (
        [" ".join(map(word_of, cells)) for cells in zip(*columns, strict=True)]
        if len(columns) > 1
        else [word_of(cell) for cell in columns[0]]
    )
    return require_filled(texts, what)


def word_of(cell: Any) -> str:
    """A cell as text; a list of words with spaces between."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, list | tuple | np.ndarray):
        return " ".join(map(word_of, cell))
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def word_lists_of(rows: Any, *, what: str = "X") -> list[str]:
    """One list of words a row, tabs between them; a text is cut at white space."""
    (cells,) = columns_of(rows)
    return require_filled([join(cell.split() if isinstance(cell, str) else map(str, cell)) for cell in cells], what)


def couples_of(rows: Any, *, what: str = "X") -> list[str]:
    """Two texts a row, a tab between them: two columns, or a column of pairs."""
    columns = columns_of(rows)
    if len(columns) == 1 and columns[0] and len(columns[0][0]) == 2 and not isinstance(columns[0][0], str):
        columns = [[pair[0] for pair in columns[0]], [pair[1] for pair in columns[0]]]
    if len(columns) != 2:
        raise InputError(
            f"{what}: two texts a row are needed.", found=f"{len(columns)} columns", fix="give two columns"
        )
    both = [require_filled([word_of(cell) for cell in column], what) for column in columns]
    return [join(pair) for pair in zip(*both, strict=True)]


def label_lists_of(rows: Any, *, what: str = "y") -> list[list[str]]:
    """Any number of labels a row; an array of 0 and 1 names its columns 0, 1, 2…"""
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return [[str(at) for at in np.flatnonzero(row)] for row in rows]
    (cells,) = columns_of(rows)
    return [split(cell) if isinstance(cell, str) else [str(label) for label in cell] for cell in cells]


def require_filled(texts: Sequence[str], what: str) -> list[str]:
    """No row may be empty."""
    if not texts:
        raise InputError(f"{what} has no rows.", found="0 sample(s)", fix="give at least one")
    for at, text in enumerate(texts):
        if not text.strip():
            raise InputError(
                f"{what}[{at}] is empty.", found=repr(text), fix="write a text there, or leave the row out"
            )
    return list(texts)
