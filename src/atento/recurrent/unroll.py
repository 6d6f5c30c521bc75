"""The walk over time. It knows nothing of gates."""

from typing import Any, Generic, NamedTuple

import torch
from torch import Tensor

from atento.layers.padding import clean
from atento.layers.shapes import require_items
from atento.recurrent.cells import Cell, State
from atento.recurrent.library import library_walk

# Axes: B batch, T time, I input, H hidden.


class Walk(NamedTuple, Generic[State]):
    """What a walk leaves behind."""

    outputs: Tensor  # (B, T, H) zero at padding
    last: State  # the state after each row's own last real step


def unroll(
    cell: Cell[State],
    inputs: Tensor,
    start: State | None = None,
    *,
    valid: Tensor | None = None,
    backward: bool = False,
) -> Walk[State]:
    """Walk a cell along inputs (B, T, I), from the right when `backward`; rows are walked as if each were alone.

    Padding may stand anywhere in `valid` (B, T); None: nothing is padded. Start None: the cell's own.
    """
    require_items("inputs", inputs, valid, width=cell.input_size, axes="B, T")
    state = cell.start(inputs[:, 0]) if start is None else start
    if valid is None:
        inputs = inputs.flip(1) if backward else inputs
        outputs, last = walk(cell, inputs, state, None)
        return Walk(outputs.flip(1) if backward else outputs, last)
    order = real_first(valid.flip(1) if backward else valid)  # (B, T)
    order = valid.size(1) - 1 - order if backward else order
    inputs, ordered = pick(clean(inputs, valid), order), valid.gather(1, order)
    outputs, last = walk(cell, inputs, state, ordered)
    return Walk(pick(clean(outputs, ordered), order.argsort(dim=1)), last)


def real_first(valid: Tensor) -> Tensor:
    """Positions (B, T) of the real items in order, then of the padding."""
    return torch.argsort(valid.logical_not().to(torch.uint8), dim=1, stable=True)


def pick(values: Tensor, order: Tensor) -> Tensor:
    """Values (B, T, D) along time in the given order (B, T)."""
    first = torch.arange(0, order.numel(), order.size(1), device=order.device).unsqueeze(1)  # (B, 1) of each row
    return values.flatten(0, 1).index_select(0, (order + first).flatten()).view_as(values)


def walk(cell: Cell[State], inputs: Tensor, state: State, valid: Tensor | None) -> tuple[Tensor, State]:
    """Forward in time, padding on the right: a library kernel where one knows the cell, else step by step."""
    fast = library_walk(cell, inputs, state, valid)
    if fast is not None:
        return fast
    reads = cell.read(inputs)  # one product for the whole sequence
    outputs = []
    for time in range(inputs.size(1)):
        moved = cell.advance(reads[:, time], state)
        state = moved if valid is None else hold(moved, state, valid[:, time])
        outputs.append(state.hidden)
    return torch.stack(outputs, dim=1), state


def hold(moved: Any, state: Any, real: Tensor) -> Any:
    """The moved state where the step was real (B,), the old one where it was padding."""
    return type(state)(*(torch.where(real.unsqueeze(-1), new, old) for new, old in zip(moved, state, strict=True)))
