"""Cells whose whole sequence is a scan: minGRU and minLSTM  (Feng et al., 2024, "Were RNNs All We Needed?").

Their gates and their candidate read the input alone and not the state. So all of them are known before the first step,
a step is h_t = a_t h_{t−1} + b_t, and `unroll` computes all steps in log₂ T rounds (`scan`) where other cells need T.
What they give up: within one layer no gate can react to what the state holds. Several layers make up for part of it.

The form is that of § 3.1 and § 3.2 of the paper, with states of either sign. Its appendix B keeps states positive by a
candidate g(x), because its scan takes logarithms; ours takes none, and states of either sign can start from any vector,
as those of a decoder do. The paper has no activation at the candidate; `activation` adds one.
"""

from abc import abstractmethod

from torch import Tensor
from torch.nn import functional

from atento.layers.activations import IDENTITY, Activation
from atento.layers.initialization import Initializer, uniform
from atento.recurrent.cells import CONTENT, Cell, HiddenState

# Axes: B batch, H hidden, G all gates and the candidate side by side.


class ParallelCell(Cell[HiddenState]):
    """Base of these cells: h_t = a_t h_{t−1} + b_t, where a and b depend on the input alone."""

    has_recurrent_weights = False

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        activation: Activation = IDENTITY,
        initializer: Initializer = uniform,
    ) -> None:
        super().__init__(input_size, hidden_size, activation=activation, initializer=initializer)

    @abstractmethod
    def coefficients(self, read: Tensor) -> tuple[Tensor, Tensor]:
        """a and b (..., H) of steps with the products W x + b (..., G)."""

    def advance(self, read: Tensor, state: HiddenState) -> HiddenState:
        """The next hidden state."""
        keep, write = self.coefficients(read)
        return HiddenState(keep * state.hidden + write)


class MinGRUCell(ParallelCell):
    """minGRU: h_t = (1 − z_t) h_{t−1} + z_t h̃_t with z_t = σ(W_z x_t + b_z) and h̃_t = W x_t + b.

    A GRU without reset gate, whose update gate z and candidate do not read the state; z = 1 replaces the state, where
    the update gate of `GRUCell` keeps it.
    """

    layout = ("update", CONTENT)

    def coefficients(self, read: Tensor) -> tuple[Tensor, Tensor]:
        """1 − z and z h̃."""
        update, content = read[..., : self.hidden_size], read[..., self.hidden_size :]
        return (-update).sigmoid(), update.sigmoid() * self.activation(content)

    def gates(self, read: Tensor, state: HiddenState) -> dict[str, Tensor]:
        """The update gate z."""
        return {"update": read[..., : self.hidden_size].sigmoid()}


class MinLSTMCell(ParallelCell):
    """minLSTM: h_t = f′_t h_{t−1} + i′_t h̃_t with h̃_t = W x_t + b, f′ = f / (f + i) and i′ = i / (f + i).

    f_t = σ(W_f x_t + b_f) and i_t = σ(W_i x_t + b_i) are divided by their sum, so that the state keeps its scale over
    any length. An LSTM without output gate, whose gates do not read the state and whose carry is its output.
    """

    layout = ("input", "forget", CONTENT)

    def coefficients(self, read: Tensor) -> tuple[Tensor, Tensor]:
        """f′ and i′ h̃."""
        gates = self.gates(read, None)
        return gates["forget"], gates["input"] * self.activation(read[..., 2 * self.hidden_size :])

    def gates(self, read: Tensor, state: HiddenState | None) -> dict[str, Tensor]:
        """The input and forget gates as they act, divided by their sum: i′ and f′ = 1 − i′.

        i′ = σ(log i − log f): where both gates are shut, i / (f + i) would be 0 / 0.
        """
        write, keep = read[..., : 2 * self.hidden_size].chunk(2, dim=-1)
        difference = functional.logsigmoid(write) - functional.logsigmoid(keep)
        return {"input": difference.sigmoid(), "forget": (-difference).sigmoid()}
