"""Hierarchical attention: words make sentences, sentences make a document.

Multi-representational attention: several embeddings of the same item, weighed against each other.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from atento.attention.requirements import require_positive
from atento.blocks.pooling import AttentionPooling
from atento.errors import InputError
from atento.layers.masking import clean, require_items
from atento.recurrent.stack import Stack

# Axes: B batch, S sentences, W words, D size.


class Reader(Protocol):
    """What reads a sequence before it is summed up: values (B, T, D), valid (B, T) -> (B, T, other D).

    An `EncoderLayer` is one; `RecurrentReader` makes one of a stack.
    """

    def __call__(self, values: Tensor, *, valid: Tensor | None) -> Tensor:
        """Each item in the light of the others."""


class RecurrentReader(nn.Module):
    """A stack of walks as a reader: what its top layer says."""

    def __init__(self, stack: Stack) -> None:
        super().__init__()
        self.stack = stack

    def forward(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """One state an item."""
        outputs: Tensor = self.stack(values, valid=valid).outputs
        return outputs


class ByItself(nn.Module):
    """No reader: each item as it is."""

    def forward(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The same values."""
        return values


class HierarchicalWeights(NamedTuple):
    """Where both levels looked."""

    words: Tensor  # (B, S, W) within each sentence
    sentences: Tensor  # (B, S)


class Hierarchical(nn.Module):
    """Reads and sums up the words of each sentence, then the sentences of the document (Yang et al., 2016, eq. 5–10).

    words (B, S, W, D), valid (B, S, W) -> (B, D'). Sentences and documents may be ragged, or empty: zeros.
    """

    def __init__(
        self,
        word_reader: Reader,
        word_pooling: AttentionPooling,
        sentence_reader: Reader,
        sentence_pooling: AttentionPooling,
    ) -> None:
        super().__init__()
        self.word_reader, self.word_pooling = word_reader, word_pooling
        self.sentence_reader, self.sentence_pooling = sentence_reader, sentence_pooling

    def forward(self, words: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """One vector a document."""
        sentences = self.read_sentences(self.read_words(words, valid), valid)
        document: Tensor = self.sentence_pooling(sentences, valid=real_sentences(valid))
        return document

    def weights(self, words: Tensor, *, valid: Tensor | None = None) -> HierarchicalWeights:
        """The weights of both levels."""
        read = self.read_words(words, valid)
        sentences = self.read_sentences(read, valid)
        return HierarchicalWeights(
            self.word_pooling.weights(read, valid=valid),
            self.sentence_pooling.weights(sentences, valid=real_sentences(valid)),
        )

    def read_words(self, words: Tensor, valid: Tensor | None) -> Tensor:
        """Each sentence by itself: (B, S, W, D')."""
        require_items("words", words, valid, axes="B, S, W")
        inside = None if valid is None else valid.flatten(0, 1)
        read = self.word_reader(clean(words, valid).flatten(0, 1), valid=inside)
        return read.view(*words.shape[:-1], -1)

    def read_sentences(self, read: Tensor, valid: Tensor | None) -> Tensor:
        """Sum the words up, then read each sentence in the light of the others: (B, S, D')."""
        return self.sentence_reader(self.word_pooling(read, valid=valid), valid=real_sentences(valid))


def real_sentences(valid: Tensor | None) -> Tensor | None:
    """A sentence is real when it has a word: (B, S, W) -> (B, S)."""
    return None if valid is None else valid.any(dim=-1)


# Axes: B batch, T time, E embeddings, D size.


class MultiRepresentational(nn.Module):
    """Each embedding is mapped to one width, and attention sums them up item by item: Σ_i α_i (P_i x_i + b_i)
    (dynamic meta-embeddings: Kiela et al., 2018, sec. 3; α_i = softmax(a · (P_i x_i + b_i)) there).

    E tensors (B, T, sizes[i]) -> (B, T, size).
    """

    def __init__(self, sizes: Sequence[int], size: int, pooling: AttentionPooling) -> None:
        super().__init__()
        if not sizes:
            raise InputError("MultiRepresentational: sizes names no embedding.", found="[]", fix="give one width each")
        require_positive(
            "MultiRepresentational", size=size, **{f"sizes[{at}]": width for at, width in enumerate(sizes)}
        )
        self.sizes, self.pooling = tuple(sizes), pooling
        self.maps = nn.ModuleList(nn.Linear(width, size) for width in sizes)

    def forward(self, embeddings: Sequence[Tensor], *, valid: Tensor | None = None) -> Tensor:
        """One vector for each item; valid (B, T): True for real items."""
        mixed: Tensor = self.pooling(self.side_by_side(embeddings, valid), valid=self.spread(valid))
        return mixed

    def weights(self, embeddings: Sequence[Tensor], *, valid: Tensor | None = None) -> Tensor:
        """How much of each embedding: (B, T, E)."""
        return self.pooling.weights(self.side_by_side(embeddings, valid), valid=self.spread(valid))

    def side_by_side(self, embeddings: Sequence[Tensor], valid: Tensor | None) -> Tensor:
        """All embeddings in one width: (B, T, E, D)."""
        if len(embeddings) != len(self.maps):
            raise InputError(
                f"embeddings must be {len(self.maps)} tensors, one for each of the sizes.",
                found=f"{len(embeddings)} tensors",
                fix="give them in the order of the sizes",
            )
        mapped = []
        for at, (width, map_) in enumerate(zip(self.sizes, self.maps, strict=True)):
            require_items(f"embeddings[{at}]", embeddings[at], valid, width=width)
            mapped.append(map_(clean(embeddings[at], valid)))
        return torch.stack(mapped, dim=-2)

    def spread(self, valid: Tensor | None) -> Tensor | None:
        """An item is real in all its embeddings or in none: (B, T) -> (B, T, E)."""
        return None if valid is None else valid.unsqueeze(-1).expand(*valid.shape, len(self.maps))
