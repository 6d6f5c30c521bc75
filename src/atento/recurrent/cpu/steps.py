"""A batch in the order of its steps: at each step the rows that still have an item, the longest row first.

Padding is neither read nor computed: rows are sorted by length, and a step takes those at the front that are long
enough. What a walk computes stays in one tensor for all steps, so that every weight has its gradient by one product.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from atento.layers.masking import valid_first
from atento.layers.products import LARGE, by_one_dnn, product, product_to_inputs, product_to_weight

# Axes: B batch, T time, M items of all steps in order, H hidden, D features, G a cell's product.

ROUNDED = 64  # products over all items have a multiple of this many rows: oneDNN compiles one for each number of rows


class StepOrder(NamedTuple):
    """Which items each step takes. States of all steps stand in one tensor (B + M, H), the first ones in front."""

    batch: int
    time: int
    sizes: list[int]  # rows of each step, never more than of the step before
    backward: bool
    places: Tensor | None  # (M,) the place b T + t of each item; None: nothing is padded
    rows: Tensor | None  # (B,) the rows, the longest first; None: as they are
    ends: Tensor | None  # (B,) the last state of each row among those of all steps; None: they are the last B

    @classmethod
    def of(cls, inputs: Tensor, valid: Tensor | None, *, backward: bool) -> "StepOrder":
        """The steps of inputs (B, T, D), of which valid (B, T) are real; None: all are."""
        batch, time = inputs.shape[:2]
        if valid is None or bool(valid.all()):
            return cls(batch, time, [batch] * time, backward, None, None, None)
        lengths = valid.sum(dim=1)
        rows = lengths.argsort(descending=True, stable=True)
        order = valid_first(valid.flip(1) if backward else valid)
        order = time - 1 - order if backward else order  # (B, T)
        live = lengths[rows] > torch.arange(int(lengths.max())).unsqueeze(1)  # (steps, B)
        sizes: list[int] = live.sum(dim=1).tolist()
        places = (rows * time + order[rows].mT)[: len(sizes)][live]
        first = torch.tensor([0, batch, *sizes]).cumsum(dim=0)  # of each step's states
        return cls(batch, time, sizes, backward, places, rows, first[lengths] + rows.argsort())

    @property
    def items(self) -> int:
        """How many items all steps take."""
        return sum(self.sizes)

    def take(self, values: Tensor) -> Tensor:
        """(B, T, D) -> (M, D), and zeros after them up to a round number of rows."""
        width = values.size(2)
        found = values.new_empty(-(-self.items // ROUNDED) * ROUNDED, width)
        self.take_into(found[: self.items], values)
        found[self.items :] = 0.0
        return found

    def take_into(self, found: Tensor, values: Tensor) -> None:
        """Write the items of values (B, T, D) to (M, D)."""
        if self.places is not None:
            torch.index_select(values.reshape(-1, values.size(2)), 0, self.places, out=found)
            return
        steps = values.transpose(0, 1)
        found.view(self.time, self.batch, -1).copy_(steps.flip(0) if self.backward else steps)

    def put(self, items: Tensor) -> Tensor:
        """(M, D) -> (B, T, D), zeros at padding."""
        if self.places is not None:
            found = items.new_zeros(self.batch * self.time, items.size(1))
            return found.index_copy_(0, self.places, items).view(self.batch, self.time, -1)
        steps = items.view(self.time, self.batch, -1)
        return (steps.flip(0) if self.backward else steps).transpose(0, 1)

    def sort(self, start: Tensor) -> Tensor:
        """The rows (B, H) of a first state, in the order of the steps."""
        return start if self.rows is None else start.index_select(0, self.rows)

    def unsort(self, states: Tensor) -> Tensor:
        """The first B rows of (B + M, H), in the order of the batch."""
        first = states[: self.batch]
        return first if self.rows is None else torch.empty_like(first).index_copy_(0, self.rows, first)

    def last(self, states: Tensor) -> Tensor:
        """The last state (B, H) of each row, of those of all steps (B + M, H)."""
        return states[-self.batch :].clone() if self.ends is None else states.index_select(0, self.ends)

    def add_to_last(self, states: Tensor, values: Tensor) -> None:
        """Add values (B, H) to the last states of the rows."""
        if self.ends is None:
            states[-self.batch :] += values
        else:
            states.index_add_(0, self.ends, values)

    def before(self, states: Tensor) -> Tensor:
        """The state (M, H) before each item, of those of all steps (B + M, H)."""
        if self.places is None:
            return states[: self.items]
        sizes = torch.tensor([self.batch, *self.sizes])
        back = torch.arange(self.batch, self.batch + self.items) - sizes[:-1].repeat_interleave(sizes[1:])
        return states.index_select(0, back)

    def split(self, items: Tensor) -> tuple[Tensor, ...]:
        """The items (M, D) of each step."""
        return torch.split(items, self.sizes)

    def split_before(self, states: Tensor) -> list[Tensor]:
        """The states before each step, of those of all steps (B + M, H); then those after the last step."""
        blocks = torch.split(states, [self.batch, *self.sizes])
        if self.places is None:
            return list(blocks)
        return [*(block[:size] for block, size in zip(blocks, self.sizes, strict=False)), blocks[-1]]


def widened(
    inputs: Tensor,
    start: Tensor,
    read_weight: Tensor,
    read_bias: Tensor,
    recur_weight: Tensor,
    recur_bias: Tensor,
    *,
    gates: int,
    lanes: int,
) -> tuple[Tensor, ...]:
    """The parts of a walk with units that are always 0, so that there are a multiple of `lanes`."""
    hidden = start.size(1)
    more = -hidden % lanes

    def widen(part: Tensor) -> Tensor:  # (gates × H, ...)
        zeros = part.new_zeros(gates, more, *part.shape[1:])
        return torch.cat([part.view(gates, hidden, *part.shape[1:]), zeros], dim=1).flatten(0, 1)

    wide = functional.pad(widen(recur_weight), (0, more))
    return inputs, functional.pad(start, (0, more)), widen(read_weight), widen(read_bias), wide, widen(recur_bias)


def add_product(sums: Tensor, values: Tensor, matrix: Tensor) -> None:
    """Add values (B, D) times a matrix (D, G) to sums (B, G), where they stand."""
    if len(values) * matrix.numel() >= LARGE and by_one_dnn(values, matrix):
        sums.add_(product(values, matrix.t()))
    else:
        sums.addmm_(values, matrix)


def read_gradients(
    steps: StepOrder, gradient: Tensor, inputs: Tensor, weight: Tensor, needs: Any
) -> list[Tensor | None]:
    """Gradients of inputs (B, T, D), weight and bias of a product (M, G); `needs`: which of the three are asked for."""
    found: list[Tensor | None] = [None, None, None]
    if needs[0]:
        found[0] = steps.put(product_to_inputs(gradient, weight)[: steps.items])
    if needs[1]:
        found[1] = product_to_weight(gradient, inputs)
    if needs[2]:
        found[2] = gradient.sum(dim=0)
    return found


def plain_walk(
    steps: StepOrder, reads: Tensor, state: tuple[Tensor, ...], advance: Callable[..., tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    """Outputs and last states of reads (B, T, G) by plain operations; `advance(read, state)` is one step."""
    flat = reads.reshape(-1, reads.size(2))
    if steps.places is None:
        ordered = reads.flip(1) if steps.backward else reads
        flat = ordered.transpose(0, 1).flatten(0, 1)
    else:
        flat = flat.index_select(0, steps.places)
    state = tuple(steps.sort(part) for part in state)
    outputs = [state[0][:0]]  # of a batch that is all padding
    for read in torch.split(flat, steps.sizes):
        moved = advance(read, tuple(part[: len(read)] for part in state))
        state = tuple(torch.cat([new, old[len(new) :]]) for new, old in zip(moved, state, strict=True))
        outputs.append(moved[0])
    return steps.put(torch.cat(outputs)), *(steps.unsort(part) for part in state)
