"""Arrays that numpy saved: (T,), (T, C) or (N, T, C) numbers, each series by its name, and as rows of a table.

Axes: N series, T time, C channels.

Arrays that numpy saved (.npz): X of (cases, time), (cases, time, channels) or (cases, channels, time), and y.
"""

import io
import zipfile

import numpy as np
from numpy.typing import NDArray

from atento.data.records import Place, Records, counted, in_words
from atento.data.tables.wide import GAP, LABEL, SEQUENCE
from atento.errors import InputError

Numbers = NDArray[np.float64]

KINDS = "biuf"  # of numpy's types that are numbers
REASONS = (ValueError, OSError, zipfile.BadZipFile, EOFError, KeyError, TypeError, OverflowError, MemoryError)


def load_rows(data: bytes, file: str) -> dict[str, NDArray[np.generic]]:
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
        arrays = load_rows(data, file)
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
    found, notes = series_in(load_rows(data, file), file)
    several, width = len(found) > 1, next(iter(found.values())).shape[1]
    columns = (*(("series", "step") if several else ()), *(str(number + 1) for number in range(width)))
    rows = [
        (*((name, str(step)) if several else ()), *map(repr, numbers))
        for name, values in found.items()
        for step, numbers in enumerate(values.tolist())
    ]
    lines = list(range(1, len(rows) + 1))
    return Records(columns, rows, lines, [], lambda line, at: Place(file, line, at + 1), tuple(notes))


# Axes: N cases, T time, C channels.

VALUES = ("x", "x_train", "data", "values", "series", "signals", "inputs", "x_test")
LABELS = ("y", "y_train", "label", "labels", "target", "targets", "classes", "y_test")
NUMBERS = "biuf"  # kinds of numpy's types


def read_arrays(data: bytes, file: str, *, time: str = "") -> Records:
    """A sequence and its label for each case; `time` is the axis of time, 1 or 2; empty: the longer one."""
    arrays = load(data, file)
    name, values = find(arrays, VALUES, file, sides=(2, 3), what="numbers of shape (cases, time, channels)")
    values, said = with_time_first(values, time, file, name)
    notes = [f"{file}: {name} of {counted(len(values), 'case')}, {said}"]
    ends = [last_step(case) for case in values]
    shorter = sum(end < values.shape[1] for end in ends)
    if shorter:
        notes.append(f"{counted(shorter, 'case')} with missing numbers at the end: read as shorter sequences")
    columns: list[tuple[str, ...]] = [tuple(write(case[:end]) for case, end in zip(values, ends, strict=True))]
    suffix = name.lower().removeprefix("x")
    named = [one for one in LABELS if not suffix or one.removeprefix("y") == suffix or not one.startswith("y")]
    if any(array.ndim == 1 and len(array) == len(values) for array in arrays.values()):
        beside, labels = find(arrays, named, file, sides=(1,), what="labels", rows=len(values))
        columns.append(tuple(map(plain, labels.tolist())))
        notes.append(f"{beside} holds the labels")
        name = f"{name} and {beside}"
    unread = [other for other in arrays if other not in name.split(" and ")]
    if unread:
        notes.append(f"{in_words(unread)} {'is' if len(unread) == 1 else 'are'} not read")
    rows = list(zip(*columns, strict=True))
    lines = list(range(1, len(rows) + 1))
    return Records(
        (SEQUENCE, LABEL)[: len(columns)],
        rows,
        lines,
        [],
        lambda line, at: Place(file, line, at + 1),
        tuple(notes),
        lambda line, step, channel: Place(file, line, step + 1),
    )


def load(data: bytes, file: str) -> dict[str, NDArray[np.generic]]:
    """All arrays of the file; objects, which only pickle could read, are refused."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (ValueError, OSError, zipfile.BadZipFile, EOFError, KeyError, AttributeError, TypeError) as error:
        objects = "pickle" in str(error).lower() and data[:2] == b"PK"
        raise InputError(
            f"{file}:1:1: this cannot be read as arrays of numpy.",
            found="an array of objects" if objects else str(error).split("\n")[0][:120] or type(error).__name__,
            fix="save arrays of numbers and texts: np.savez(FILE, X=values, y=labels); ragged ones as JSONL or Parquet",
        ) from None


def find(
    arrays: dict[str, NDArray[np.generic]],
    names: tuple[str, ...] | list[str],
    file: str,
    *,
    sides: tuple[int, ...],
    what: str,
    rows: int = 0,
) -> tuple[str, NDArray[np.generic]]:
    """The array that is named so, else the only one of that shape."""
    fits = {
        name: array
        for name, array in arrays.items()
        if array.ndim in sides and array.size and (not rows or len(array) == rows)
    }
    if 2 in sides:
        fits = {name: array for name, array in fits.items() if array.dtype.kind in NUMBERS}
    known = [name for wanted in names for name in fits if name.lower() == wanted]
    if known or len(fits) == 1:
        chosen = known[0] if known else next(iter(fits))
        return chosen, fits[chosen]
    shapes = in_words([f"{name} {array.shape}" for name, array in arrays.items()])
    raise InputError(
        f"{file}:1:1: which array holds {what}?",
        found=shapes or "no array",
        fix="name them X and y: np.savez(FILE, X=values, y=labels); arrays that are series: --task forecast",
    )


def with_time_first(values: NDArray[np.generic], time: str, file: str, name: str) -> tuple[NDArray[np.generic], str]:
    """(N, T, C), and what was guessed."""
    if values.ndim == 2:
        return values[:, :, None], f"{counted(values.shape[1], 'step')} of one channel"
    if time not in ("", "1", "2"):
        raise InputError(
            f"{file}: data.time is the axis of time in {name}.",
            found=f"data.time={time}, and {name} has the shape {values.shape}",
            fix="--set data.time=1 or --set data.time=2",
        )
    axis = int(time) if time else 1 if values.shape[1] >= values.shape[2] else 2
    turned = values if axis == 1 else values.swapaxes(1, 2)
    said = f"{counted(turned.shape[1], 'step')} of {counted(turned.shape[2], 'channel')}"
    guess = "" if time else f" (axis {axis} is time; --set data.time={3 - axis} takes the other)"
    return turned, said + guess


def last_step(case: NDArray[np.generic]) -> int:
    """How many steps (T, C) there are up to the last one of which any number is there."""
    if case.dtype.kind != "f":
        return len(case)
    there = np.flatnonzero(~np.isnan(case).all(axis=1))
    return int(there[-1]) + 1 if len(there) else len(case)


def write(case: NDArray[np.generic]) -> str:
    """A case (T, C) as one text, every number in full."""
    steps = (case.astype(np.int64) if case.dtype.kind == "b" else case).tolist()
    if case.shape[1] == 1:
        return " ".join(repr(step[0]) if step[0] == step[0] else GAP for step in steps)
    return " ".join(",".join(repr(number) if number == number else GAP for number in step) for step in steps)


def plain(label: object) -> str:
    """A label as text; a whole number without its point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
