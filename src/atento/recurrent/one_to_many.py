"""One vector in, a sequence out."""

from typing import Literal

from torch import Tensor, nn
from torch.nn import functional

from atento.errors import InputError, unknown_name
from atento.recurrent.stack import Stack

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
