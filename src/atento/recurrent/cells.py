"""Recurrent cells: one step in time. They know nothing of the walk.

A step splits into what depends on the input alone (`read`, done for a whole sequence in one product)
and what needs the state (`advance`).
"""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.activations import TANH, Activation
from atento.layers.initialisation import Initialise, initialise_blocks, uniform

# Axes: B batch, T time, I input, H hidden, O output, G product.

CONTENT = "content"  # the part of a product that is bent, not a gate


class Hidden(NamedTuple):
    """The state of a cell that says all it keeps."""

    hidden: Tensor  # (B, O)


class Memory(NamedTuple):
    """The state of a cell that keeps more than it says."""

    hidden: Tensor  # (B, H) what the cell says
    carry: Tensor  # (B, H) what the cell keeps


State = TypeVar("State", Hidden, Memory)


class Cell(nn.Module, ABC, Generic[State]):
    """input (B, I), state -> state. Weights have torch's layout, so that they can be exchanged.

    The product of a step (G) holds every gate (H) and the content that `activation` bends (wider·H).
    """

    layout: ClassVar[tuple[str, ...]]  # the parts of a product in their order: gates by name, and the content

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        activation: Activation = TANH,
        initialise: Initialise = uniform,
    ) -> None:
        super().__init__()
        require_size("input_size", input_size)
        require_size("hidden_size", hidden_size)
        self.input_size, self.hidden_size = input_size, hidden_size
        self.output_size = hidden_size  # what the cell says, and reads again at the next step
        self.activation, self.initialise = activation, initialise
        product = sum(self.widths())
        self.read, self.recur = nn.Linear(input_size, product), nn.Linear(hidden_size, product)
        self.start_weights()

    def widths(self) -> list[int]:
        """How wide each part of the product is."""
        return [self.hidden_size * (self.activation.wider if part == CONTENT else 1) for part in self.layout]

    def start_weights(self) -> None:
        """Small ones for the input, as told for each gate's own recurrent matrix; no bias."""
        nn.init.uniform_(self.read.weight, -(self.hidden_size**-0.5), self.hidden_size**-0.5)
        initialise_blocks(self.recur.weight, self.hidden_size, self.initialise)
        nn.init.zeros_(self.read.bias)
        nn.init.zeros_(self.recur.bias)

    def forward(self, input: Tensor, state: State) -> State:
        """One whole step."""
        return self.advance(self.read(input), state)

    @abstractmethod
    def start(self, like: Tensor) -> State:
        """The state before the first step, one row for each row of `like`."""

    @abstractmethod
    def advance(self, read: Tensor, state: State) -> State:
        """The step, given the input's product (B, G)."""

    def shares(self, read: Tensor, state: State) -> dict[str, Tensor]:
        """The step's gates (B, H) by name, each between 0 and 1; a cell without gates has none."""
        return {}

    def recurrences(self) -> dict[str, Tensor]:
        """The matrices (H, H) through which a state reaches the next one, by name."""
        found = {}
        for name, rows in zip(self.layout, torch.split(self.recur.weight, self.widths()), strict=True):
            blocks = torch.split(rows, self.hidden_size)
            found.update({name if len(blocks) == 1 else f"{name} {n + 1}": block for n, block in enumerate(blocks)})
        return found


def require_size(name: str, size: int) -> None:
    """At least one unit."""
    if size < 1:
        raise InputError(f"{name} must be at least 1.", found=f"{name}={size}", fix=f"give a larger {name}")
