"""Models whose point is the vectors of words they leave behind, by the names of a recipe."""

from collections.abc import Callable, Sequence
from typing import Protocol

from torch import Tensor, nn

from atento.errors import unknown_name
from atento.layers.embeddings import TokenEmbedding
from atento.layers.losses import Loss
from atento.models.names import ModelName
from atento.models.next_word import NextWord
from atento.models.skip_gram import SkipGram, WordsBatch, noise_of
from atento.spec import ModelRecipe


class Embedder(Protocol):
    """Learns from texts and foresees the next word of one."""

    embedding: TokenEmbedding  # the vectors of words

    def loss(self, batch: WordsBatch) -> Loss:
        """How wrong it is."""

    def foresee(self, tokens: Tensor) -> Tensor:
        """Scores (B, T, V) of every word as the next one, from the words before."""


def skip_gram(recipe: ModelRecipe, counts: Sequence[int]) -> nn.Module:
    """Words from drawn ones, in both directions."""
    return SkipGram(noise_of(counts), recipe.hidden, window=recipe.reach)


def next_word(recipe: ModelRecipe, counts: Sequence[int]) -> nn.Module:
    """The next word from those before."""
    return NextWord(len(counts), recipe.hidden, window=recipe.reach, tied=recipe.tied, dropout=recipe.dropout)


EMBEDDERS: dict[str, Callable[[ModelRecipe, Sequence[int]], nn.Module]] = {
    "skip-gram": skip_gram,
    "next-word": next_word,
}


def require_embedder(name: ModelName) -> None:
    """Refuse a name that is none of these; they are no families of `atento.models.names`."""
    if str(name) not in EMBEDDERS:
        raise unknown_name("model", str(name), EMBEDDERS, where="task embed")


def build_embedder(recipe: ModelRecipe, counts: Sequence[int]) -> nn.Module:
    """The model of a recipe for words that were seen so often."""
    require_embedder(ModelName.parse(recipe.name))
    return EMBEDDERS[recipe.name](recipe, counts)
