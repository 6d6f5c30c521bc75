"""Recurrent cells: one step in time. They know nothing of the walk.

A step splits into what depends on the input alone (`read`, done for a whole sequence in one product)
and what needs the state (`advance`).
"""

from abc import ABC, abstractmethod
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

# Axes: B batch, T time, I input, H hidden.


class Hidden(NamedTuple):
    """The state of a cell that says all it keeps."""

    hidden: Tensor  # (B, H)


class Memory(NamedTuple):
    """The state of a cell that keeps more than it says."""

    hidden: Tensor  # (B, H) what the cell says
    carry: Tensor  # (B, H) what the cell keeps


State = TypeVar("State", Hidden, Memory)


class Cell(nn.Module, ABC, Generic[State]):
    """input (B, I), state -> state. Weights have torch's layout, so that they can be exchanged."""

    gates: int  # how many products of width H a step needs

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self.read = nn.Linear(input_size, self.gates * hidden_size)
        self.recur = nn.Linear(hidden_size, self.gates * hidden_size)
        for map_ in (self.read, self.recur):
            nn.init.uniform_(map_.weight, -(hidden_size**-0.5), hidden_size**-0.5)
            nn.init.zeros_(map_.bias)

    def forward(self, input: Tensor, state: State) -> State:
        """One whole step."""
        return self.advance(self.read(input), state)

    @abstractmethod
    def start(self, like: Tensor) -> State:
        """The state before the first step, one row for each row of `like`."""

    @abstractmethod
    def advance(self, read: Tensor, state: State) -> State:
        """The step, given the input's product (B, gates·H)."""


class Elman(Cell[Hidden]):
    """h_t = tanh(W h_{t−1} + U x_t + b)  (Elman, 1990)."""

    gates = 1

    def start(self, like: Tensor) -> Hidden:
        """Zeros."""
        return Hidden(like.new_zeros(like.size(0), self.hidden_size))

    def advance(self, read: Tensor, state: Hidden) -> Hidden:
        """Add and squash."""
        return Hidden(torch.tanh(read + self.recur(state.hidden)))


class LSTM(Cell[Memory]):
    """Long short-term memory with a forget gate (Gers et al., 2000).

    The candidate g has its own weights and is a tanh; the output gate o is a sigmoid.
    """

    gates = 4

    def start(self, like: Tensor) -> Memory:
        """Zeros."""
        zeros = like.new_zeros(like.size(0), self.hidden_size)
        return Memory(hidden=zeros, carry=zeros)

    def advance(self, read: Tensor, state: Memory) -> Memory:
        """c = f c + i g; h = o tanh(c)."""
        write, keep, content, say = (read + self.recur(state.hidden)).chunk(4, dim=-1)  # i, f, g, o in the paper
        carry = keep.sigmoid() * state.carry + write.sigmoid() * content.tanh()
        return Memory(hidden=say.sigmoid() * carry.tanh(), carry=carry)


class GRU(Cell[Hidden]):
    """Gated recurrent unit, the reset gate after the product (Cho et al., 2014; the form of cuDNN and torch).

    The old state is mixed with the candidate of the same step: h_t = z h_{t−1} + (1 − z) n_t.
    """

    gates = 3

    def start(self, like: Tensor) -> Hidden:
        """Zeros."""
        return Hidden(like.new_zeros(like.size(0), self.hidden_size))

    def advance(self, read: Tensor, state: Hidden) -> Hidden:
        """Reset, update, mix."""
        read_reset, read_keep, read_new = read.chunk(3, dim=-1)
        reset, keep, new = self.recur(state.hidden).chunk(3, dim=-1)  # r, z, n in the paper
        candidate = torch.tanh(read_new + (read_reset + reset).sigmoid() * new)
        share = (read_keep + keep).sigmoid()
        return Hidden(share * state.hidden + (1 - share) * candidate)
