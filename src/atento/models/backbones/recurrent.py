"""Recurrent encoder and what all recurrent decoders share. Each kind of decoder has a file of its own.

How a recurrent decoder gets the summary of its source: as its first state, with every input, or both.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.weights import Look
from atento.layers.embeddings import TokenEmbedding
from atento.models.protocols import Decoder, Encoded, Encoder, Step
from atento.models.summaries import Summary
from atento.recurrent.stack import Stack

# Axes: B batch, T target time, S source size, E embedding, D size, L layers.


class Handover(NamedTuple):
    """Two maps: the summary (B, S) to all layers' first states, and how it stands with an input."""

    first_states: nn.Module  # (B, S) -> (B, L·D), before it is squashed
    feed: "Alone | Beside"


class Silence(nn.Module):
    """A first state of zeros, whatever the source."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, summary: Tensor) -> Tensor:
        """(B, S) -> zeros (B, size)."""
        return summary.new_zeros(len(summary), self.size)


class Alone(nn.Module):
    """An input is the last token's vector."""

    added = 0  # features

    def forward(self, embedded: Tensor, summary: Tensor) -> Tensor:
        """As it is."""
        return embedded


class Beside(nn.Module):
    """An input is [the last token's vector; the summary] (Cho et al., 2014, eq. 7)."""

    def __init__(self, source_size: int) -> None:
        super().__init__()
        self.added = source_size

    def forward(self, embedded: Tensor, summary: Tensor) -> Tensor:
        """Embedded (B, E) or (B, T, E), summary (B, S) -> (..., E + S)."""
        if embedded.dim() == 3:
            summary = summary.unsqueeze(1).expand(-1, embedded.size(1), -1)
        return torch.cat([embedded, summary], dim=-1)


def as_state(source_size: int, size: int) -> Handover:
    """The summary is where the decoder starts; `size` is of all its layers together."""
    return Handover(nn.Linear(source_size, size), Alone())


def as_input(source_size: int, size: int) -> Handover:
    """The summary is read again at every step."""
    return Handover(Silence(size), Beside(source_size))


def as_both(source_size: int, size: int) -> Handover:
    """The summary starts the decoder and is read at every step."""
    return Handover(nn.Linear(source_size, size), Beside(source_size))


# Axes: B batch, N source time, T target time, V vocabulary, I input, D size, S source size.


class RecurrentEncoder(Encoder):
    """Embeds and walks; the summary is made of the states."""

    def __init__(self, embedding: TokenEmbedding, stack: Stack, summarise: Summary, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding, self.stack, self.summarise = embedding, stack, summarise
        self.dropout = nn.Dropout(dropout)
        self.size = stack.output_size

    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """One state a token."""
        states: Tensor = self.stack(self.embedding(tokens), valid=valid).outputs
        return Encoded(self.dropout(states), valid, self.dropout(self.summarise(states, valid)))


class RecurrentState(NamedTuple):
    """All a recurrent decoder carries from one token to the next."""

    cells: tuple[Any, ...]  # one cell state a layer
    source: Any  # what attention reads, as it prepares it; None: no attention
    summary: Tensor  # (B, S)
    at: Tensor  # (B,) position of the next token


class Walked(NamedTuple):
    """Several steps of a known target."""

    features: Tensor  # (B, T, D) what `to_logits` reads
    asked: Tensor  # (B, T, D) the states attention was asked with; weights are recomputed from them when wanted
    state: RecurrentState  # after the last step


class RecurrentDecoder(Decoder[RecurrentState], ABC):
    """A stack that writes. Leaves say whether it looks at the source, and when."""

    recurs = True
    equation: ClassVar[str]  # of the states that are asked with, as a reader knows it

    def __init__(
        self,
        embedding: TokenEmbedding,
        stack: Stack,
        handover: Handover,
        attention: Attention | None,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding, self.stack, self.attention = embedding, stack, attention
        self.attends = attention is not None
        self.first_states, self.feed = handover
        self.dropout = nn.Dropout(dropout)
        self.bias = nn.Parameter(torch.zeros(embedding.table.num_embeddings))

    @abstractmethod
    def move(self, input: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """One step: input (B, I) -> features (B, D) and the state after it."""

    @abstractmethod
    def walk(self, inputs: Tensor, state: RecurrentState, *, at: Tensor | None = None) -> Walked:
        """The steps of inputs (B, T, I) at positions `at` (T,); None: they stand at the start."""

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
        """One move."""
        features, state = self.move(self.inputs(token, state), state)
        return Step(self.to_logits(features), state)

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """One walk over the known target."""
        state = self.start(encoded)
        return self.walk(self.inputs(previous, state), state).features

    def resume(self, previous: Tensor, state: RecurrentState) -> Walked:
        """Go on with a known stretch (B, T) of the target from where a state stands."""
        at = state.at[:1] + torch.arange(previous.size(1), device=previous.device)
        return self.walk(self.inputs(previous, state), state, at=at)

    def inputs(self, tokens: Tensor, state: RecurrentState) -> Tensor:
        """What the cells read of tokens (B,) or (B, T)."""
        fed: Tensor = self.feed(self.embedding(tokens), state.summary)
        return fed

    def to_logits(self, features: Tensor) -> Tensor:
        """Compare with every token's vector."""
        return nn.functional.linear(features, self.embedding.outputs, self.bias)

    def looks(self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)) -> Iterator[Look]:
        """One layer of one head; none at all without attention."""
        if self.attention is not None and range(1)[layers]:
            state = self.start(encoded)
            yield Look(self.attention, self.walk(self.inputs(previous, state), state).asked, state.source)
