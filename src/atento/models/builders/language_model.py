"""Language models, masked language models and models of word embeddings from a recipe.

A language model's name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT][+ngram]: in a Transformer the composition is its
self-attention; a recurrent model has none. Models of word embeddings have names of their own.
"""

from collections.abc import Callable, Sequence

from atento.errors import unknown_name
from atento.models.builders.choices import (
    OF_LANGUAGE_MODELS,
    one_part,
    require_defaults,
    require_no_attention,
    without_suffix,
)
from atento.models.builders.encoder_decoder import build_encoder, family_of
from atento.models.embedder import NextWord, SkipGram, noise_distribution
from atento.models.interpolated import InterpolatedLanguageModel
from atento.models.language_model import LanguageModel, MaskedLanguageModel
from atento.models.names import ModelName
from atento.spec import ModelRecipe

COUNTED = "ngram"  # the suffix of a language model with counts beside it
ORDER = 5  # of the counts, where the caller names none


def build_language_model(recipe: ModelRecipe, vocabulary_size: int, *, order: int = ORDER) -> LanguageModel:
    """A model that predicts each token from those before it; with +ngram interpolated with n-grams of that order."""
    plain = without_suffix(recipe, COUNTED)
    if plain.name != recipe.name:
        network = build_language_model(plain, vocabulary_size)
        return InterpolatedLanguageModel(network.decoder, vocabulary_size, order=order, samples=network.samples)
    part = one_part(ModelName.parse(recipe.name), "a language model")
    require_no_attention(part, recipe.name, "a recurrent language model has its state alone, and no attention")
    require_defaults(recipe, "directions", "pooling", "context", "attend")
    decoder = family_of(part).language_model(part, recipe, vocabulary_size)
    return LanguageModel(decoder, samples=recipe.sampled_softmax if recipe.sampled_softmax < vocabulary_size else 0)


def build_masked_model(recipe: ModelRecipe, vocabulary_size: int) -> MaskedLanguageModel:
    """A model that predicts masked tokens from both sides."""
    part = one_part(ModelName.parse(recipe.name), "a masked model")
    require_no_attention(part, recipe.name, "a recurrent masked model predicts from the state of each step")
    require_defaults(recipe, "directions", "pooling", "context", "attend", *OF_LANGUAGE_MODELS)
    return MaskedLanguageModel(build_encoder(part, recipe, vocabulary_size))


def skip_gram(recipe: ModelRecipe, counts: Sequence[int]) -> SkipGram:
    """Predicts the words around each word."""
    return SkipGram(noise_distribution(counts), recipe.hidden, window=recipe.window)


def next_word(recipe: ModelRecipe, counts: Sequence[int]) -> NextWord:
    """Predicts each word from those before it."""
    return NextWord(
        len(counts), recipe.hidden, window=recipe.window, tied=recipe.tied_embeddings, dropout=recipe.dropout
    )


EMBEDDERS: dict[str, Callable[[ModelRecipe, Sequence[int]], SkipGram | NextWord]] = {
    "skip-gram": skip_gram,
    "next-word": next_word,
}


def require_embedder(name: ModelName) -> None:
    """Refuse a name that is not in `EMBEDDERS`."""
    if str(name) not in EMBEDDERS:
        raise unknown_name("model", str(name), EMBEDDERS, where="task embed")


def build_embedder(recipe: ModelRecipe, counts: Sequence[int]) -> SkipGram | NextWord:
    """A model of word embeddings, given how often each word of the vocabulary occurs."""
    require_embedder(ModelName.parse(recipe.name))
    return EMBEDDERS[recipe.name](recipe, counts)
