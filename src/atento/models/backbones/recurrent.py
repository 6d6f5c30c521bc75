"""Recurrent encoder, and the base class of recurrent decoders (`recurrent_decoders` holds the three kinds).

A handover says how a decoder receives the summary of its source: as its first state, with every input, or both.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.weights import AttentionCall
from atento.layers.dropout import Dropout
from atento.layers.embeddings import TokenEmbedding
from atento.layers.products import Linear, linear
from atento.layers.regularization import ActivationPenalty, LockedDropout
from atento.models.protocols import Decoder, DecoderStep, Encoded, Encoder
from atento.models.summaries import Summary
from atento.recurrent.stack import Stack

# Axes: B batch, N source time, T target time, V vocabulary, E embedding, I input, D size, S source size, L layers.


class RecurrentEncoder(Encoder):
    """Embeds tokens and runs a recurrent stack over them; the summary is a function of the states."""

    def __init__(self, embedding: TokenEmbedding, stack: Stack, summarize: Summary, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding, self.stack, self.summarize = embedding, stack, summarize
        self.dropout = Dropout(dropout)
        self.size = stack.output_size

    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """One state for each token; at padding token 0 is read, as the characters of words there must not matter."""
        padding = ~valid.view(*valid.shape, *[1] * (tokens.dim() - 2))  # tokens (B, N), or (B, N, 1 + characters)
        states: Tensor = self.stack(self.embedding(tokens.masked_fill(padding, 0)), valid=valid).outputs
        return Encoded(self.dropout(states), valid, self.dropout(self.summarize(states, valid)))


class Handover(NamedTuple):
    """How a decoder receives the summary (B, S): the map to its first states, and what is added to its inputs."""

    first_states: nn.Module  # (B, S) -> (B, L·D), before tanh
    feed: "NoContext | ConcatContext"


class ZeroState(nn.Module):
    """A first state of zeros, independent of the source."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, summary: Tensor) -> Tensor:
        """(B, S) -> zeros (B, size)."""
        return summary.new_zeros(summary.size(0), self.size)


class NoContext(nn.Module):
    """The input of a step is the embedding of the last token alone."""

    added = 0  # features

    def forward(self, embedded: Tensor, summary: Tensor) -> Tensor:
        """The embedding, unchanged."""
        return embedded


class ConcatContext(nn.Module):
    """The input of a step is [embedding of the last token; summary] (Cho et al., 2014, eq. 7)."""

    def __init__(self, source_size: int) -> None:
        super().__init__()
        self.added = source_size

    def forward(self, embedded: Tensor, summary: Tensor) -> Tensor:
        """Embedded (B, E) or (B, T, E), summary (B, S) -> (..., E + S)."""
        if embedded.dim() == 3:
            summary = summary.unsqueeze(1).expand(-1, embedded.size(1), -1)
        return torch.cat([embedded, summary], dim=-1)


def as_state(source_size: int, size: int) -> Handover:
    """The summary gives the first states; `size` is that of all layers together."""
    return Handover(Linear(source_size, size), NoContext())


def as_input(source_size: int, size: int) -> Handover:
    """The summary is part of every input; the first states are zero."""
    return Handover(ZeroState(size), ConcatContext(source_size))


def as_both(source_size: int, size: int) -> Handover:
    """The summary gives the first states and is part of every input."""
    return Handover(Linear(source_size, size), ConcatContext(source_size))


class RecurrentState(NamedTuple):
    """The state of a recurrent decoder between two tokens."""

    cells: tuple[Any, ...]  # one cell state for each layer
    source: Any  # the prepared keys and values of attention; None without attention
    summary: Tensor  # (B, S)
    at: Tensor  # (B,) position of the next token


class DecodedSteps(NamedTuple):
    """Several steps of a known target."""

    features: Tensor  # (B, T, D) input of `to_logits`
    hidden: Tensor  # (B, T, D) s_t
    queries: Tensor  # (B, T, D) of attention; weights are recomputed from them on request
    state: RecurrentState  # after the last step


class RecurrentDecoder(Decoder[RecurrentState], ABC):
    """A decoder around a recurrent stack. Subclasses define whether and when it attends to the source."""

    is_recurrent = True
    equation: ClassVar[str]  # of the states that are the queries, shown by `look`

    def __init__(
        self,
        embedding: TokenEmbedding,
        stack: Stack,
        handover: Handover,
        attention: Attention | None = None,
        *,
        source_size: int = 0,
        dropout: float = 0.0,
        locked: bool = False,
        activation_penalty: ActivationPenalty | None = None,
    ) -> None:
        super().__init__()
        self.embedding, self.stack, self.attention = embedding, stack, attention
        self.attends = attention is not None
        self.first_states, self.feed = handover
        self.dropout = LockedDropout(dropout) if locked else Dropout(dropout)
        self.activation_penalty = activation_penalty
        self.bias = nn.Parameter(torch.zeros(embedding.table.num_embeddings))
        if attention is not None:
            self.join = Linear(source_size + stack.output_size, stack.output_size)  # of context and hidden vector

    @abstractmethod
    def advance(self, input: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """One step: input (B, I) -> features (B, D) and the next state."""

    @abstractmethod
    def unroll(self, inputs: Tensor, state: RecurrentState, *, at: Tensor | None = None) -> DecodedSteps:
        """All steps of inputs (B, T, I) at positions `at` (T,); None: from position 0."""

    def start(self, encoded: Encoded) -> RecurrentState:
        """The first hidden state of every layer is tanh of a map of the summary."""
        cells = self.stack.start_from(torch.tanh(self.first_states(encoded.summary)))
        source = None
        if self.attention is not None:
            source = self.attention.prepare(encoded.states, encoded.states, valid=encoded.valid)
        at = torch.zeros(encoded.summary.size(0), dtype=torch.long, device=encoded.summary.device)
        return RecurrentState(cells, source, encoded.summary, at)

    def step(self, token: Tensor, state: RecurrentState) -> DecoderStep[RecurrentState]:
        """One step after a token (B,)."""
        features, state = self.advance(self.inputs(token, state), state)
        return DecoderStep(self.to_logits(features), state)

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """All steps of a known target, from the first state."""
        state = self.start(encoded)
        return self.unroll(self.inputs(previous, state), state).features

    def resume(self, previous: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """Features (B, T, D) of more known tokens (B, T) from a given state, and the state after them."""
        at = state.at[:1] + torch.arange(previous.size(1), device=previous.device)
        steps = self.unroll(self.inputs(previous, state), state, at=at)
        return steps.features, steps.state

    def inputs(self, tokens: Tensor, state: RecurrentState) -> Tensor:
        """The stack's inputs for tokens (B,) or (B, T)."""
        return self.feed(self.embedding(tokens), state.summary)

    def to_logits(self, features: Tensor) -> Tensor:
        """Dot products with every token's output vector, plus a bias."""
        return linear(features, *self.output_layer())

    def output_layer(self) -> tuple[Tensor, Tensor]:
        """The output vector of every token (V, D), and its bias (V,)."""
        return self.embedding.output_weight, self.bias

    def attention_calls(
        self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)
    ) -> Iterator[AttentionCall]:
        """One layer of one head; empty without attention."""
        if self.attention is not None and range(1)[layers]:
            state = self.start(encoded)
            queries = self.unroll(self.inputs(previous, state), state).queries
            yield AttentionCall(self.attention, queries, state.source)
