"""Rows that a program holds as a file in memory: data frames, columns, arrays, lists of rows, and (X, y).

The rows are written as JSON lines, so that they pass through the same readers as any file.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Number
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from atento.data.files.memory import MemoryFile, keep
from atento.data.records import excerpt
from atento.errors import InputError

Columns = dict[str, list[Any]]
NAMES = ("text", "label")  # of two columns that have no names
LONGEST_NAME = 255  # bytes, of a file


def hold(data: Any) -> MemoryFile:
    """The rows as a file, under the name of their type; it can be read as long as the object is held."""
    if isinstance(data, tuple) and len(data) == 2 and all(map(is_column, data)):
        return hold_columns(join_target(*data), "X-y")
    title = type(data).__name__
    frame = nw.from_native(data, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.Series) or isinstance(data, Mapping) or is_array(data):
        return hold_columns(columns_of(data), title)
    refuse_no_rows(data)
    rows = list(data)
    if not rows:
        raise InputError("the data has no rows.", found=f"an empty {title}", fix="give at least one row")
    if all(isinstance(row, Mapping) for row in rows):
        return write_rows(rows, title)
    return hold_columns(columns_of(rows), title)


def refuse_no_rows(data: Any) -> None:
    """What is no path and holds no rows gets an answer that says what can be given."""
    what = f"{type(data).__module__}.{type(data).__name__}".removeprefix("builtins.")
    if hasattr(data, "read"):
        raise InputError("this is an open file, not its path.", found=what, fix="give the path, e.g. file.name")
    if isinstance(data, bytes | bytearray) or not isinstance(data, Iterable) or hasattr(data, "state_dict"):
        fix = "give the path of a file, a data frame, a list of rows, or (X, y)"
        if hasattr(data, "state_dict"):
            fix = "give the data first and the module as the model: atento.fit((X, y), model=module, loss=loss)"
        raise InputError("this is no data.", found=f"an object of type {what}", fix=fix)


def require_path(text: str) -> None:
    """A text that cannot be a path was meant to be something else."""
    if "\n" in text or any(len(part.encode(errors="replace")) > LONGEST_NAME for part in re.split("[/,]", text)):
        raise InputError(
            "this text is no path of a file.",
            found=f"{excerpt(text)} ({len(text):,} characters)",
            fix="write the text to a file and give its path, or give a list of texts",
        )


def is_array(data: Any) -> bool:
    """An array or a tensor."""
    return isinstance(data, np.ndarray) or (hasattr(data, "numpy") and hasattr(data, "ndim"))


def is_column(data: Any) -> bool:
    """Whether something holds a value for each row: a list, an array, a column or a frame."""
    return not isinstance(data, str | bytes | Mapping) and hasattr(data, "__len__") and hasattr(data, "__iter__")


def columns_of(data: Any) -> Columns:
    """The columns of a frame, a mapping, an array or a list by their names."""
    frame = nw.from_native(data, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = {str(column.name): column.to_list() for column in frame.iter_columns()}
        return {**index_columns(data, taken=columns), **columns}
    if isinstance(frame, nw.Series):
        values = frame.to_list()
        name = str(frame.name or ("y" if are_numbers(values) else NAMES[0]))
        return {**index_columns(data, taken=(name,)), name: values}
    if isinstance(data, Mapping):
        return {str(name): list(values) for name, values in data.items()}
    rows = np.asarray(data).tolist() if is_array(data) else list(data)
    if all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return columns_of_lists([list(row) for row in rows])
    return {"y" if are_numbers(rows) else NAMES[0]: rows}


def columns_of_lists(rows: list[list[Any]]) -> Columns:
    """Rows that are lists: of words, or of one value for each column."""
    width = len(rows[0])
    odd = next((at for at, row in enumerate(rows) if len(row) != width), None)
    if odd is not None:
        raise InputError(
            f"row {odd} has another length than row 0.",
            found=f"{len(rows[odd])} and {width} values",
            fix='give rows of one length, or dicts with names, e.g. {"text": "…", "label": "…"}',
        )
    names = NAMES if width == len(NAMES) and not are_numbers(rows[0]) else tuple(str(at + 1) for at in range(width))
    if are_numbers(rows[0]):
        names = tuple(f"y{at + 1}" for at in range(width))
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether the first values that are not missing are numbers."""
    first = [value for value in values if not is_missing(value)][:20]
    return bool(first) and all(isinstance(value, Number) and not isinstance(value, bool) for value in first)


def index_columns(data: Any, *, taken: Iterable[str]) -> Columns:
    """The index of pandas as columns where it holds times, or has names; a plain numbering of rows is left out."""
    index = getattr(data, "index", None)
    if index is None or callable(index) or not hasattr(index, "nlevels"):
        return {}
    levels = [index.get_level_values(at) for at in range(index.nlevels)]
    timed = [str(level.dtype).startswith(("datetime64", "period")) for level in levels]
    if not any(timed) and index.nlevels == 1:
        return {}
    names = [
        str(level.name or ("ds" if is_time else f"level_{at}"))
        for at, (level, is_time) in enumerate(zip(levels, timed, strict=True))
    ]
    return {name: list(level) for name, level in zip(names, levels, strict=True) if name not in set(taken)}


def join_target(inputs: Any, target: Any) -> Columns:
    """The columns of X and of y side by side."""
    left, right = named_columns(inputs, NAMES[0]), named_columns(target, NAMES[1])
    counts = [len(next(iter(part.values()), [])) for part in (left, right)]
    if counts[0] != counts[1]:
        raise InputError(
            "X and y have inconsistent numbers of rows.",
            found=f"{counts[0]} rows of X, {counts[1]} of y",
            fix="give one y for each row of X",
        )
    return {**left, **{name if name not in left else f"{name}_y": values for name, values in right.items()}}


def named_columns(part: Any, name: str) -> Columns:
    """The columns of a frame; all else is one column, which may hold a list or an array for each row."""
    frame = nw.from_native(part, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return columns_of(part)
    if isinstance(frame, nw.Series):
        return {str(frame.name or name): frame.to_list()}
    return {name: np.asarray(part).tolist() if is_array(part) else list(part)}


def hold_columns(columns: Columns, title: str) -> MemoryFile:
    """Columns of one length as a file."""
    counts = {name: len(values) for name, values in columns.items()}
    if not columns or not any(counts.values()):
        raise InputError("the data has no rows.", found=f"an empty {title}", fix="give at least one row")
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise InputError("the columns have different lengths.", found=found, fix="give one value for each row")
    return write_rows([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], title)


def write_rows(rows: Sequence[Mapping[Any, Any]], title: str) -> MemoryFile:
    """One JSON object a row."""
    lines = [line_of(row, at) for at, row in enumerate(rows)]
    return keep(f"{title}.jsonl", "".join(f"{line}\n" for line in lines).encode())


def line_of(row: Mapping[Any, Any], at: int) -> str:
    """A row as JSON; a text that UTF-8 cannot hold keeps its escape, which the reader refuses."""
    value = {str(name): plain(cell, f"row {at}, column {str(name)!r}") for name, cell in row.items()}
    line = json.dumps(value, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return line


def is_missing(value: Any) -> bool:
    """None, NaN, and the missing values of pandas."""
    return (
        value is None
        or (isinstance(value, float | np.floating) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    )


def plain(value: Any, where: str) -> Any:
    """A cell in terms of JSON: missing values as null, times as text, arrays as lists."""
    if is_missing(value):
        return None
    if isinstance(value, str | bool | int | float):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time | Decimal | Path):
        return str(value)
    if isinstance(value, np.datetime64):
        return str(value).replace("T", " ")
    if isinstance(value, np.generic | np.ndarray) or is_array(value):
        return plain(np.asarray(value).tolist(), where)
    if isinstance(value, Mapping):
        return {str(name): plain(part, where) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part, where) for part in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            pass
    if type(value).__name__ in ("Period", "Timedelta", "timedelta"):
        return str(value)
    raise InputError(
        f"{where} is neither text nor number.",
        found=f"an object of type {type(value).__name__}",
        fix="give texts, numbers, times, or lists of them",
    )
