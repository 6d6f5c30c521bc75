"""Recurrent cells: one step in time. They know nothing of the walk.

A step splits into what depends on the input alone (`read`, done for a whole sequence in one product)
and what needs the state (`advance`).

Cells without gates: the state feeds back, or the output does.
Cells with gates: shares between 0 and 1 decide what is kept, written and said.
Any activation may bend the candidate; the gates are always sigmoids.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.errors import InputError
from atento.layers.activations import IDENTITY, TANH, Activation
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


# Axes: B batch, H hidden.


class LSTM(Cell[Memory]):
    """Long short-term memory with a forget gate (Gers et al., 2000).

    The candidate g has its own weights and is a tanh; the output gate o is a sigmoid.
    """

    layout = ("input", "forget", CONTENT, "output")

    def start(self, like: Tensor) -> Memory:
        """Zeros."""
        zeros = like.new_zeros(like.size(0), self.hidden_size)
        return Memory(hidden=zeros, carry=zeros)

    def advance(self, read: Tensor, state: Memory) -> Memory:
        """c = f c + i g; h = o tanh(c)."""
        write, keep, content, say = self.parts(read, state)
        carry = keep.sigmoid() * state.carry + write.sigmoid() * self.activation(content)
        return Memory(hidden=say.sigmoid() * carry.tanh(), carry=carry)

    def shares(self, read: Tensor, state: Memory) -> dict[str, Tensor]:
        """i, f and o."""
        write, keep, _, say = self.parts(read, state)
        return {"input": write.sigmoid(), "forget": keep.sigmoid(), "output": say.sigmoid()}

    def parts(self, read: Tensor, state: Memory) -> tuple[Tensor, ...]:
        """i, f, g, o in the paper, before they are bent."""
        return (read + self.recur(state.hidden)).split(self.widths(), dim=-1)


class GRU(Cell[Hidden]):
    """Gated recurrent unit, the reset gate after the product (the form of cuDNN and torch; Cho et al., 2014, has it
    before: `GRUBefore`).

    The old state is mixed with the candidate of the same step: h_t = z h_{t−1} + (1 − z) n_t.
    """

    layout = ("reset", "update", CONTENT)

    def start(self, like: Tensor) -> Hidden:
        """Zeros."""
        return Hidden(like.new_zeros(like.size(0), self.hidden_size))

    def advance(self, read: Tensor, state: Hidden) -> Hidden:
        """n_t = g(W x_t + b + r (U h_{t−1} + c))."""
        size = self.hidden_size
        recur = self.recur(state.hidden)
        reset, keep = (read[..., : 2 * size] + recur[..., : 2 * size]).sigmoid().chunk(2, dim=-1)  # r, z in the paper
        reset_all = reset if self.activation.wider == 1 else torch.cat([reset] * self.activation.wider, dim=-1)
        candidate = self.activation(read[..., 2 * size :] + reset_all * recur[..., 2 * size :])
        return mixed(keep, state.hidden, candidate)

    def shares(self, read: Tensor, state: Hidden) -> dict[str, Tensor]:
        """r and z."""
        return reset_and_keep(self, read, state)


class GRUBefore(Cell[Hidden]):
    """Gated recurrent unit as first published, the reset gate before the product (Cho et al., 2014, eq. 8).

    The candidate's product reads what the reset gate lets through: n_t = g(W x_t + b + U (r h_{t−1}) + c).
    """

    layout = ("reset", "update", CONTENT)

    def start(self, like: Tensor) -> Hidden:
        """Zeros."""
        return Hidden(like.new_zeros(like.size(0), self.hidden_size))

    def advance(self, read: Tensor, state: Hidden) -> Hidden:
        """Two products, one after the other."""
        size = self.hidden_size
        weight, bias = self.recur.weight[2 * size :], self.recur.bias[2 * size :]
        reset, keep = reset_and_keep(self, read, state).values()
        content = functional.linear(reset * state.hidden, weight, bias)
        return mixed(keep, state.hidden, self.activation(read[..., 2 * size :] + content))

    def shares(self, read: Tensor, state: Hidden) -> dict[str, Tensor]:
        """r and z."""
        return reset_and_keep(self, read, state)


def reset_and_keep(cell: Cell[Hidden], read: Tensor, state: Hidden) -> dict[str, Tensor]:
    """Both gates of a GRU: r and z in the paper."""
    both = slice(0, 2 * cell.hidden_size)
    recur = functional.linear(state.hidden, cell.recur.weight[both], cell.recur.bias[both])
    reset, keep = (read[..., both] + recur).sigmoid().chunk(2, dim=-1)
    return {"reset": reset, "update": keep}


def mixed(keep: Tensor, before: Tensor, candidate: Tensor) -> Hidden:
    """The kept share of the old state and the rest of the candidate."""
    return Hidden(keep * before + (1 - keep) * candidate)
