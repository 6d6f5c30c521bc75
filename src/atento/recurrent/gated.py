"""Cells with gates: shares between 0 and 1 decide what is kept, written and said.

Any activation may bend the candidate; the gates are always sigmoids.
"""

import torch
from torch import Tensor
from torch.nn import functional

from atento.recurrent.cells import CONTENT, Cell, Hidden, Memory

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
