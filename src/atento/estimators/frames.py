"""What users hold their rows in: lists, numpy, pandas, polars or Arrow in, the same kind out."""

from collections.abc import Iterable, Sequence, Sized
from typing import Any, Literal

import narwhals as nw
import numpy as np

from atento.data.sources.in_memory import is_missing
from atento.errors import InputError

Kind = Literal["default", "pandas", "polars"]  # of what is predicted; default: the kind that X has
Rows = Any  # what users hold their rows in: a list, an array, a series or a frame of numpy, pandas, polars or Arrow


def columns_of(rows: Rows) -> list[list[Any]]:
    """The columns of a frame, or a series, an array or a list as one column; a 2-D array has several."""
    if isinstance(rows, str | bytes):
        raise InputError("one text is not a list of rows.", found=repr(rows)[:60], fix="give a list: [text]")
    frame = nw.from_native(rows, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [column.to_list() for column in frame.iter_columns()]
    if isinstance(frame, nw.Series):
        return [frame.to_list()]
    if is_arrow_array(rows):
        return [rows.to_pylist()]
    if isinstance(rows, np.ndarray):
        return [rows.tolist()] if rows.ndim == 1 else [column.tolist() for column in rows.T]
    return [list(rows) if hasattr(rows, "__iter__") else np.asarray(rows).tolist()]


def is_arrow_array(rows: Rows) -> bool:
    """An Arrow array or chunked array; a table is a frame."""
    return type(rows).__module__.startswith("pyarrow") and hasattr(rows, "to_pylist") and not hasattr(rows, "columns")


def like(rows: Rows, values: Sequence[object], kind: Kind = "default") -> Rows:
    """One value per row, in the kind the rows came in, or as a series of pandas or polars; an index is kept."""
    frame = nw.from_native(rows, allow_series=True, eager_only=True, pass_through=True)
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    if kind != "default":
        return with_index(nw.new_series("prediction", plain, backend=kind).to_native(), frame, kind)
    if isinstance(frame, nw.DataFrame | nw.Series):
        return with_index(nw.new_series("prediction", plain, backend=frame.implementation).to_native(), frame)
    if is_arrow_array(rows):
        import pyarrow

        return pyarrow.array(plain)
    if isinstance(rows, np.ndarray):
        return as_array(values)
    return list(values)


def table_like(rows: Rows, values: np.ndarray, names: Iterable[object], kind: Kind = "default") -> Rows:
    """Several numbers a row (N, C): a frame where the rows came in one or `kind` asks for one, else an array."""
    frame = nw.from_native(rows, allow_series=True, eager_only=True, pass_through=True)
    if kind == "default" and not isinstance(frame, nw.DataFrame | nw.Series):
        return values
    columns = {str(name): values[:, at].tolist() for at, name in enumerate(names)}
    backend: Any = frame.implementation if kind == "default" else kind
    return with_index(nw.from_dict(columns, backend=backend).to_native(), frame, kind)


def with_index(made: Rows, frame: Any, kind: Kind = "default") -> Rows:
    """The rows named as those of the frame they answer, where both have names, as those of pandas."""
    index = nw.maybe_get_index(frame) if isinstance(frame, nw.DataFrame | nw.Series) else None
    if index is not None and kind != "polars":
        made.index = index
    return made


def require_present(cells: Sequence[object], what: str, *, blank: bool = False) -> None:
    """Refuse missing cells: None, NaN, NA; with `blank`, and inside lists, also texts of nothing but white space."""
    missing = [at for at, cell in enumerate(cells) if holds_missing(cell, blank=blank)]
    if missing:
        raise InputError(
            f"Input {what} contains NaN: {len(missing)} of {len(cells)} rows are missing, first at index {missing[0]}.",
            found=repr(cells[missing[0]])[:60],
            fix="leave these rows out, or fill them in",
        )


def holds_missing(cell: object, *, blank: bool) -> bool:
    """Whether a cell is missing, or one of its items is."""
    if isinstance(cell, list | tuple):
        return any(holds_missing(item, blank=True) for item in cell)
    return is_missing(cell) or (blank and isinstance(cell, str) and not cell.strip())


def as_array(values: Sequence[object]) -> np.ndarray:
    """A 1-D array, also of lists of unlike length."""
    if values and isinstance(values[0], list | tuple):
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
        return array
    return np.asarray(values)


def require_rows(given: Sized, wanted: int, what: str) -> None:
    """As many of one thing as of the other."""
    if len(given) != wanted:
        raise InputError(
            f"X and {what} have inconsistent numbers of rows.",
            found=f"{wanted} rows of X, {len(given)} of {what}",
            fix="give one for each row",
        )
