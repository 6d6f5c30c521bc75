"""Cells without gates: the state feeds back, or the output does."""

import torch
from torch import Tensor, nn

from atento.layers.activations import IDENTITY, TANH, Activation
from atento.layers.initialisation import Initialise, uniform
from atento.recurrent.cells import CONTENT, Cell, Hidden, require_size

# Axes: B batch, T time, I input, H hidden, O output.


class Output(nn.Module):
    """o_t = g₂(V h_t + b): what a network says of its state; (..., H) -> (..., O).

    It reads the state, never the input, and its bias is as wide as the output.
    """

    def __init__(self, hidden_size: int, output_size: int, *, activation: Activation = IDENTITY) -> None:
        super().__init__()
        require_size("output_size", output_size)
        self.activation = activation
        self.map = nn.Linear(hidden_size, activation.wider * output_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Map and bend."""
        return self.activation(self.map(hidden))


class Elman(Cell[Hidden]):
    """h_t = g(W h_{t−1} + U x_t + b)  (Elman, 1990), g a tanh unless told."""

    layout = (CONTENT,)

    def start(self, like: Tensor) -> Hidden:
        """Zeros."""
        return Hidden(like.new_zeros(like.size(0), self.output_size))

    def advance(self, read: Tensor, state: Hidden) -> Hidden:
        """Add and bend."""
        return Hidden(self.activation(read + self.recur(state.hidden)))


class Jordan(Cell[Hidden]):
    """h_t = g(W o_{t−1} + U x_t + b), o_t = g₂(V h_t + c)  (Jordan, 1986): the output feeds back, not the state.

    It says its output o (B, O) and keeps nothing else, so what the output has no room for is forgotten;
    in return the steps of a known output do not wait for each other (`teach`).
    """

    layout = (CONTENT,)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        output_size: int | None = None,
        activation: Activation = TANH,
        squash: Activation = TANH,
        initialise: Initialise = uniform,
    ) -> None:
        super().__init__(input_size, hidden_size, activation=activation, initialise=initialise)
        self.output_size = hidden_size if output_size is None else output_size
        self.say = Output(hidden_size, self.output_size, activation=squash)
        self.recur = nn.Linear(self.output_size, self.recur.out_features)
        self.start_weights()

    def start(self, like: Tensor) -> Hidden:
        """An output of zeros."""
        return Hidden(like.new_zeros(like.size(0), self.output_size))

    def advance(self, read: Tensor, state: Hidden) -> Hidden:
        """Add, bend, say. Any number of leading axes: nothing here walks."""
        return Hidden(self.say(self.activation(read + self.recur(state.hidden))))

    def recurrences(self) -> dict[str, Tensor]:
        """V W (O, O): an output reaches the next one through both, slopes left out."""
        inwards = torch.split(self.recur.weight, self.hidden_size)
        outwards = torch.split(self.say.map.weight, self.output_size)
        found = [outward @ inward for inward in inwards for outward in outwards]
        return {"V W" if len(found) == 1 else f"V W {place + 1}": matrix for place, matrix in enumerate(found)}
