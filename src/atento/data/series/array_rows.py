"""Arrays that numpy saved: (T,), (T, C) or (N, T, C) numbers, each series by its name, and as rows of a table.

Axes: N series, T time, C channels.
"""

import io
import zipfile

import numpy as np
from numpy.typing import NDArray

from atento.data.records import Place, Records, in_words
from atento.errors import InputError

Numbers = NDArray[np.float64]

KINDS = "biuf"  # of numpy's types that are numbers
REASONS = (ValueError, OSError, zipfile.BadZipFile, EOFError, KeyError, TypeError, OverflowError, MemoryError)


def load(data: bytes, file: str) -> dict[str, NDArray[np.generic]]:
    """The arrays of a file by name; objects, which only pickle could read, are refused."""
    try:
        found = np.load(io.BytesIO(data), allow_pickle=False)
        return {"": found} if isinstance(found, np.ndarray) else {name: found[name] for name in found.files}
    except REASONS as error:
        raise InputError(
            f"{file}:1:1: this cannot be read as arrays of numpy.",
            found=str(error).split("\n")[0][:120] or type(error).__name__,
            fix="save an array of numbers: np.save(FILE, values)",
        ) from None


def are_series(data: bytes, file: str) -> bool:
    """Whether a file holds nothing but arrays of one axis, a series each, and no cases side by side."""
    try:
        arrays = load(data, file)
    except InputError:  # who reads cases says why
        return False
    return bool(arrays) and all(array.ndim == 1 and array.dtype.kind in KINDS for array in arrays.values())


def series_in(arrays: dict[str, NDArray[np.generic]], file: str) -> tuple[dict[str, Numbers], list[str]]:
    """Each series (T, C) by its name, and what was made of the arrays' shapes."""
    found: dict[str, Numbers] = {}
    notes = []
    for name, array in arrays.items():
        if array.dtype.kind not in KINDS or array.ndim not in (1, 2, 3) or not array.size:
            raise InputError(
                f"{file}:1:1: {f'the array {name!r}' if name else 'the array'} holds no series.",
                found=f"{array.dtype} of shape {array.shape}",
                fix="save numbers of shape (time,), (time, channels) or (series, time, channels)",
            )
        values = array.astype(np.float64)
        if array.ndim < 3:
            found[name] = values.reshape(len(values), -1)
        else:
            found |= {f"{name} {number + 1}".strip(): one for number, one in enumerate(values)}
        axes = ("time", "time, channels", "series, time, channels")[array.ndim - 1]
        notes.append(f"{name or file} of shape {array.shape} is read as ({axes})")
    widths = {one.shape[1] for one in found.values()}
    if len(widths) > 1:
        raise InputError(
            f"{file}:1:1: its arrays have different numbers of channels.",
            found=in_words([f"{name} {array.shape}" for name, array in arrays.items()]),
            fix="save arrays of as many channels each",
        )
    return found, notes


def read_array_rows(data: bytes, file: str) -> Records:
    """Every number as a text that says it in full; of several series, their names and steps stand first."""
    found, notes = series_in(load(data, file), file)
    several, width = len(found) > 1, next(iter(found.values())).shape[1]
    columns = (*(("series", "step") if several else ()), *(str(number + 1) for number in range(width)))
    rows = [
        (*((name, str(step)) if several else ()), *map(repr, numbers))
        for name, values in found.items()
        for step, numbers in enumerate(values.tolist())
    ]
    lines = list(range(1, len(rows) + 1))
    return Records(columns, rows, lines, [], lambda line, at: Place(file, line, at + 1), tuple(notes))
