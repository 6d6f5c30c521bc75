"""Arrays saved by numpy (.npy, .npz), as rows of a table.

Time series are arrays (T,), (T, C) or (N, T, C): a row for each time step. Labelled sequences are an array X of
(N, T), (N, T, C) or (N, C, T) and an array y of N labels: a row for each sequence.
"""

import io
import zipfile
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atento.data.files.archives import open_zip
from atento.data.records import Place, Records, counted, in_words
from atento.data.tables.wide import LABEL, MISSING_NUMBER, SEQUENCE
from atento.errors import InputError

# Axes: N series or sequences, T time, C channels.

Numbers = NDArray[np.float64]
Arrays = dict[str, NDArray[np.generic]]

MOST_BYTES = 2**33  # of all arrays, decompressed
NUMERIC_KINDS = "biuf"  # of numpy's types
VALUE_NAMES = ("x", "x_train", "data", "values", "series", "signals", "inputs", "x_test")
LABEL_NAMES = ("y", "y_train", "label", "labels", "target", "targets", "classes", "y_test")
LOAD_ERRORS = (ValueError, OSError, zipfile.BadZipFile, EOFError, KeyError, TypeError, OverflowError, MemoryError)


def load_arrays(data: bytes, file: str) -> Arrays:
    """The arrays of a file by name, a single array as ""; arrays of objects, which need pickle, raise an error."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        archive, _ = open_zip(io.BytesIO(data), file, together=MOST_BYTES)  # one that grows without limit is refused
        archive.close()
    try:
        found = np.load(io.BytesIO(data), allow_pickle=False)
        return {"": found} if isinstance(found, np.ndarray) else {name: found[name] for name in found.files}
    except LOAD_ERRORS as error:
        objects = "pickle" in str(error).lower() and data[:2] == b"PK"
        raise InputError(
            f"{file}:1:1: this cannot be read as arrays of numpy.",
            found="an array of objects" if objects else str(error).split("\n")[0][:120] or type(error).__name__,
            fix="save numbers, a series by np.save(FILE, values), labelled sequences by np.savez(FILE, X=values, "
            "y=labels); sequences of different lengths as JSONL or Parquet",
        ) from None


def are_series(data: bytes, file: str) -> bool:
    """Whether a file holds one-dimensional arrays of numbers only, each of them a series."""
    try:
        arrays = load_arrays(data, file)
    except InputError:  # raised again by the reader of labelled sequences
        return False
    return bool(arrays) and all(array.ndim == 1 and array.dtype.kind in NUMERIC_KINDS for array in arrays.values())


def series_in(arrays: Arrays, file: str) -> tuple[dict[str, Numbers], list[str]]:
    """Each series (T, C) by its name, and notes on how the shapes of the arrays are read."""
    found: dict[str, Numbers] = {}
    notes = []
    for name, array in arrays.items():
        if array.dtype.kind not in NUMERIC_KINDS or array.ndim not in (1, 2, 3) or not array.size:
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
            fix="save arrays of equally many channels",
        )
    return found, notes


def read_series_arrays(data: bytes, file: str) -> Records:
    """A row for each time step, all digits of a number written; for several series, first their name and step."""
    found, notes = series_in(load_arrays(data, file), file)
    several, width = len(found) > 1, next(iter(found.values())).shape[1]
    columns = (*(("series", "step") if several else ()), *(str(number + 1) for number in range(width)))
    rows = [
        (*((name, str(step)) if several else ()), *map(repr, numbers))
        for name, values in found.items()
        for step, numbers in enumerate(values.tolist())
    ]
    lines = list(range(1, len(rows) + 1))
    return Records(columns, rows, lines, [], lambda line, at: Place(file, line, at + 1), tuple(notes))


def read_case_arrays(data: bytes, file: str, *, time: str = "") -> Records:
    """A row with a sequence and its label for each case; `time` is the axis of time, 1, 2 or "" for the longer one."""
    arrays = load_arrays(data, file)
    name, values = find_array(arrays, VALUE_NAMES, file, sides=(2, 3), what="numbers of shape (cases, time, channels)")
    values, shape = with_time_first(values, time, file, name)
    notes = [f"{file}: {name} of {counted(len(values), 'case')}, {shape}"]
    lengths = [real_steps(case) for case in values]
    shorter = sum(length < values.shape[1] for length in lengths)
    if shorter:
        notes.append(f"{counted(shorter, 'case')} with missing numbers at the end: read as shorter sequences")
    columns: list[tuple[str, ...]] = [
        tuple(write_case(case[:length]) for case, length in zip(values, lengths, strict=True))
    ]
    suffix = name.lower().removeprefix("x")
    named = [one for one in LABEL_NAMES if not suffix or one.removeprefix("y") == suffix or not one.startswith("y")]
    if any(array.ndim == 1 and len(array) == len(values) for array in arrays.values()):
        label_name, labels = find_array(arrays, named, file, sides=(1,), what="labels", rows=len(values))
        whole = (int(one) if isinstance(one, float) and one.is_integer() else one for one in labels.tolist())
        columns.append(tuple(map(str, whole)))
        notes.append(f"{label_name} holds the labels")
        name = f"{name} and {label_name}"
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


def find_array(
    arrays: Arrays, names: Sequence[str], file: str, *, sides: tuple[int, ...], what: str, rows: int = 0
) -> tuple[str, NDArray[np.generic]]:
    """The array with one of these names, else the only one with so many axes."""
    fits = {
        name: array
        for name, array in arrays.items()
        if array.ndim in sides and array.size and (not rows or len(array) == rows)
    }
    if 2 in sides:
        fits = {name: array for name, array in fits.items() if array.dtype.kind in NUMERIC_KINDS}
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
    """The values as (N, T, C), and a note on their shape."""
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
    note = f"{counted(turned.shape[1], 'step')} of {counted(turned.shape[2], 'channel')}"
    guess = "" if time else f" (axis {axis} is time; --set data.time={3 - axis} takes the other)"
    return turned, note + guess


def real_steps(case: NDArray[np.generic]) -> int:
    """The number of steps of a case (T, C) without those at the end at which all numbers are missing."""
    if case.dtype.kind != "f":
        return len(case)
    real = np.flatnonzero(~np.isnan(case).all(axis=1))
    return int(real[-1]) + 1 if len(real) else len(case)


def write_case(case: NDArray[np.generic]) -> str:
    """A case (T, C) as one text, all digits of a number written."""
    steps = (case.astype(np.int64) if case.dtype.kind == "b" else case).tolist()
    return " ".join(",".join(repr(number) if number == number else MISSING_NUMBER for number in step) for step in steps)
