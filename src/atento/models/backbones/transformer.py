"""Transformer encoder, decoder, and the causal decoder-only Transformer."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.extents.extents import Causal, Extent, Intersection, PreparedKeys, Union
from atento.attention.weights import AttentionCall, weights_of
from atento.blocks.packed_transformer import is_packable, pass_decoder_layers
from atento.blocks.transformer import TransformerDecoderLayer
from atento.blocks.transformer_stack import TransformerStack, final_norm
from atento.errors import InputError
from atento.layers.embeddings import PositionedEmbedding
from atento.layers.masking import masked_mean
from atento.layers.packing import Packing
from atento.layers.products import linear
from atento.models.backbones.transformer_steps import TransformerSteps, can_step
from atento.models.protocols import Decoder, DecoderStep, Encoded, Encoder, SearchSteps
from atento.models.summaries import Summary

# Axes: B batch, N source time, T target time, V vocabulary, D size, L layers, H heads.


class TransformerEncoder(Encoder):
    """Token embeddings with positions through layers of self-attention; by default the summary is the mean state."""

    def __init__(
        self, embedding: PositionedEmbedding, stack: TransformerStack, summarize: Summary = masked_mean
    ) -> None:
        super().__init__()
        self.embedding, self.stack, self.size, self.summarize = embedding, stack, embedding.size, summarize

    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """One state for each token, all in parallel; at padding token 0 is read: characters there must not matter."""
        padding = ~valid.view(*valid.shape, *[1] * (tokens.dim() - 2))  # tokens (B, N), or (B, N, 1 + characters)
        states: Tensor = self.stack(self.embedding.embed_padded(tokens.masked_fill(padding, 0), valid), valid=valid)
        return Encoded(states, valid, self.summarize(states, valid))

    def weights(
        self,
        tokens: Tensor,
        valid: Tensor,
        *,
        layers: slice = slice(None),
        heads: slice = slice(None),
        rows: slice = slice(None),
    ) -> Tensor:
        """Self-attention weights (B, L, H, rows, N) of the selected layers, heads and rows, recomputed."""
        return weights_of(self.attention_calls(tokens, valid, layers=layers), heads=heads, rows=rows)

    def attention_calls(self, tokens: Tensor, valid: Tensor, *, layers: slice = slice(None)) -> Iterator[AttentionCall]:
        """The self-attention of the selected layers."""
        return self.stack.attention_calls(self.embedding.embed_padded(tokens, valid), valid=valid, layers=layers)


class TransformerState(NamedTuple):
    """The key–value cache of a decoder: for each layer its own past and the source."""

    own: tuple[PreparedKeys, ...]  # empty before the first token
    source: tuple[PreparedKeys, ...]
    at: Tensor  # (B,) position of the next token


class TransformerDecoder(Decoder[TransformerState]):
    """Token embeddings with positions through layers of causal self-attention and attention over the source."""

    attends = True
    is_recurrent = False

    def __init__(self, embedding: PositionedEmbedding, layers: list[TransformerDecoderLayer]) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(layers)
        self.norm = final_norm(embedding.size, layers[0].around_self.order)
        self.bias = nn.Parameter(torch.zeros(embedding.tokens.table.num_embeddings))

    def start(self, encoded: Encoded) -> TransformerState:
        """Keys and values of the source for each layer's cross-attention, computed once."""
        at = torch.zeros(encoded.valid.size(0), dtype=torch.long, device=encoded.valid.device)
        return TransformerState((), self.prepare(encoded), at)

    def prepare(self, encoded: Encoded) -> tuple[PreparedKeys, ...]:
        """Keys and values of the source for each layer."""
        return tuple(layer.cross_attention.prepare(encoded.states, valid=encoded.valid) for layer in self.stack())

    def step(self, token: Tensor, state: TransformerState) -> DecoderStep[TransformerState]:
        """One position after the cached ones."""
        at = state.at[:1]
        values = self.embedding(token.unsqueeze(1), at)
        own: list[PreparedKeys] = []
        for index, layer in enumerate(self.stack()):
            past = state.own[index] if state.own else None
            passed = layer(values, state.source[index], past, at=at)
            values = passed.values
            own.append(passed.cache)
        logits = self.to_logits(self.norm(values).squeeze(1))
        return DecoderStep(logits, TransformerState(tuple(own), state.source, state.at + 1))

    def steps(self, encoded: Encoded, *, room: int, copies: int = 1) -> SearchSteps:
        """Its steps, with keys and values written in place where all attention is of products and softmax."""
        empty = not bool(encoded.valid.any(dim=1).all())  # a source without tokens is seen by the formula alone
        if self.training or empty or not can_step(self.stack()):
            return super().steps(encoded, room=room, copies=copies)
        output = self.embedding.tokens.output_weight, self.bias
        return TransformerSteps(self.embedding, self.stack(), self.norm, output, encoded, room=room, copies=copies)

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """All positions in one pass."""
        values = embed_from_start(self.embedding, previous)
        if is_packable(self.stack(), values, encoded.states):
            packing = Packing.of(values, None)
            return packing.unpack(self.packed_features(values, packing, encoded))
        for layer, source in zip(self.stack(), self.prepare(encoded), strict=True):
            values = layer(values, source).values
        return self.norm(values)

    def real_features(self, previous: Tensor, valid: Tensor, encoded: Encoded) -> Tensor:
        """The features of real steps, computed without the others where those come after all that is real."""
        values = embed_from_start(self.embedding, previous)
        packing = Packing.of(values, valid)
        if not is_packable(self.stack(), values, encoded.states) or not packing.is_right:
            return super().real_features(previous, valid, encoded)
        return self.packed_features(values, packing, encoded)[: packing.items]

    def packed_features(self, values: Tensor, packing: Packing, encoded: Encoded) -> Tensor:
        """Features (M, D) of embedded real steps."""
        source = Packing.of(encoded.states, encoded.valid)
        return pass_decoder_layers(self.stack(), self.norm, values, packing, encoded.states, source)

    def attention_calls(
        self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)
    ) -> Iterator[AttentionCall]:
        """The cross-attention of the selected layers; layers above them are not computed."""
        values, selected = embed_from_start(self.embedding, previous), range(len(self.layers))[layers]
        for index, layer in enumerate(self.stack()[: max(selected, default=-1) + 1]):
            source = layer.cross_attention.prepare(encoded.states, valid=encoded.valid)
            passed = layer(values, source)
            if index in selected:
                yield AttentionCall(layer.cross_attention, passed.query, source)
            values = passed.values

    def to_logits(self, features: Tensor) -> Tensor:
        """Dot products with every token's output vector, plus a bias."""
        return linear(features, self.embedding.tokens.output_weight, self.bias)

    def stack(self) -> list[TransformerDecoderLayer]:
        """The layers, typed."""
        return [layer for layer in self.layers if isinstance(layer, TransformerDecoderLayer)]


class CausalState(NamedTuple):
    """The key–value cache of a decoder-only Transformer."""

    own: tuple[PreparedKeys, ...]  # of each layer; empty before the first token
    at: Tensor  # (B,) position of the next token


class CausalTransformer(Decoder[CausalState]):
    """A decoder-only Transformer (Radford et al., 2018): layers of causal self-attention and no source; the embedding
    also predicts (tied weights).
    """

    attends = True
    is_recurrent = False

    def __init__(self, embedding: PositionedEmbedding, stack: TransformerStack) -> None:
        super().__init__()
        self.embedding, self.stack = embedding, stack
        self.bias = nn.Parameter(torch.zeros(embedding.tokens.table.num_embeddings))
        for layer in stack.each():
            if not is_causal(layer.self_attention.attention.extent):
                raise InputError(
                    "CausalTransformer: a token must not see the tokens after it.",
                    found=f"self-attention with the extent {layer.self_attention.attention.extent}",
                    fix="make it causal: Causal() & extent",
                )

    def start(self, encoded: Encoded) -> CausalState:
        """An empty cache."""
        return CausalState((), torch.zeros(encoded.valid.size(0), dtype=torch.long, device=encoded.valid.device))

    def step(self, token: Tensor, state: CausalState) -> DecoderStep[CausalState]:
        """One position after the cached ones."""
        features, state = self.resume(token.unsqueeze(1), state)
        return DecoderStep(self.to_logits(features.squeeze(1)), state)

    def steps(self, encoded: Encoded, *, room: int, copies: int = 1) -> SearchSteps:
        """Its steps, with keys and values written in place where all attention is of products and softmax."""
        if self.training or not can_step(self.stack.each()):
            return super().steps(encoded, room=room, copies=copies)
        output, layers = (self.embedding.tokens.table.weight, self.bias), self.stack.each()
        return TransformerSteps(self.embedding, layers, self.stack.norm, output, encoded, room=room, copies=copies)

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """All positions in one pass."""
        return self.stack(embed_from_start(self.embedding, previous))

    def real_features(self, previous: Tensor, valid: Tensor, encoded: Encoded) -> Tensor:
        """The features of real steps, computed without the others where those come after all that is real."""
        values = embed_from_start(self.embedding, previous)
        packing = Packing.of(values, valid)
        if not is_packable([self.stack], values) or not packing.is_right:
            return super().real_features(previous, valid, encoded)
        return self.stack.pass_packed(values, packing)[: packing.items]

    def resume(self, previous: Tensor, state: CausalState) -> tuple[Tensor, CausalState]:
        """Features (B, T, D) of more known tokens (B, T) after the cached ones, and the cache after them."""
        at = state.at[:1] + torch.arange(previous.size(1), device=previous.device)
        values, own = self.stack.extend(self.embedding(previous, at), state.own, at=at)
        return values, CausalState(own, state.at + previous.size(1))

    def to_logits(self, features: Tensor) -> Tensor:
        """Dot products with every token's vector, plus a bias."""
        return linear(features, *self.output_layer())

    def output_layer(self) -> tuple[Tensor, Tensor]:
        """The vector of every token (V, D), and its bias (V,)."""
        return self.embedding.tokens.table.weight, self.bias

    def attention_calls(
        self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)
    ) -> Iterator[AttentionCall]:
        """The causal self-attention of the selected layers."""
        return self.stack.attention_calls(embed_from_start(self.embedding, previous), layers=layers)


def embed_from_start(embedding: PositionedEmbedding, tokens: Tensor) -> Tensor:
    """Embeddings (B, T, D) of tokens (B, T) at positions 0 to T − 1."""
    return embedding(tokens, torch.arange(tokens.size(1), device=tokens.device))


def is_causal(extent: Extent) -> bool:
    """Whether no query sees a key after it."""
    if isinstance(extent, Intersection):
        return is_causal(extent.left) or is_causal(extent.right)
    if isinstance(extent, Union):
        return is_causal(extent.left) and is_causal(extent.right)
    return isinstance(extent, Causal)
