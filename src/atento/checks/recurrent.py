"""Contracts of recurrent cells and stacks: those of sequences, then streaming, padding anywhere, both directions."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from atento.checks.finding import CLOSE, Finding, difference, judged, not_applicable, tried
from atento.checks.sequences import check_sequence
from atento.checks.subject import CUTS, ROWS, TIME, Outputs, Subject, exact_copy, numbers_of, some_numbers
from atento.recurrent.cells import Cell
from atento.recurrent.stack import Stack
from atento.recurrent.unroll import unroll

# Axes: B rows, T time, I input.

BOTH_WAYS = "it reads in both directions"
HOLES = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1], [0, 1, 0, 1, 1, 0, 1]], dtype=torch.bool)


def check_cell(module: Cell[Any]) -> list[Finding]:
    """The contracts of a cell, unrolled over a sequence."""

    def walk(cell: Any, values: Tensor, state: Any, valid: Tensor | None) -> tuple[Tensor, Any]:
        walked = unroll(cell, values, state, valid=valid)
        return walked.outputs, walked.last

    return check_walk(module, walk, module.input_size)


def check_stack(module: Stack) -> list[Finding]:
    """The contracts of a stack of unrolled cells."""
    size, both = module.cell(0).input_size, module.directions == 2

    def walk(stack: Any, values: Tensor, state: Any, valid: Tensor | None) -> tuple[Tensor, Any]:
        stacked = stack(values, state, valid=valid)
        return stacked.outputs, stacked.last

    findings = check_walk(module, walk, size, not_causal=BOTH_WAYS if both else "")
    if not both:
        return [*findings, not_applicable("reversed", "it reads in one direction")]
    return [*findings, tried("reversed", partial(backward_direction, exact_copy(module), size))]


Unroll = Callable[[Any, Tensor, Any, Tensor | None], tuple[Tensor, Any]]  # module, values, state, valid


def check_walk(module: nn.Module, walk: Unroll, size: int, *, not_causal: str = "") -> list[Finding]:
    """The contracts of sequences, and those of a state that is carried from step to step."""

    def read(one: nn.Module, values: Tensor, valid: Tensor) -> Outputs:
        outputs, last = walk(one, values, None, valid)
        return Outputs(outputs, joined(last))

    streamed = partial(streaming, exact_copy(module), walk, size)
    return [
        *check_sequence(Subject(module, read, numbers_of(size), not_causal=not_causal)),
        not_applicable("streaming", not_causal) if not_causal else tried("streaming", streamed),
        tried("ragged", partial(padding_anywhere, exact_copy(module), walk, size)),
    ]


def streaming(module: Any, walk: Unroll, size: int) -> Finding:
    """A state carried over steps of 1, 3 and the rest gives the same as one pass."""
    values, state, outputs = some_numbers(ROWS, TIME, size), None, []
    with torch.no_grad():
        whole, last = walk(module, values, None, None)
        for first, until in pairwise(CUTS):
            part, state = walk(module, values[:, first:until], state, None)
            outputs.append(part)
    gap = max(difference(torch.cat(outputs, dim=1), whole), difference(joined(state), joined(last)))
    return judged("streaming", gap, CLOSE, "a state carried over steps of 1 and 3 gives the same as one pass")


def padding_anywhere(module: Any, walk: Unroll, size: int) -> Finding:
    """Padding anywhere, also between valid items: each row gives the same as its valid items alone."""
    values, gap = some_numbers(ROWS, TIME, size), 0.0
    with torch.no_grad():
        together, last = walk(module, values, None, HOLES)
        for row in range(ROWS):
            alone, end = walk(module, values[row : row + 1, HOLES[row]], None, None)
            gap = max(
                gap,
                difference(together[row, HOLES[row]], alone[0]),
                difference(joined(last)[row], joined(end)[0]),
            )
    return judged("ragged", gap, CLOSE, "padding anywhere: each row gives the same as its valid items alone")


def backward_direction(stack: Any, size: int) -> Finding:
    """Both directions by hand: the backward cells run forward over the reversed sequence."""
    values = some_numbers(ROWS, TIME, size)
    with torch.no_grad():
        found = stack(values).outputs
        for layer in range(stack.layers):
            forward, back = stack.cell(2 * layer), stack.cell(2 * layer + 1)
            directions = [steps(forward, values), steps(back, values.flip(1)).flip(1)]
            values = torch.cat(directions, dim=-1)
    words = "the backward direction is a pass over the reversed sequence"
    return judged("reversed", difference(found, values), CLOSE, words)


def steps(cell: Any, values: Tensor) -> Tensor:
    """The hidden states (B, T, H) of a cell, one step after another."""
    state, hidden = cell.start(values[:, 0]), []
    for time in range(values.size(1)):
        state = cell(values[:, time], state)
        hidden.append(state.hidden)
    return torch.stack(hidden, dim=1)


def joined(state: Any) -> Tensor:
    """All tensors of a nested state side by side."""
    return state if isinstance(state, Tensor) else torch.cat([joined(part) for part in state], dim=-1)
