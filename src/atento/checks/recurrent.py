"""Contracts of recurrence: all those of sequences, then streaming, ragged rows, and the way back."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from atento.checks.finding import CLOSE, Finding, apart, aside, judged, tried
from atento.checks.sequences import check_sequence
from atento.checks.subject import CUTS, ROWS, TIME, Outputs, Subject, chance, exact_copy, numbers_of
from atento.recurrent.cells import Cell
from atento.recurrent.stack import Stack
from atento.recurrent.unroll import unroll

# Axes: B rows, T time, I input.

BOTH_WAYS = "it reads in both directions"
HOLES = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1], [0, 1, 0, 1, 1, 0, 1]], dtype=torch.bool)


def check_cell(module: Cell[Any]) -> list[Finding]:
    """A cell, walked."""

    def view(one: nn.Module) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            walked = unroll(one, values, valid=valid)  # type: ignore[arg-type]
            return Outputs(walked.outputs, torch.cat(walked.last, dim=-1))

        return Subject(one, read, numbers_of(module.input_size), over=view)

    def walk(one: Any, values: Tensor, state: Any, valid: Tensor | None) -> tuple[Tensor, Any]:
        walked = unroll(one, values, state, valid=valid)
        return walked.outputs, walked.last

    own = {
        "streaming": partial(streaming, walk=walk, size=module.input_size),
        "ragged": partial(ragged_rows, walk=walk, size=module.input_size),
    }
    return check_sequence(module, view) + [tried(name, partial(law, exact_copy(module))) for name, law in own.items()]


def check_stack(module: Stack) -> list[Finding]:
    """Walks on top of each other."""
    size, both = module.cell(0).input_size, module.directions == 2

    def view(one: nn.Module) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            stacked = one(values, valid=valid)
            return Outputs(stacked.outputs, torch.cat([part for state in stacked.last for part in state], dim=-1))

        return Subject(one, read, numbers_of(size), over=view, causal=BOTH_WAYS if both else "")

    def walk(one: Any, values: Tensor, state: Any, valid: Tensor | None) -> tuple[Tensor, Any]:
        stacked = one(values, state, valid=valid)
        return stacked.outputs, stacked.last

    own: dict[str, Callable[[Any], Finding]] = {
        "streaming": partial(streaming, walk=walk, size=size),
        "ragged": partial(ragged_rows, walk=walk, size=size),
        "reversed": partial(reversed_walk, size=size),
    }
    findings = check_sequence(module, view)
    for name, law in own.items():
        if name == "streaming" and both:
            findings.append(aside(name, BOTH_WAYS))
        elif name == "reversed" and not both:
            findings.append(aside(name, "it reads in one direction"))
        else:
            findings.append(tried(name, partial(law, exact_copy(module))))
    return findings


Walking = Callable[[Any, Tensor, Any, Tensor | None], tuple[Tensor, Any]]  # module, values, state, valid


def streaming(module: Any, *, walk: Walking, size: int) -> Finding:
    """A state carried over steps of 1, 3 and the rest gives the whole walk."""
    values, state, outputs = inputs(size), None, []
    with torch.no_grad():
        whole, last = walk(module, values, None, None)
        for first, until in pairwise(CUTS):
            part, state = walk(module, values[:, first:until], state, None)
            outputs.append(part)
    gap = max(apart(torch.cat(outputs, dim=1), whole), apart(joined(state), joined(last)))
    return judged("streaming", gap, CLOSE, "a state carried over steps of 1 and 3 gives the whole walk")


def ragged_rows(module: Any, *, walk: Walking, size: int) -> Finding:
    """Padding anywhere, also between real items: each row gives what its real items give alone."""
    values, gap = inputs(size), 0.0
    with torch.no_grad():
        together, last = walk(module, values, None, HOLES)
        for row in range(ROWS):
            alone, end = walk(module, values[row : row + 1, HOLES[row]], None, None)
            gap = max(gap, apart(together[row, HOLES[row]], alone[0]), apart(joined(last)[row], joined(end)[0]))
    return judged("ragged", gap, CLOSE, "padding anywhere: each row gives what its real items give alone")


def reversed_walk(stack: Any, *, size: int) -> Finding:
    """Both directions by hand: each cell walks forward, those of the way back over the reversed sequence."""
    values = inputs(size)
    with torch.no_grad():
        found = stack(values).outputs
        for layer in range(stack.layers):
            there, back = stack.cell(2 * layer), stack.cell(2 * layer + 1)
            ways = [steps(there, values), steps(back, values.flip(1)).flip(1)]
            values = torch.cat(ways, dim=-1)
    return judged("reversed", apart(found, values), CLOSE, "the way back is a walk over the reversed sequence")


def steps(cell: Any, values: Tensor) -> Tensor:
    """One step after another: what a cell says (B, T, H)."""
    state, said = cell.start(values[:, 0]), []
    for time in range(values.size(1)):
        state = cell(values[:, time], state)
        said.append(state.hidden)
    return torch.stack(said, dim=1)


def joined(state: Any) -> Tensor:
    """All tensors of a nested state side by side."""
    return state if isinstance(state, Tensor) else torch.cat([joined(part) for part in state], dim=-1)


def inputs(size: int) -> Tensor:
    """Random values, the same each time."""
    with chance():
        return torch.randn(ROWS, TIME, size, dtype=torch.float64)
