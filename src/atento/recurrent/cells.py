"""Recurrent cells: one time step of a recurrent network.

A step has two linear maps: `read`, input to hidden (W x + b), which `unroll` computes for a whole sequence in one
matrix product, and `recur`, hidden to hidden (U h + c). `advance` makes the next state of both. `ElmanCell` and
`JordanCell` have no gates; `LSTMCell`, `GRUCell`, `GRUResetBeforeCell` and `MGUCell` have sigmoid gates. The activation
of the candidate can be chosen. Cells without `recur`, which need no walk, are in `parallel_cells`.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.errors import InputError
from atento.layers.activations import IDENTITY, TANH, Activation
from atento.layers.initialization import Initializer, initialize_blocks, uniform
from atento.layers.products import Linear

# Axes: B batch, I input, H hidden, O output, G all gates and the candidate side by side.

CONTENT = "content"  # the part of a product that goes through the activation, not through a gate's sigmoid


class HiddenState(NamedTuple):
    """The state of a cell whose output is its whole state."""

    hidden: Tensor  # (B, O)


class LSTMState(NamedTuple):
    """The state of an LSTM."""

    hidden: Tensor  # (B, H) h, the output
    carry: Tensor  # (B, H) c, the cell state


State = TypeVar("State", HiddenState, LSTMState)


class Cell(nn.Module, ABC, Generic[State]):
    """Base of all cells: input (B, I), state -> state. The weights have torch's layout and can be exchanged with it.

    The product of a step (G) holds every gate (H) and the content, on which `activation` acts (expansion·H).
    """

    layout: ClassVar[tuple[str, ...]]  # the parts of a product in order: the gates by name, and the content
    state_type: ClassVar[type[Any]] = HiddenState
    has_recurrent_weights: ClassVar[bool] = True  # whether there is `recur`: a step multiplies the state by matrices

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        activation: Activation = TANH,
        initializer: Initializer = uniform,
    ) -> None:
        super().__init__()
        require_size("input_size", input_size)
        require_size("hidden_size", hidden_size)
        self.input_size, self.hidden_size = input_size, hidden_size
        self.output_size = hidden_size  # of state.hidden, which the next step and the next layer read
        self.activation, self.initializer = activation, initializer
        product = sum(self.widths())
        self.read = Linear(input_size, product)
        if self.has_recurrent_weights:
            self.recur = Linear(hidden_size, product)
        self.initialize()

    def widths(self) -> list[int]:
        """The width of each part of the product."""
        return [self.hidden_size * (self.activation.expansion if part == CONTENT else 1) for part in self.layout]

    def initialize(self) -> None:
        """Draw input weights from U(±H^−½) and each part's own recurrent matrix by `initializer`; biases are 0."""
        nn.init.uniform_(self.read.weight, -(self.hidden_size**-0.5), self.hidden_size**-0.5)
        nn.init.zeros_(self.read.bias)
        if self.has_recurrent_weights:
            initialize_blocks(self.recur.weight, self.hidden_size, self.initializer)
            nn.init.zeros_(self.recur.bias)

    def forward(self, input: Tensor, state: State) -> State:
        """The state after one step."""
        return self.advance(self.read(input), state)

    def start(self, like: Tensor) -> State:
        """The initial state, zeros, with one row for each row of `like`."""
        zeros = like.new_zeros(like.size(0), self.output_size)
        return self.state_type(*(zeros for _ in self.state_type._fields))

    @abstractmethod
    def advance(self, read: Tensor, state: State) -> State:
        """The state after one step, given the input's product W x + b (B, G)."""

    def gates(self, read: Tensor, state: State) -> dict[str, Tensor]:
        """The values of the gates (B, H) at a step by name, each between 0 and 1; empty for a cell without gates."""
        return {}

    def recurrences(self) -> dict[str, Tensor]:
        """The recurrent matrices (H, H) by name; empty for a cell without any."""
        found: dict[str, Tensor] = {}
        if not self.has_recurrent_weights:
            return found
        for name, rows in zip(self.layout, torch.split(self.recur.weight, self.widths()), strict=True):
            blocks = torch.split(rows, self.hidden_size)
            found.update({name if len(blocks) == 1 else f"{name} {n + 1}": block for n, block in enumerate(blocks)})
        return found


def require_size(name: str, size: int) -> None:
    """Raise unless the argument `name` is at least 1."""
    if size < 1:
        raise InputError(f"{name} must be at least 1.", found=f"{name}={size}", fix=f"give a larger {name}")


class OutputLayer(nn.Module):
    """The output of a simple recurrent network, o_t = g₂(V h_t + b): (..., H) -> (..., O)."""

    def __init__(self, hidden_size: int, output_size: int, *, activation: Activation = IDENTITY) -> None:
        super().__init__()
        require_size("output_size", output_size)
        self.activation = activation
        self.map = Linear(hidden_size, activation.expansion * output_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """The outputs of some hidden states."""
        return self.activation(self.map(hidden))


class ElmanCell(Cell[HiddenState]):
    """Simple recurrence, h_t = g(W h_{t−1} + U x_t + b)  (Elman, 1990); g is tanh by default."""

    layout = (CONTENT,)

    def advance(self, read: Tensor, state: HiddenState) -> HiddenState:
        """The next hidden state."""
        return HiddenState(self.activation(read + self.recur(state.hidden)))


class JordanCell(Cell[HiddenState]):
    """Output recurrence, h_t = g(W o_{t−1} + U x_t + b), o_t = g₂(V h_t + c)  (Jordan, 1986).

    Its state is the output o (B, O) alone, so it remembers nothing that the output does not hold. In return, where the
    outputs are known, all steps can be computed in parallel (`teacher_forced_outputs`).
    """

    layout = (CONTENT,)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        output_size: int | None = None,
        activation: Activation = TANH,
        output_activation: Activation = TANH,
        initializer: Initializer = uniform,
    ) -> None:
        super().__init__(input_size, hidden_size, activation=activation, initializer=initializer)
        self.output_size = hidden_size if output_size is None else output_size
        self.output = OutputLayer(hidden_size, self.output_size, activation=output_activation)
        self.recur = Linear(self.output_size, self.recur.out_features)
        self.initialize()

    def advance(self, read: Tensor, state: HiddenState) -> HiddenState:
        """The next output, for any number of leading axes."""
        return HiddenState(self.output(self.activation(read + self.recur(state.hidden))))

    def recurrences(self) -> dict[str, Tensor]:
        """V W (O, O): the matrices between one output and the next, without the slopes of the activations."""
        inwards = torch.split(self.recur.weight, self.hidden_size)
        outwards = torch.split(self.output.map.weight, self.output_size)
        found = [outward @ inward for inward in inwards for outward in outwards]
        return {"V W" if len(found) == 1 else f"V W {place + 1}": matrix for place, matrix in enumerate(found)}


class LSTMCell(Cell[LSTMState]):
    """Long short-term memory with a forget gate (Gers et al., 2000); the candidate g is a tanh by default."""

    layout = ("input", "forget", CONTENT, "output")
    state_type = LSTMState

    def advance(self, read: Tensor, state: LSTMState) -> LSTMState:
        """c_t = f c_{t−1} + i g; h_t = o tanh(c_t)."""
        write, keep, content, output = self.parts(read, state)
        carry = keep.sigmoid() * state.carry + write.sigmoid() * self.activation(content)
        return LSTMState(hidden=output.sigmoid() * carry.tanh(), carry=carry)

    def gates(self, read: Tensor, state: LSTMState) -> dict[str, Tensor]:
        """The input, forget and output gates: i, f and o."""
        write, keep, _, output = self.parts(read, state)
        return {"input": write.sigmoid(), "forget": keep.sigmoid(), "output": output.sigmoid()}

    def parts(self, read: Tensor, state: LSTMState) -> tuple[Tensor, ...]:
        """i, f, g and o before their activations."""
        return (read + self.recur(state.hidden)).split(self.widths(), dim=-1)


class ResetUpdateCell(Cell[HiddenState]):
    """Base of both forms of the gated recurrent unit: a reset gate r and an update gate z."""

    layout = ("reset", "update", CONTENT)

    def gates(self, read: Tensor, state: HiddenState) -> dict[str, Tensor]:
        """The reset and update gates: r and z."""
        both = slice(0, 2 * self.hidden_size)
        recur = functional.linear(state.hidden, self.recur.weight[both], self.recur.bias[both])
        reset, update = (read[..., both] + recur).sigmoid().chunk(2, dim=-1)
        return {"reset": reset, "update": update}


class GRUCell(ResetUpdateCell):
    """Gated recurrent unit with the reset gate after the matrix product, the form of cuDNN and torch.

    h_t = z h_{t−1} + (1 − z) n_t with n_t = g(W x_t + b + r (U h_{t−1} + c)). The form of Cho et al. (2014), reset
    before the product, is `GRUResetBeforeCell`.
    """

    def advance(self, read: Tensor, state: HiddenState) -> HiddenState:
        """The next hidden state, by one product with all recurrent matrices."""
        size = self.hidden_size
        recur = self.recur(state.hidden)
        reset, update = (read[..., : 2 * size] + recur[..., : 2 * size]).sigmoid().chunk(2, dim=-1)  # r, z
        reset_all = reset if self.activation.expansion == 1 else torch.cat([reset] * self.activation.expansion, dim=-1)
        candidate = self.activation(read[..., 2 * size :] + reset_all * recur[..., 2 * size :])
        return interpolate(update, state.hidden, candidate)


class GRUResetBeforeCell(ResetUpdateCell):
    """Gated recurrent unit with the reset gate before the matrix product, as first published (Cho et al., 2014, eq. 8):
    n_t = g(W x_t + b + U (r h_{t−1}) + c).
    """

    def advance(self, read: Tensor, state: HiddenState) -> HiddenState:
        """The next hidden state, by two products one after the other."""
        size = self.hidden_size
        weight, bias = self.recur.weight[2 * size :], self.recur.bias[2 * size :]
        reset, update = self.gates(read, state).values()
        content = functional.linear(reset * state.hidden, weight, bias)
        return interpolate(update, state.hidden, self.activation(read[..., 2 * size :] + content))


class MGUCell(Cell[HiddenState]):
    """Minimal gated unit  (Zhou et al., 2016): a GRU whose one gate f, the forget gate, both resets and updates.

    h_t = (1 − f) h_{t−1} + f n_t with f = σ(W_f x_t + U_f h_{t−1} + b_f) and n_t = g(W x_t + b + U (f h_{t−1}) + c).
    """

    layout = ("forget", CONTENT)

    def advance(self, read: Tensor, state: HiddenState) -> HiddenState:
        """The next hidden state, by two products one after the other."""
        size = self.hidden_size
        forget = self.gates(read, state)["forget"]
        recur = functional.linear(forget * state.hidden, self.recur.weight[size:], self.recur.bias[size:])
        return interpolate(1 - forget, state.hidden, self.activation(read[..., size:] + recur))

    def gates(self, read: Tensor, state: HiddenState) -> dict[str, Tensor]:
        """The forget gate f: 1 replaces the state, where an LSTM's keeps it."""
        size = self.hidden_size
        recur = functional.linear(state.hidden, self.recur.weight[:size], self.recur.bias[:size])
        return {"forget": (read[..., :size] + recur).sigmoid()}


def interpolate(update: Tensor, before: Tensor, candidate: Tensor) -> HiddenState:
    """z h_{t−1} + (1 − z) n_t."""
    return HiddenState(update * before + (1 - update) * candidate)
