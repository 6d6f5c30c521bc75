"""Models of plain text by the names of a recipe: one that writes token by token, one that fills what is masked.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT] as in `atento.models.names`. In a Transformer the composition is its
self-attention; a recurrent model has none.

Models whose point is the vectors of words they leave behind, by the names of a recipe.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from torch import Tensor, nn

from atento.errors import unknown_name
from atento.layers.embeddings import TokenEmbedding
from atento.layers.losses import Loss
from atento.models.backbones.recurrent import Alone, Handover, Silence
from atento.models.backbones.recurrent_decoders import FixedVectorDecoder
from atento.models.build.encoder_decoder import build_encoder, cells_of
from atento.models.build.one_sided import (
    one_part,
    require_defaults,
    require_no_attention,
    require_no_linformer,
    require_past,
)
from atento.models.build.transformer import transformer_body
from atento.models.embedder import NextWord, SkipGram, WordsBatch, noise_of
from atento.models.language_model import CausalTransformer, LanguageModel, MaskedModel
from atento.models.names import ModelName, ModelPart
from atento.models.protocols import Decoder
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe


def build_language_model(recipe: ModelRecipe, vocabulary_size: int) -> LanguageModel:
    """Writes tokens, each from those before it."""
    part = one_part(ModelName.parse(recipe.name), "a language model")
    require_no_attention(part, recipe.name, "a recurrent language model remembers by its state alone")
    require_defaults(recipe, "directions", "summary", "handover", "attend")
    return LanguageModel(writer_of(part, recipe, vocabulary_size))


def build_masked_model(recipe: ModelRecipe, vocabulary_size: int) -> MaskedModel:
    """Reads both sides of every token and says what stands in each place."""
    part = one_part(ModelName.parse(recipe.name), "a masked model")
    require_no_attention(part, recipe.name, "a recurrent masked model says of each place what its state says")
    require_defaults(recipe, "directions", "summary", "handover", "attend")
    return MaskedModel(build_encoder(part, recipe, vocabulary_size))


def writer_of(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> Decoder[Any]:
    """A decoder with nothing to read."""
    if part.family == "transformer":
        composition = part.compose()
        require_no_linformer(part, recipe.name, "linformer mixes all positions, what is still to be said among them")
        require_past(composition, recipe)
        return CausalTransformer(*transformer_body(composition, recipe, vocabulary_size, causal=True))
    size = recipe.hidden
    stack = Stack(cells_of(part.family, recipe), size, size, layers=recipe.layers, dropout=recipe.dropout)
    embedding = TokenEmbedding(vocabulary_size, size, dropout=recipe.dropout)
    handover = Handover(Silence(stack.output_size * recipe.layers), Alone())
    return FixedVectorDecoder(embedding, stack, handover, dropout=recipe.dropout)


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
