"""What a fitted baseline has learned, as plain values and arrays that a file can hold, and back again.

`state_of(model)` walks over the attributes: numbers, texts, lists, tuples and dicts become JSON, arrays are collected
by name. `restore(model, state)` puts them into a new model of the same constructor. No class is named by a file: a type
that is neither plain nor made by the constructor stands in `state_types` of the class that uses it.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError

PLAIN = (bool, int, float, str)
DTYPES = ("float32", "float64", "int32", "int64", "bool")
KEPT = "name"  # the constructor gives it


class BaselineState(NamedTuple):
    """The attributes of a fitted baseline."""

    values: dict[str, Any]  # JSON; an array is named there, with its dtype and shape
    arrays: dict[str, NDArray[Any]]


def state_of(model: object) -> BaselineState:
    """All that a baseline has learned."""
    arrays: dict[str, NDArray[Any]] = {}
    return BaselineState(attributes_of(model, "", arrays), arrays)


def attributes_of(model: object, path: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The attributes of a model or a part of it; functions stay with the constructor."""
    return {
        key: written(value, f"{path}{key}", arrays, state_types(model))
        for key, value in vars(model).items()
        if key != KEPT and not callable(value)
    }


def written(value: Any, path: str, arrays: dict[str, NDArray[Any]], types: Mapping[str, Any]) -> Any:
    """One value as JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, PLAIN):
        return value
    if isinstance(value, np.ndarray):
        arrays[path] = value.copy(order="C")  # also of an empty array, whose strides may be negative
        return {"array": path, "dtype": str(value.dtype), "shape": list(value.shape)}
    if type(value).__name__ in types and hasattr(value, "to_json"):
        return {"type": type(value).__name__, "json": value.to_json()}
    if isinstance(value, list | tuple):
        items = [written(item, f"{path}.{place}", arrays, types) for place, item in enumerate(value)]
        if isinstance(value, list):
            return items
        return {"tuple": items, **({"type": type(value).__name__} if hasattr(value, "_fields") else {})}
    if isinstance(value, dict):
        return {
            "dict": [
                [written(key, "", arrays, types), written(one, f"{path}.{place}", arrays, types)]
                for place, (key, one) in enumerate(value.items())
            ]
        }
    return {"part": attributes_of(value, f"{path}.", arrays)}


def state_types(model: object) -> dict[str, Any]:
    """The types that a class names for its own attributes."""
    return {one.__name__: one for one in getattr(type(model), "state_types", ())}


def restore(model: object, state: BaselineState) -> None:
    """Put a state into a model that has just been made; one that does not fit it is refused."""
    used: set[str] = set()
    restore_attributes(model, state.values, state.arrays, "", used)
    extra = next((name for name in state.arrays if name not in used), None)
    if extra is not None:
        raise misfit(extra, "an array that the model does not have")


def restore_attributes(
    model: object, values: object, arrays: Mapping[str, NDArray[Any]], path: str, used: set[str]
) -> None:
    """The attributes of a model or a part of it: exactly those that the constructor made."""
    made = {key: value for key, value in vars(model).items() if key != KEPT and not callable(value)}
    if not isinstance(values, dict) or values.keys() != made.keys():
        found = sorted(values.keys() ^ made.keys()) if isinstance(values, dict) else type(values).__name__
        raise misfit(path or "the model", f"other attributes: {found}")
    for key, before in made.items():
        where = f"{path}{key}"
        saved = values[key]
        if isinstance(saved, dict) and "part" in saved:
            if not hasattr(before, "__dict__") or isinstance(before, dict):
                raise misfit(where, "a part that the constructor does not make")
            restore_attributes(before, saved["part"], arrays, f"{where}.", used)
            continue
        value = read(saved, where, arrays, state_types(model), used)
        if not alike(before, value):
            raise misfit(where, f"{kind_of(value)} where the model has {kind_of(before)}")
        setattr(model, key, value)


def read(saved: Any, path: str, arrays: Mapping[str, NDArray[Any]], types: Mapping[str, Any], used: set[str]) -> Any:
    """The value that `written` wrote."""
    if isinstance(saved, float) and not math.isfinite(saved):
        raise misfit(path, f"{saved}")
    if saved is None or isinstance(saved, PLAIN):
        return saved
    if isinstance(saved, list):
        return [read(item, f"{path}.{place}", arrays, types, used) for place, item in enumerate(saved)]
    if not isinstance(saved, dict):
        raise misfit(path, type(saved).__name__)
    if "array" in saved:
        return read_array(saved, path, arrays, used)
    if "dict" in saved and isinstance(saved["dict"], list):
        return {
            read(key, path, arrays, types, used): read(value, f"{path}.{place}", arrays, types, used)
            for place, (key, value) in enumerate(saved["dict"])
        }
    made = types.get(str(saved.get("type")))
    if "type" in saved and made is None:
        raise misfit(path, f"the type {saved['type']!r}")
    if "json" in saved and made is not None:
        return made.load(saved["json"])
    if "tuple" in saved:
        items = read(saved["tuple"], path, arrays, types, used)
        return tuple(items) if made is None else made(*items)
    raise misfit(path, f"keys {sorted(saved)}")


def read_array(saved: Mapping[str, Any], path: str, arrays: Mapping[str, NDArray[Any]], used: set[str]) -> NDArray[Any]:
    """An array of the dtype and shape that were written, all of whose numbers are finite."""
    array = arrays.get(path)
    if array is None or saved["array"] != path:
        raise misfit(path, "no such array")
    found, wanted = (str(array.dtype), list(array.shape)), (saved.get("dtype"), saved.get("shape"))
    if found != wanted or found[0] not in DTYPES:
        raise misfit(path, f"{found[0]} {found[1]} where the model has {wanted[0]} {wanted[1]}")
    if not np.isfinite(array).all():
        raise misfit(path, "numbers that are not finite")
    used.add(path)
    return array


def alike(before: Any, value: Any) -> bool:
    """Whether a value can stand where the constructor put another; None may become anything."""
    if before is None or (isinstance(before, float) and isinstance(value, int) and not isinstance(value, bool)):
        return True
    if isinstance(before, np.ndarray):
        return isinstance(value, np.ndarray) and before.dtype == value.dtype and before.ndim == value.ndim
    return kind_of(before) == kind_of(value)


def kind_of(value: Any) -> str:
    """The kind of a value in a word."""
    return next((kind.__name__ for kind in (*PLAIN, list, tuple, dict, np.ndarray) if isinstance(value, kind)), "part")


def misfit(path: str, found: str) -> InputError:
    """The one message for a state that does not fit its model."""
    return InputError(f"{path} does not fit the baseline.", found=found, fix="train again")
