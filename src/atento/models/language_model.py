"""Language models: P(x) = ∏ P(x_t | x_<t), recurrent or a Transformer's decoder alone.

Masked language models: an encoder reads both sides of what is hidden and says what stands there.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.extents.extents import Both, Causal, Either, Extent, Prepared
from atento.attention.weights import Look
from atento.blocks.transformer import TransformerStack
from atento.errors import InputError
from atento.layers.embeddings import PlacedEmbedding, TokenEmbedding
from atento.layers.losses import Loss, precise, token_cross_entropy
from atento.models.backbones.recurrent import RecurrentDecoder
from atento.models.protocols import Decoder, Encoded, Encoder, Step
from atento.recurrent.unroll import real_first

# Axes: B batch, T time, V vocabulary, D size, L layers, H heads, M real tokens of all sequences.


class TextBatch(NamedTuple):
    """Sequences, shifted by one against themselves."""

    previous: Tensor  # (B, T) a start mark, then the tokens: what a step may know
    target: Tensor  # (B, T) the tokens, then an end mark: what it should say
    valid: Tensor  # (B, T) of both


class LanguageModel(nn.Module):
    """A decoder with nothing to read but what is written: every search and sampling works on `decoder` and `begin`."""

    def __init__(self, decoder: Decoder[Any]) -> None:
        super().__init__()
        self.decoder = decoder

    def begin(self, rows: int) -> Encoded:
        """So many empty sources: what a decoder starts from."""
        like = next(self.parameters())
        nothing = like.new_zeros(rows, 0)
        return Encoded(nothing.unsqueeze(-1), torch.zeros(rows, 0, dtype=torch.bool, device=like.device), nothing)

    def forward(self, batch: TextBatch) -> Tensor:
        """Logits (M, V) of the real tokens only, row by row; padding may stand anywhere and costs nothing."""
        order = real_first(batch.valid)  # (B, T)
        previous, valid = batch.previous.gather(1, order), batch.valid.gather(1, order)
        features = self.decoder.features(previous.masked_fill(~valid, 0), self.begin(len(previous)))
        return self.decoder.to_logits(features[valid])

    def loss(self, batch: TextBatch) -> Loss:
        """Minus the log-probability of each real token, given those before it."""
        return token_cross_entropy(self(batch), batch.target[batch.valid])

    def resume(self, previous: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Features (B, T, D) after each of more tokens (B, T), which `decoder.to_logits` reads, and the last state."""
        decoder = self.decoder
        if not isinstance(decoder, RecurrentDecoder | CausalTransformer):
            raise TypeError(f"{type(decoder).__name__} cannot go on from a state")
        walked = decoder.resume(previous, state)
        return walked.features, walked.state

    def log_probabilities(self, batch: TextBatch) -> Tensor:
        """log P(x) (B,) of whole sequences, the end mark included: the sum over the steps."""
        steps = precise(self(batch)).log_softmax(dim=-1)  # (M, V)
        said = steps.gather(1, batch.target[batch.valid].unsqueeze(1)).squeeze(1)
        rows = batch.valid.nonzero()[:, 0]  # (M,) the sequence of each token
        return said.new_zeros(len(batch.valid)).index_add(0, rows, said)


class WritingState(NamedTuple):
    """A cache: each layer's keys and values of what is written."""

    own: tuple[Prepared, ...]  # empty before the first token
    at: Tensor  # (B,) position of the next token


class Read(NamedTuple):
    """Several steps of a known text."""

    features: Tensor  # (B, T, D) what `to_logits` reads
    state: WritingState  # after the last step


class CausalTransformer(Decoder[WritingState]):
    """A Transformer's decoder alone (Radford et al., 2018): layers of causal self-attention; the embedding also
    predicts (tied weights).
    """

    attends = True
    recurs = False

    def __init__(self, embedding: PlacedEmbedding, stack: TransformerStack) -> None:
        super().__init__()
        self.embedding, self.stack = embedding, stack
        self.bias = nn.Parameter(torch.zeros(embedding.tokens.table.num_embeddings))
        for layer in stack.each():
            if not looks_back_only(layer.self_attention.attention.extent):
                raise InputError(
                    "a language model must not see what it is to say.",
                    found=f"self-attention with the extent {layer.self_attention.attention.extent}",
                    fix="make it causal: Causal() & extent",
                )

    def start(self, encoded: Encoded) -> WritingState:
        """Nothing is written yet."""
        return WritingState((), torch.zeros(len(encoded.valid), dtype=torch.long, device=encoded.valid.device))

    def step(self, token: Tensor, state: WritingState) -> Step[WritingState]:
        """One position after the cached ones."""
        at = state.at[:1]
        values, own = self.stack.extend(self.embedding(token.unsqueeze(1), at), state.own, at=at)
        return Step(self.to_logits(values.squeeze(1)), WritingState(own, state.at + 1))

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """All positions in one pass."""
        values: Tensor = self.stack(self.embed(previous))
        return values

    def resume(self, previous: Tensor, state: WritingState) -> Read:
        """Go on with known tokens (B, T) from where a cache stands."""
        at = state.at[:1] + torch.arange(previous.size(1), device=previous.device)
        values, own = self.stack.extend(self.embedding(previous, at), state.own, at=at)
        return Read(values, WritingState(own, state.at + previous.size(1)))

    def to_logits(self, features: Tensor) -> Tensor:
        """Compare with every token's own vector."""
        return nn.functional.linear(features, self.embedding.tokens.table.weight, self.bias)

    def looks(self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)) -> Iterator[Look]:
        """What each step asked of those before it: the self-attention of the asked layers."""
        return self.stack.looks(self.embed(previous), layers=layers)

    def embed(self, tokens: Tensor) -> Tensor:
        """Tokens (B, T) from position 0."""
        embedded: Tensor = self.embedding(tokens, torch.arange(tokens.size(1), device=tokens.device))
        return embedded


def looks_back_only(extent: Extent) -> bool:
    """Whether no query sees a key after it."""
    if isinstance(extent, Both):
        return looks_back_only(extent.left) or looks_back_only(extent.right)
    if isinstance(extent, Either):
        return looks_back_only(extent.left) and looks_back_only(extent.right)
    return isinstance(extent, Causal)


# Axes: B batch, N time, V vocabulary, D size, M judged tokens of all sequences.


class MaskedBatch(NamedTuple):
    """Sequences of which some tokens are hidden."""

    source: Tensor  # (B, N) what is read, a mask where a token is hidden
    valid: Tensor  # (B, N)
    target: Tensor  # (B, N) what stands there
    judged: Tensor  # (B, N) where the model is asked


class MaskedModel(nn.Module):
    """An encoder alone (Devlin et al., 2019, sec. 3.1, task 1); its embedding also predicts (tied weights)."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.bias = nn.Parameter(torch.zeros(self.table.num_embeddings))

    @property
    def table(self) -> nn.Embedding:
        """The tokens' vectors."""
        embedding = self.encoder.embedding
        if isinstance(embedding, PlacedEmbedding):
            embedding = embedding.tokens
        if not isinstance(embedding, TokenEmbedding):
            raise TypeError(f"a masked model reads tokens, not {type(embedding).__name__}")
        return embedding.table

    def forward(self, batch: MaskedBatch) -> Tensor:
        """Logits (M, V) of the judged tokens only, row by row."""
        states = self.encoder.encode(batch.source, batch.valid).states
        return self.to_logits(states[batch.judged & batch.valid])

    def to_logits(self, states: Tensor) -> Tensor:
        """Compare with every token's own vector: (..., D) -> (..., V)."""
        return nn.functional.linear(states, self.table.weight, self.bias)

    def loss(self, batch: MaskedBatch) -> Loss:
        """Minus the log-probability of each judged token, given all that is not hidden."""
        return token_cross_entropy(self(batch), batch.target[batch.judged & batch.valid])


def hide(tokens: Tensor, may: Tensor, *, share: float, mask: int, first: int, size: int) -> tuple[Tensor, Tensor]:
    """Tokens (B, N) -> what is read and what is judged: of the judged share 8 in 10 give way to the mask, 1 to any
    token from `first` to `size`, 1 stays as it is (Devlin et al., 2019, sec. 3.1). Where `may` (B, N) allows any, one
    at least is judged.
    """
    coins, ways, others = torch.rand(3, *tokens.shape)
    coins = coins.masked_fill(~may, 2.0)  # never the least
    judged = may & ((coins < share) | (coins == coins.min()))
    anything = (first + others * (size - first)).long().clamp(max=size - 1)
    read = torch.where(ways < 0.8, torch.full_like(tokens, mask), tokens)
    read = torch.where(ways >= 0.9, anything, read)
    return torch.where(judged, read, tokens), judged
