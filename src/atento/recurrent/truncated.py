"""Truncated backpropagation through time: the state goes on from chunk to chunk, its gradient does not."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.errors import InputError
from atento.recurrent.stack import Stack

# Axes: B batch, T time, C steps of a chunk, I input, D what a stack says.


class Chunk(NamedTuple):
    """Some steps in a row."""

    steps: slice  # which of the whole sequence
    outputs: Tensor  # (B, C, D)
    last: tuple[Any, ...]  # the states after it, as `Stacked.last`; still attached


def unroll_truncated(
    stack: Stack,
    inputs: Tensor,
    start: tuple[Any, ...] | None = None,
    *,
    chunk: int,
    valid: Tensor | None = None,
    reset: Tensor | None = None,
) -> Iterator[Chunk]:
    """Walk inputs (B, T, I) in chunks of so many steps (Williams & Peng, 1990); a chunk of T is plain BPTT.

    `reset` (B, T) is True where a new sequence begins: before that step the row goes back to its start. Learn from each
    chunk as it comes; `start` may be the last states of an earlier walk.
    """
    require_chunk(chunk)
    if stack.directions == 2:
        raise InputError(
            "a stack of both directions cannot be walked in chunks: its way back begins at the end.",
            found="bidirectional=True",
            fix="use a stack of one direction, or chunk = the whole length",
        )
    state = stack.start(inputs[:, 0]) if start is None else start
    for steps in chunks(inputs.size(1), chunk):
        state = detached(state)
        here = inputs[:, steps], None if valid is None else valid[:, steps], None if reset is None else reset[:, steps]
        outputs, state = walk_with_resets(stack, *here, state)
        yield Chunk(steps, outputs, state)


def walk_with_resets(
    stack: Stack, inputs: Tensor, valid: Tensor | None, reset: Tensor | None, state: tuple[Any, ...]
) -> tuple[Tensor, tuple[Any, ...]]:
    """One walk, cut where any row begins anew; the gradient of other rows passes the cut."""
    cuts = [] if reset is None else reset.any(dim=0).nonzero().squeeze(-1).tolist()
    borders = sorted({0, *cuts, inputs.size(1)})
    outputs = []
    for first, end in pairwise(borders):
        if reset is not None:
            state = restarted(state, stack.start(inputs[:, 0]), reset[:, first])
        stacked = stack(inputs[:, first:end], state, valid=None if valid is None else valid[:, first:end])
        outputs.append(stacked.outputs)
        state = stacked.last
    return torch.cat(outputs, dim=1), state


def chunks(length: int, chunk: int) -> Iterator[slice]:
    """Slices of so many steps, one after the other; the last may be shorter."""
    require_chunk(chunk)
    for first in range(0, length, chunk):
        yield slice(first, min(first + chunk, length))


def detached(state: Any) -> Any:
    """The same nested state without its past."""
    return mapped(Tensor.detach, state)


def restarted(state: Any, start: Any, rows: Tensor) -> Any:
    """The same nested state, with the rows (B,) that begin anew at their start."""
    return mapped(lambda now, first: torch.where(rows.view(-1, *[1] * (now.dim() - 1)), first, now), state, start)


def mapped(function: Any, *states: Any) -> Any:
    """A function of each tensor of nested states; what is no tensor stays."""
    first = states[0]
    if isinstance(first, Tensor):
        return function(*states)
    if isinstance(first, tuple):
        parts = [mapped(function, *some) for some in zip(*states, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return first


def require_chunk(chunk: int) -> None:
    """At least one step."""
    if chunk < 1:
        raise InputError("a chunk has at least one step.", found=f"chunk={chunk}", fix="chunk=32, for example")
