"""Activation functions, by name in `ACTIVATIONS`. Cells, scores and feed-forward layers take any of them."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from atento.errors import InputError

LEAK = 0.1  # slope of the leaky ReLU below zero

ActivationFn = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Activation:
    """An activation function with its formula: (..., expansion·size) -> (..., size).

    The layer before it must be `expansion` times as wide as the units it gives: 1 for all but maxout.
    """

    function: ActivationFn
    formula: str
    expansion: int = 1

    def __post_init__(self) -> None:
        if self.expansion < 1:
            raise InputError(
                "Activation: expansion must be positive.", found=f"expansion={self.expansion}", fix="give 1 or more"
            )

    def __call__(self, values: Tensor) -> Tensor:
        """Apply the function."""
        return self.function(values)


def expansion(activation: ActivationFn) -> int:
    """The number of inputs per unit of an activation; 1 for a plain function."""
    return int(getattr(activation, "expansion", 1))


def identity(values: Tensor) -> Tensor:
    """x."""
    return values


def leaky_relu(values: Tensor) -> Tensor:
    """x above zero, 0.1 x below (Maas et al., 2013)."""
    return functional.leaky_relu(values, LEAK)


def maxout(maps: int = 2) -> Activation:
    """The largest of several linear maps per unit (Goodfellow et al., 2013, eq. 1).

    Map j of unit i is input number j·size + i.
    """
    if maps < 2:
        raise InputError("maxout needs at least two linear maps per unit.", found=f"maps={maps}", fix="give maps=2")

    def largest(values: Tensor) -> Tensor:
        if values.size(-1) % maps:
            raise InputError(
                f"the input of maxout with {maps} maps must be {maps} times as wide as its units.",
                found=f"width {values.size(-1)}",
                fix=f"give a width that is a multiple of {maps}",
            )
        return values.reshape(*values.shape[:-1], maps, -1).amax(dim=-2)

    return Activation(largest, f"max(x_1, …, x_{maps})", expansion=maps)


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
