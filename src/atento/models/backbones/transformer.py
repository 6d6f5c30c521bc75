"""Transformer encoder and decoder."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.extents.extents import Prepared
from atento.attention.weights import Look, weights_of
from atento.blocks.transformer import DecoderLayer, TransformerStack, closing_norm
from atento.layers.embeddings import PlacedEmbedding
from atento.layers.masking import masked_mean
from atento.models.protocols import Decoder, Encoded, Encoder, Step
from atento.models.summaries import Summary

# Axes: B batch, N source time, T target time, V vocabulary, D size, L layers, H heads.


class TransformerEncoder(Encoder):
    """Embeds, adds positions, passes the layers. The summary is the mean of the real states unless told."""

    def __init__(self, embedding: PlacedEmbedding, stack: TransformerStack, summarise: Summary = masked_mean) -> None:
        super().__init__()
        self.embedding, self.stack, self.size, self.summarise = embedding, stack, embedding.size, summarise

    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """All tokens at once."""
        states: Tensor = self.stack(self.embedding.whole(tokens, valid), valid=valid)
        return Encoded(states, valid, self.summarise(states, valid))

    def weights(
        self,
        tokens: Tensor,
        valid: Tensor,
        *,
        layers: slice = slice(None),
        heads: slice = slice(None),
        rows: slice = slice(None),
    ) -> Tensor:
        """Where the asked tokens looked: (B, layers, heads, rows, N), recomputed beside the fast path."""
        return weights_of(self.looks(tokens, valid, layers=layers), heads=heads, rows=rows)

    def looks(self, tokens: Tensor, valid: Tensor, *, layers: slice = slice(None)) -> Iterator[Look]:
        """The self-attention of the asked layers."""
        return self.stack.looks(self.embedding.whole(tokens, valid), valid=valid, layers=layers)


class TransformerState(NamedTuple):
    """A cache: for each layer its own past and the prepared source."""

    own: tuple[Prepared, ...]  # empty before the first token
    source: tuple[Prepared, ...]
    at: Tensor  # (B,) position of the next token


class TransformerDecoder(Decoder[TransformerState]):
    """Embeds, adds positions, passes the layers; the embedding also predicts."""

    attends = True
    recurs = False

    def __init__(self, embedding: PlacedEmbedding, layers: list[DecoderLayer]) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(layers)
        self.norm = closing_norm(embedding.size, layers[0].around_self.order)
        self.bias = nn.Parameter(torch.zeros(embedding.tokens.table.num_embeddings))

    def start(self, encoded: Encoded) -> TransformerState:
        """Prepare the source for each layer's cross-attention, once."""
        at = torch.zeros(len(encoded.valid), dtype=torch.long, device=encoded.valid.device)
        return TransformerState((), self.prepare(encoded), at)

    def prepare(self, encoded: Encoded) -> tuple[Prepared, ...]:
        """The source as each layer reads it."""
        return tuple(layer.cross_attention.prepare(encoded.states, valid=encoded.valid) for layer in self.stack())

    def step(self, token: Tensor, state: TransformerState) -> Step[TransformerState]:
        """One position after the cached ones."""
        at = state.at[:1]
        values = self.embedding(token.unsqueeze(1), at)
        own: list[Prepared] = []
        for index, layer in enumerate(self.stack()):
            past = state.own[index] if state.own else None
            passed = layer(values, state.source[index], past, at=at)
            values = passed.values
            own.append(passed.own)
        logits = self.to_logits(self.norm(values).squeeze(1))
        return Step(logits, TransformerState(tuple(own), state.source, state.at + 1))

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """All positions in one pass."""
        values = self.embed(previous)
        for layer, source in zip(self.stack(), self.prepare(encoded), strict=True):
            values = layer(values, source).values
        normed: Tensor = self.norm(values)
        return normed

    def looks(self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)) -> Iterator[Look]:
        """The cross-attention of the asked layers; those above them are not passed."""
        values, asked = self.embed(previous), range(len(self.layers))[layers]
        for index, layer in enumerate(self.stack()[: max(asked, default=-1) + 1]):
            source = layer.cross_attention.prepare(encoded.states, valid=encoded.valid)
            passed = layer(values, source)
            if index in asked:
                yield Look(layer.cross_attention, passed.asked, source)
            values = passed.values

    def to_logits(self, features: Tensor) -> Tensor:
        """Compare with every token's vector."""
        return nn.functional.linear(features, self.embedding.tokens.outputs, self.bias)

    def embed(self, tokens: Tensor) -> Tensor:
        """Tokens (B, T) from position 0."""
        embedded: Tensor = self.embedding(tokens, torch.arange(tokens.size(1), device=tokens.device))
        return embedded

    def stack(self) -> list[DecoderLayer]:
        """The layers, typed."""
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]
