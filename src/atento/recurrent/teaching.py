"""Output recurrence taught with the true outputs: no step waits for another."""

import torch
from torch import Tensor

from atento.errors import InputError
from atento.layers.padding import clean
from atento.recurrent.cells import Hidden
from atento.recurrent.simple import Jordan
from atento.recurrent.unroll import pick, real_first

# Axes: B batch, T time, I input, O output.


def teach(
    cell: Jordan, inputs: Tensor, truth: Tensor, start: Hidden | None = None, *, valid: Tensor | None = None
) -> Tensor:
    """Outputs (B, T, O) where each step reads the true output of the step before it, not its own.

    h_t = g(W y_{t−1} + U x_t + b) needs nothing that the network says, so all steps are one product and the depth of
    the graph does not grow with T. Free running, on its own outputs, is `unroll`. inputs (B, T, I), truth (B, T, O).
    """
    if truth.shape != (*inputs.shape[:2], cell.output_size):
        raise InputError(
            "teach: truth holds one true output for each step.",
            found=f"inputs {tuple(inputs.shape)}, truth {tuple(truth.shape)}",
            fix=f"give truth of shape {(*inputs.shape[:2], cell.output_size)}",
        )
    first = (cell.start(inputs[:, 0]) if start is None else start).hidden.unsqueeze(1)  # (B, 1, O)
    if valid is None:
        return said_after(cell, inputs, torch.cat([first, truth[:, :-1]], dim=1))
    order = real_first(valid)  # (B, T); padding may stand between two real steps
    truth = pick(clean(truth, valid), order)
    outputs = said_after(cell, pick(clean(inputs, valid), order), torch.cat([first, truth[:, :-1]], dim=1))
    return clean(pick(outputs, order.argsort(dim=1)), valid)


def said_after(cell: Jordan, inputs: Tensor, before: Tensor) -> Tensor:
    """All steps at once, each after the given output."""
    return cell.advance(cell.read(inputs), Hidden(before)).hidden
