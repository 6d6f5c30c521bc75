"""Hierarchical attention: words make sentences, sentences make a document."""

from typing import NamedTuple, Protocol

from torch import Tensor, nn

from atento.blocks.pooling import AttentionPooling
from atento.layers.padding import clean
from atento.layers.shapes import require_items
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
