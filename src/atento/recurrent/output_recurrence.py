"""Output recurrence taught with the true outputs: no step waits for another.

One vector in, a sequence out.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.errors import InputError, unknown_name
from atento.layers.masking import clean
from atento.recurrent.cells import Hidden, Jordan
from atento.recurrent.stack import Stack
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


# Axes: B batch, T time, I input, D what the stack says, O output.

Given = Literal["start", "always"]
GIVEN: tuple[Given, ...] = ("start", "always")


class OneToMany(nn.Module):
    """vector (B, I) -> outputs (B, T, O): a walk whose only input is the vector.

    It is given at the `start` alone, and then there is nothing more to read, or `always`, at every step.
    """

    def __init__(self, stack: Stack, output: nn.Module, *, given: Given = "start") -> None:
        super().__init__()
        if given not in GIVEN:
            raise unknown_name("way to give a vector", given, GIVEN, where="given")
        if stack.directions == 2:
            raise InputError(
                "one-to-many writes forward: a later step may not change an earlier one.",
                found="a stack of both directions",
                fix="make the stack with bidirectional=False",
            )
        self.stack, self.output, self.given = stack, output, given

    def forward(self, vector: Tensor, steps: int) -> Tensor:
        """So many steps of the sequence that belongs to each vector."""
        size = self.stack.cell(0).input_size
        if vector.dim() != 2 or vector.size(1) != size or steps < 1:
            raise InputError(
                "one-to-many reads one vector a row and writes at least one step.",
                found=f"vectors {tuple(vector.shape)}, steps={steps}",
                fix=f"give vectors (batch, {size}) and steps of 1 or more",
            )
        inputs = vector.unsqueeze(1)
        inputs = (
            inputs.expand(-1, steps, -1) if self.given == "always" else functional.pad(inputs, (0, 0, 0, steps - 1))
        )
        outputs: Tensor = self.output(self.stack(inputs).outputs)
        return outputs
