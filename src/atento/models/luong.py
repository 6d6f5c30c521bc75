"""A recurrent decoder that looks at the source after each step."""

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.layers.embeddings import TokenEmbedding
from atento.models.handover import Handover
from atento.models.recurrent import RecurrentDecoder, RecurrentState, Walked
from atento.recurrent.stack import Stack

# Axes: B batch, T target time, I input, D size, S source size.


class LuongDecoder(RecurrentDecoder):
    """s_t = f(s_{t−1}, y_{t−1}), then a context c_t by attention with s_t as query; tanh(W [c_t; s_t]) predicts
    (Luong et al., 2015, sec. 3). Nothing of c_t enters the recurrence, so a known target needs one pass of each part.
    """

    attention: Attention
    equation = "s_t = f(s_{t−1}, y_{t−1})"
    looks_carry = False

    def __init__(
        self,
        embedding: TokenEmbedding,
        stack: Stack,
        handover: Handover,
        attention: Attention,
        *,
        source_size: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(embedding, stack, handover, attention, dropout=dropout)
        self.join = nn.Linear(source_size + stack.output_size, stack.output_size)

    def move(self, input: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """One cell step, one look at the source."""
        said, cells = self.stack.step(input, state.cells)
        features = self.attend(said.unsqueeze(1), state, at=state.at[:1]).squeeze(1)
        return features, state._replace(cells=cells, at=state.at + 1)

    def walk(self, inputs: Tensor, state: RecurrentState, *, at: Tensor | None = None) -> Walked:
        """One walk of the stack, one attention for all its steps."""
        said, cells = self.stack(inputs, state.cells)
        features = self.attend(said, state, at=at)
        return Walked(features, said, state._replace(cells=cells, at=state.at + inputs.size(1)))

    def attend(self, said: Tensor, state: RecurrentState, *, at: Tensor | None) -> Tensor:
        """Join each step (B, T, D) with its context (B, T, S)."""
        context = self.attention.read(said, state.source, query_at=at)
        joined: Tensor = self.dropout(torch.tanh(self.join(torch.cat([context, said], dim=-1))))
        return joined
