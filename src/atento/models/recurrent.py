"""Recurrent encoder and decoder, with and without attention."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.prepared import Prepared
from atento.layers.embeddings import TokenEmbedding
from atento.models.protocols import Decoder, Encoded, Encoder, Step
from atento.recurrent.stack import Stack

# Axes: B batch, N source time, T target time, V vocabulary, D size.


class RecurrentEncoder(Encoder):
    """Embeds and walks. The summary is [forward state at the end; backward state at the start]."""

    def __init__(self, embedding: TokenEmbedding, stack: Stack, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding, self.stack = embedding, stack
        self.dropout = nn.Dropout(dropout)
        self.size = stack.output_size

    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """One state a token."""
        stacked = self.stack(self.embedding(tokens), valid=valid)
        tops = stacked.last[-self.stack.directions :]
        summary = torch.cat([state.hidden for state in tops], dim=-1)
        return Encoded(self.dropout(stacked.outputs), valid, self.dropout(summary))


class RecurrentState(NamedTuple):
    """All a recurrent decoder carries from one token to the next."""

    cells: tuple[Any, ...]  # one cell state a layer
    source: Prepared | None  # what attention reads; None: no attention
    summary: Tensor  # (B, D)
    at: Tensor  # (B,) position of the next token


class RecurrentDecoder(Decoder[RecurrentState]):
    """s_t = f(s_{t−1}, y_{t−1}), then a context c_t by attention with s_t as query; tanh(W [c_t; s_t]) predicts
    (Luong et al., 2015, sec. 3). Nothing of c_t enters the recurrence, so a known target needs one pass of each part.

    Without attention the source's summary is the first state and part of every input (Cho et al., 2014, eq. 7).
    """

    def __init__(
        self,
        embedding: TokenEmbedding,
        stack: Stack,
        attention: Attention | None,
        *,
        source_size: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding, self.stack, self.attention = embedding, stack, attention
        self.attends = attention is not None
        size = stack.output_size
        self.first_states = nn.Linear(source_size, size * stack.layers)
        self.join = nn.Linear(source_size + size, size) if self.attends else nn.Identity()
        self.dropout = nn.Dropout(dropout)
        self.bias = nn.Parameter(torch.zeros(embedding.table.num_embeddings))

    def start(self, encoded: Encoded) -> RecurrentState:
        """Every layer's first state is a squashed map of the summary."""
        first = torch.tanh(self.first_states(encoded.summary)).chunk(self.stack.layers, dim=-1)
        cells = tuple(self.first_state(layer, hidden) for layer, hidden in enumerate(first))
        source = None
        if self.attention is not None:
            source = self.attention.prepare(encoded.states, encoded.states, valid=encoded.valid)
        at = torch.zeros(len(encoded.summary), dtype=torch.long, device=encoded.summary.device)
        return RecurrentState(cells, source, encoded.summary, at)

    def first_state(self, layer: int, hidden: Tensor) -> Any:
        """A cell's own start, with this as what it says."""
        return self.stack.cell(layer).start(hidden)._replace(hidden=hidden)

    def step(self, token: Tensor, state: RecurrentState) -> Step[RecurrentState]:
        """One cell step, one look at the source."""
        said, cells = self.stack.step(self.inputs(token, state.summary), state.cells)
        features = self.attend(said.unsqueeze(1), state.source, query_at=state.at[:1]).squeeze(1)
        return Step(self.to_logits(features), state._replace(cells=cells, at=state.at + 1))

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """One walk over the known target, one attention for all its steps."""
        state = self.start(encoded)
        return self.attend(self.walk(previous, state), state.source)

    def walk(self, previous: Tensor, state: RecurrentState) -> Tensor:
        """What the cells say at each step (B, T, D)."""
        outputs: Tensor = self.stack(self.inputs(previous, state.summary), state.cells).outputs
        return outputs

    def inputs(self, tokens: Tensor, summary: Tensor) -> Tensor:
        """Embedded tokens (B,) or (B, T); without attention the summary stands beside each."""
        embedded: Tensor = self.embedding(tokens)
        if self.attends:
            return embedded
        summary = summary if tokens.dim() == 1 else summary.unsqueeze(1).expand(-1, tokens.size(1), -1)
        return torch.cat([embedded, summary], dim=-1)

    def attend(self, said: Tensor, source: Prepared | None, *, query_at: Tensor | None = None) -> Tensor:
        """Join each step (B, T, D) with its context."""
        if self.attention is None or source is None:
            dropped: Tensor = self.dropout(said)
            return dropped
        context = self.attention.read(said, source, query_at=query_at)
        joined: Tensor = self.dropout(torch.tanh(self.join(torch.cat([context, said], dim=-1))))
        return joined

    def to_logits(self, features: Tensor) -> Tensor:
        """Compare with every token's own vector (tied weights)."""
        return nn.functional.linear(features, self.embedding.table.weight, self.bias)

    def weights(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """One layer, one head; none at all without attention."""
        state = self.start(encoded)
        if self.attention is None or state.source is None:
            return encoded.states.new_zeros(len(previous), 0, 0, previous.size(1), encoded.valid.size(1))
        return self.attention.share(self.walk(previous, state), state.source)[:, None, None]
