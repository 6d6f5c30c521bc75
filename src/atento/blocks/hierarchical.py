"""Attention at several levels: words, sentences and documents, or several embeddings of the same item.

`HierarchicalAttention` encodes and pools the words of each sentence, then the sentences of the document.
`MultiRepresentationalAttention` mixes embeddings of each item by attention.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from atento.attention.requirements import require_positive
from atento.blocks.pooling import AttentionPooling
from atento.errors import InputError
from atento.layers.masking import clean, require_items
from atento.layers.products import Linear
from atento.recurrent.stack import Stack

# Axes: B batch, S sentences, W words, T time, E embeddings, D size.


class SequenceEncoder(Protocol):
    """An encoder of a sequence before it is pooled: values (B, T, D), valid (B, T) -> (B, T, other D).

    A `TransformerEncoderLayer` or a `TransformerStack` is one; `StackEncoder` makes one of a recurrent stack.
    """

    def __call__(self, values: Tensor, *, valid: Tensor | None) -> Tensor:
        """A vector for each item, which may depend on the others."""


class StackEncoder(nn.Module):
    """A recurrent stack as an encoder: the outputs of its top layer."""

    def __init__(self, stack: Stack) -> None:
        super().__init__()
        self.stack = stack

    def forward(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """An output for each item."""
        return self.stack(values, valid=valid).outputs


class IdentityEncoder(nn.Module):
    """No encoder: the values as they are."""

    def forward(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The same values."""
        return values


class HierarchicalWeights(NamedTuple):
    """The attention weights of both levels."""

    words: Tensor  # (B, S, W) within each sentence
    sentences: Tensor  # (B, S)


class HierarchicalAttention(nn.Module):
    """Encode and pool the words of each sentence, then the sentences of the document (Yang et al., 2016, eq. 5–10).

    words (B, S, W, D), valid (B, S, W) -> (B, D'). Sentences and documents may be ragged; an empty one gives zeros.
    """

    def __init__(
        self,
        word_encoder: SequenceEncoder,
        word_pooling: AttentionPooling,
        sentence_encoder: SequenceEncoder,
        sentence_pooling: AttentionPooling,
    ) -> None:
        super().__init__()
        self.word_encoder, self.word_pooling = word_encoder, word_pooling
        self.sentence_encoder, self.sentence_pooling = sentence_encoder, sentence_pooling

    def forward(self, words: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """A vector for each document."""
        sentences = self.encode_sentences(self.encode_words(words, valid), valid)
        return self.sentence_pooling(sentences, valid=valid_sentences(valid))

    def weights(self, words: Tensor, *, valid: Tensor | None = None) -> HierarchicalWeights:
        """The weights of both levels."""
        encoded = self.encode_words(words, valid)
        sentences = self.encode_sentences(encoded, valid)
        return HierarchicalWeights(
            self.word_pooling.weights(encoded, valid=valid),
            self.sentence_pooling.weights(sentences, valid=valid_sentences(valid)),
        )

    def encode_words(self, words: Tensor, valid: Tensor | None) -> Tensor:
        """The words of each sentence, encoded: (B, S, W, D')."""
        require_items("words", words, valid, axes="B, S, W")
        inside = None if valid is None else valid.flatten(0, 1)
        encoded = self.word_encoder(clean(words, valid).flatten(0, 1), valid=inside)
        return encoded.view(*words.shape[:-1], -1)

    def encode_sentences(self, encoded: Tensor, valid: Tensor | None) -> Tensor:
        """The encoded words pooled to sentences, and the sentences encoded: (B, S, D')."""
        return self.sentence_encoder(self.word_pooling(encoded, valid=valid), valid=valid_sentences(valid))


def valid_sentences(valid: Tensor | None) -> Tensor | None:
    """Which sentences have a word: (B, S, W) -> (B, S)."""
    return None if valid is None else valid.any(dim=-1)


class MultiRepresentationalAttention(nn.Module):
    """A weighted sum of several embeddings of each item, mapped to one width: Σ_i α_i (P_i x_i + b_i)
    (dynamic meta-embeddings: Kiela et al., 2018, sec. 3; α_i = softmax(a · (P_i x_i + b_i)) there).

    E tensors (B, T, sizes[i]) -> (B, T, size).
    """

    def __init__(self, sizes: Sequence[int], size: int, pooling: AttentionPooling) -> None:
        super().__init__()
        if not sizes:
            raise InputError(
                "MultiRepresentationalAttention: sizes names no embedding.", found="[]", fix="give one width each"
            )
        require_positive(
            "MultiRepresentationalAttention", size=size, **{f"sizes[{at}]": width for at, width in enumerate(sizes)}
        )
        self.sizes, self.pooling = tuple(sizes), pooling
        self.maps = nn.ModuleList(Linear(width, size) for width in sizes)

    def forward(self, embeddings: Sequence[Tensor], *, valid: Tensor | None = None) -> Tensor:
        """A vector for each item; valid (B, T)."""
        return self.pooling(self.mapped(embeddings, valid), valid=self.expand_valid(valid))

    def weights(self, embeddings: Sequence[Tensor], *, valid: Tensor | None = None) -> Tensor:
        """The weight of each embedding: (B, T, E)."""
        return self.pooling.weights(self.mapped(embeddings, valid), valid=self.expand_valid(valid))

    def mapped(self, embeddings: Sequence[Tensor], valid: Tensor | None) -> Tensor:
        """All embeddings mapped to one width: (B, T, E, D)."""
        if len(embeddings) != len(self.maps):
            raise InputError(
                f"embeddings must be {len(self.maps)} tensors, one for each of the sizes.",
                found=f"{len(embeddings)} tensors",
                fix="give them in the order of the sizes",
            )
        projected = []
        for at, (width, map_) in enumerate(zip(self.sizes, self.maps, strict=True)):
            require_items(f"embeddings[{at}]", embeddings[at], valid, width=width)
            projected.append(map_(clean(embeddings[at], valid)))
        return torch.stack(projected, dim=-2)

    def expand_valid(self, valid: Tensor | None) -> Tensor | None:
        """The mask of items for each of their embeddings: (B, T) -> (B, T, E)."""
        return None if valid is None else valid.unsqueeze(-1).expand(*valid.shape, len(self.maps))
