"""Contracts of recurrent cells and stacks: those of sequences, then streaming, padding anywhere, both directions."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from atento.checks.finding import CLOSE, Finding, difference, judged, not_applicable, tried
from atento.checks.sequences import check_sequence
from atento.checks.subject import CUTS, ROWS, TIME, Outputs, Subject, exact_copy, numbers_of, seeded
from atento.recurrent.cells import Cell
from atento.recurrent.stack import Stack
from atento.recurrent.unroll import unroll

# Axes: B rows, T time, I input.

BOTH_WAYS = "it reads in both directions"
HOLES = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1], [0, 1, 0, 1, 1, 0, 1]], dtype=torch.bool)


def check_cell(module: Cell[Any]) -> list[Finding]:
    """The contracts of a cell, unrolled over a sequence."""

    def view(one: nn.Module) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            walked = unroll(one, values, valid=valid)  # type: ignore[arg-type]
            return Outputs(walked.outputs, torch.cat(walked.last, dim=-1))

        return Subject(one, read, numbers_of(module.input_size), again=view)

    def walk(one: Any, values: Tensor, state: Any, valid: Tensor | None) -> tuple[Tensor, Any]:
        walked = unroll(one, values, state, valid=valid)
        return walked.outputs, walked.last

    own = {
        "streaming": partial(streaming, walk=walk, size=module.input_size),
        "ragged": partial(padding_anywhere, walk=walk, size=module.input_size),
    }
    return check_sequence(module, view) + [tried(name, partial(law, exact_copy(module))) for name, law in own.items()]


def check_stack(module: Stack) -> list[Finding]:
    """The contracts of a stack of unrolled cells."""
    size, both = module.cell(0).input_size, module.directions == 2

    def view(one: nn.Module) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            stacked = one(values, valid=valid)
            return Outputs(stacked.outputs, torch.cat([part for state in stacked.last for part in state], dim=-1))

        return Subject(one, read, numbers_of(size), again=view, not_causal=BOTH_WAYS if both else "")

    def walk(one: Any, values: Tensor, state: Any, valid: Tensor | None) -> tuple[Tensor, Any]:
        stacked = one(values, state, valid=valid)
        return stacked.outputs, stacked.last

    own: dict[str, Callable[[Any], Finding]] = {
        "streaming": partial(streaming, walk=walk, size=size),
        "ragged": partial(padding_anywhere, walk=walk, size=size),
        "reversed": partial(backward_direction, size=size),
    }
    findings = check_sequence(module, view)
    for name, law in own.items():
        if name == "streaming" and both:
            findings.append(not_applicable(name, BOTH_WAYS))
        elif name == "reversed" and not both:
            findings.append(not_applicable(name, "it reads in one direction"))
        else:
            findings.append(tried(name, partial(law, exact_copy(module))))
    return findings


Unroll = Callable[[Any, Tensor, Any, Tensor | None], tuple[Tensor, Any]]  # module, values, state, valid


def streaming(module: Any, *, walk: Unroll, size: int) -> Finding:
    """A state carried over steps of 1, 3 and the rest gives the same as one pass."""
    values, state, outputs = inputs(size), None, []
    with torch.no_grad():
        whole, last = walk(module, values, None, None)
        for first, until in pairwise(CUTS):
            part, state = walk(module, values[:, first:until], state, None)
            outputs.append(part)
    gap = max(difference(torch.cat(outputs, dim=1), whole), difference(joined(state), joined(last)))
    return judged("streaming", gap, CLOSE, "a state carried over steps of 1 and 3 gives the same as one pass")


def padding_anywhere(module: Any, *, walk: Unroll, size: int) -> Finding:
    """Padding anywhere, also between valid items: each row gives the same as its valid items alone."""
    values, gap = inputs(size), 0.0
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


def backward_direction(stack: Any, *, size: int) -> Finding:
    """Both directions by hand: the backward cells run forward over the reversed sequence."""
    values = inputs(size)
    with torch.no_grad():
        found = stack(values).outputs
        for layer in range(stack.layers):
            forward, back = stack.cell(2 * layer), stack.cell(2 * layer + 1)
            directions = [steps(forward, values), steps(back, values.flip(1)).flip(1)]
            values = torch.cat(directions, dim=-1)
    return judged(
        "reversed",
        difference(found, values),
        CLOSE,
        "the backward direction is a pass over the reversed sequence",
    )


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


def inputs(size: int) -> Tensor:
    """Random values, the same each time."""
    with seeded():
        return torch.randn(ROWS, TIME, size, dtype=torch.float64)
