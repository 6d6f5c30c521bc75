"""Contracts of models that read pictures: none of them is padded, and no neighbour in a batch may matter."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from atento.checking.finding import Finding
from atento.checking.sequences import check_sequence
from atento.checking.subject import TIME, Outputs, Subject, numbers_of

# Axes: B rows, S side.

SIDE = 16
NUMBERS = 3 * SIDE * SIDE
NOT_PADDED = "a picture has no padding"
NOT_IN_TIME = "a picture is seen at once"


def some_pictures(values: Tensor) -> Tensor:
    """Numbers (B, T, D) as pixels (B, 3, S, S)."""
    return values.flatten(1)[:, :NUMBERS].reshape(-1, 3, SIDE, SIDE)


def check_seeing(module: nn.Module, outputs: Callable[[Any, Tensor], Tensor]) -> list[Finding]:
    """The contracts of rows; `outputs` is of a module and pixels (B, 3, S, S), a row each."""

    def view(one: nn.Module) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            return Outputs(whole=outputs(one, some_pictures(values)))

        draw = numbers_of(-(-NUMBERS // TIME))
        return Subject(one, read, draw, over=view, masks=NOT_PADDED, sided=NOT_PADDED, causal=NOT_IN_TIME)

    return check_sequence(module, view)
