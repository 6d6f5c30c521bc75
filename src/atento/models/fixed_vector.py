"""A recurrent decoder that knows the source by its summary alone."""

from torch import Tensor

from atento.layers.embeddings import TokenEmbedding
from atento.models.handover import Handover
from atento.models.recurrent import RecurrentDecoder, RecurrentState, Walked
from atento.recurrent.stack import Stack

# Axes: B batch, T target time, I input, D size.


class FixedVectorDecoder(RecurrentDecoder):
    """s_t = f(s_{t−1}, y_{t−1}), where the one vector of the source is the first state (Sutskever et al., 2014), part
    of every input, or both (Cho et al., 2014, eq. 7). s_t predicts.
    """

    equation = "s_t = f(s_{t−1}, y_{t−1}, c)"

    def __init__(self, embedding: TokenEmbedding, stack: Stack, handover: Handover, *, dropout: float = 0.0) -> None:
        super().__init__(embedding, stack, handover, None, dropout=dropout)

    def move(self, input: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """One cell step."""
        said, cells = self.stack.step(input, state.cells)
        return self.dropout(said), state._replace(cells=cells, at=state.at + 1)

    def walk(self, inputs: Tensor, state: RecurrentState, *, at: Tensor | None = None) -> Walked:
        """One walk of the stack."""
        said, cells = self.stack(inputs, state.cells)
        return Walked(self.dropout(said), said, state._replace(cells=cells, at=state.at + inputs.size(1)))
