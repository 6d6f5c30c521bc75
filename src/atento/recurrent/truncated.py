"""Parts of truncated back-propagation through time (Williams & Peng, 1990): chunks of time and functions of states.

`atento.training.gradients` runs the algorithm: the state goes on from chunk to chunk, its gradient does not.
"""

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from atento.errors import InputError


def chunks(length: int, chunk: int) -> Iterator[slice]:
    """Consecutive slices of `chunk` steps that cover `length` steps; the last may be shorter."""
    if chunk < 1:
        raise InputError("a chunk has at least one step.", found=f"chunk={chunk}", fix="chunk=32, for example")
    for first in range(0, length, chunk):
        yield slice(first, min(first + chunk, length))


def map_state(function: Any, *states: Any) -> Any:
    """Nested states with `function` applied to their tensors, position by position; what is no tensor stays."""
    first = states[0]
    if isinstance(first, Tensor):
        return function(*states)
    if isinstance(first, tuple):
        parts = [map_state(function, *some) for some in zip(*states, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return first
