"""Rows as the tasks take them: texts, lists of words, couples of texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atento.data.records import join_items, split_items
from atento.errors import InputError
from atento.estimators.frames import Rows, columns_of, require_present


def texts_of(rows: Rows, *, what: str = "X") -> list[str]:
    """One text per row; several columns are one text with spaces between, numbers as they are written."""
    columns = columns_of(rows)
    for column in columns:
        require_present(column, what)
    texts = (
        [" ".join(map(word_of, cells)) for cells in zip(*columns, strict=True)]
        if len(columns) > 1
        else [word_of(cell) for cell in columns[0]]
    )
    return require_filled(texts, what)


def word_of(cell: object) -> str:
    """A cell as text; a list of words with spaces between."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bytes):
        return cell.decode(errors="replace")
    if isinstance(cell, list | tuple | np.ndarray):
        return " ".join(map(word_of, cell))
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def holds_arrays(rows: Rows) -> bool:
    """Whether the rows of a list or of a frame's columns are sequences by themselves, which may be of any lengths."""
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        return False
    if isinstance(rows, str) or not hasattr(rows, "__len__") or hasattr(rows, "toarray") or not len(rows):
        return False
    first = columns_of(rows)[0][0]
    ragged = isinstance(rows, list | tuple) and len({np.shape(row) for row in rows}) == 1
    return isinstance(first, list | tuple | np.ndarray) and not (ragged and np.ndim(first) == 1)


def sequences_of(rows: Rows, *, what: str = "X") -> list[str]:
    """One sequence of numbers a row as text: arrays (N, T), (N, T, C), or lists of arrays; columns of lists are
    channels.
    """
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        cells: list[Any] = list(rows)
    else:
        columns = columns_of(rows)
        cells = [np.stack(row, axis=-1) if len(columns) > 1 else row[0] for row in zip(*columns, strict=True)]
    texts = []
    for at, cell in enumerate(cells):
        steps = np.asarray(cell, dtype=np.float64)
        if steps.ndim not in (1, 2) or not np.isfinite(steps).all():
            raise InputError(
                f"{what}[{at}] is no sequence of numbers.",
                found=f"shape {steps.shape}" if steps.ndim not in (1, 2) else "NaN or infinity",
                fix="give arrays (T,) or (T, C) of finite numbers",
            )
        texts.append(" ".join(",".join(map(repr, np.atleast_1d(step).tolist())) for step in steps))
    return require_filled(texts, what)


def word_lists_of(rows: Rows, *, what: str = "X") -> list[str]:
    """One list of words a row, tabs between them; a text is cut at white space."""
    (cells,) = columns_of(rows)
    require_present(cells, what)
    return require_filled(
        [join_items(cell.split() if isinstance(cell, str) else map(word_of, cell)) for cell in cells], what
    )


def pairs_of(rows: Rows, *, what: str = "X") -> list[str]:
    """Two texts per row, a tab between them: two columns, or a column of pairs."""
    columns = columns_of(rows)
    for column in columns:
        require_present(column, what)
    if len(columns) == 1 and columns[0] and len(columns[0][0]) == 2 and not isinstance(columns[0][0], str):
        columns = [[pair[0] for pair in columns[0]], [pair[1] for pair in columns[0]]]
    if len(columns) != 2:
        raise InputError(
            f"{what}: two texts per row are needed.", found=f"{len(columns)} columns", fix="give two columns"
        )
    both = [require_filled([word_of(cell) for cell in column], what) for column in columns]
    return [join_items(pair) for pair in zip(*both, strict=True)]


def label_lists_of(rows: Rows, *, what: str = "y") -> list[list[str]]:
    """Any number of labels a row; an array of 0 and 1 names its columns 0, 1, 2…"""
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return [[str(at) for at in np.flatnonzero(row)] for row in rows]
    (cells,) = columns_of(rows)
    require_present(cells, what)
    return [split_items(cell) if isinstance(cell, str) else [str(label).strip() for label in cell] for cell in cells]


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
