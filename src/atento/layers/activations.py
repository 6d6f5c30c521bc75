"""Activations: what bends a product. By name in `ACTIVATIONS`; any cell, score or feed-forward part takes one."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from atento.errors import InputError

LEAK = 0.1  # slope of the leaky ReLU below zero


@dataclass(frozen=True)
class Activation:
    """A function at each unit by itself: (..., wider·size) -> (..., size).

    Who makes the product asks how many times `wider` than its own units it must be.
    """

    bend: Callable[[Tensor], Tensor]
    formula: str
    wider: int = 1

    def __post_init__(self) -> None:
        if self.wider < 1:
            raise InputError("an activation reads at least one number a unit.", found=f"wider={self.wider}", fix="1")

    def __call__(self, values: Tensor) -> Tensor:
        """Bend."""
        return self.bend(values)


def identity(values: Tensor) -> Tensor:
    """x."""
    return values


def leaky_relu(values: Tensor) -> Tensor:
    """x above zero, a tenth of it below (Maas et al., 2013)."""
    return functional.leaky_relu(values, LEAK)


def maxout(pieces: int = 2) -> Activation:
    """The largest of several linear pieces a unit (Goodfellow et al., 2013, eq. 1).

    Piece j of unit i is number j·size + i of the product.
    """
    if pieces < 2:
        raise InputError("maxout chooses among at least two pieces.", found=f"pieces={pieces}", fix="pieces=2")

    def largest(values: Tensor) -> Tensor:
        if values.size(-1) % pieces:
            raise InputError(
                f"maxout of {pieces} pieces reads a product {pieces} times as wide as its units.",
                found=f"width {values.size(-1)}",
                fix=f"make the product a multiple of {pieces} wide",
            )
        return values.reshape(*values.shape[:-1], pieces, -1).amax(dim=-2)

    return Activation(largest, f"max(x_1, …, x_{pieces})", wider=pieces)


SIGMOID = Activation(torch.sigmoid, "1 / (1 + exp(−x))")
TANH = Activation(torch.tanh, "tanh(x)")
RELU = Activation(torch.relu, "max(0, x)")
LEAKY_RELU = Activation(leaky_relu, f"max({LEAK} x, x)")
ELU = Activation(functional.elu, "x where x > 0, else exp(x) − 1")
MAXOUT = maxout(2)
IDENTITY = Activation(identity, "x")

ACTIVATIONS: dict[str, Activation] = {
    "sigmoid": SIGMOID,
    "tanh": TANH,
    "relu": RELU,
    "leaky-relu": LEAKY_RELU,
    "elu": ELU,
    "maxout": MAXOUT,
    "identity": IDENTITY,
}
