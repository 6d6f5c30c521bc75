"""Language models, masked language models and models of word embeddings from a recipe.

A language model's name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT]: in a Transformer the composition is its
self-attention; a recurrent model has none. Models of word embeddings have names of their own.
"""

from collections.abc import Callable, Sequence
from typing import Any

from atento.attention.presets import Composition
from atento.errors import InputError, unknown_name
from atento.layers.embeddings import TokenEmbedding
from atento.models.backbones.recurrent import Handover, NoContext, ZeroState
from atento.models.backbones.recurrent_decoders import FixedVectorDecoder
from atento.models.backbones.transformer import CausalTransformer
from atento.models.builders.choices import one_part, require_defaults, require_no_attention, require_no_linformer
from atento.models.builders.encoder_decoder import build_encoder
from atento.models.builders.recurrent import decoder_stack
from atento.models.builders.transformer import head_sizes, transformer_body
from atento.models.embedder import NextWord, SkipGram, noise_distribution
from atento.models.language_model import LanguageModel, MaskedLanguageModel
from atento.models.names import ModelName, ModelPart
from atento.models.protocols import Decoder
from atento.spec import ModelRecipe


def build_language_model(recipe: ModelRecipe, vocabulary_size: int) -> LanguageModel:
    """A model that predicts each token from those before it."""
    part = one_part(ModelName.parse(recipe.name), "a language model")
    require_no_attention(part, recipe.name, "a recurrent language model has its state alone, and no attention")
    require_defaults(recipe, "directions", "pooling", "context", "attend")
    return LanguageModel(causal_decoder(part, recipe, vocabulary_size))


def build_masked_model(recipe: ModelRecipe, vocabulary_size: int) -> MaskedLanguageModel:
    """A model that predicts masked tokens from both sides."""
    part = one_part(ModelName.parse(recipe.name), "a masked model")
    require_no_attention(part, recipe.name, "a recurrent masked model predicts from the state of each step")
    require_defaults(recipe, "directions", "pooling", "context", "attend")
    return MaskedLanguageModel(build_encoder(part, recipe, vocabulary_size))


def causal_decoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> Decoder[Any]:
    """A decoder without a source."""
    if part.family == "transformer":
        composition = part.compose()
        require_no_linformer(part, recipe.name, "linformer mixes all positions, those still to predict among them")
        require_causal_safe(composition, recipe)
        return CausalTransformer(*transformer_body(composition, recipe, vocabulary_size, causal=True))
    stack = decoder_stack(part.family, recipe, recipe.hidden)
    embedding = TokenEmbedding(vocabulary_size, recipe.hidden, dropout=recipe.dropout)
    handover = Handover(ZeroState(stack.output_size * recipe.layers), NoContext())
    return FixedVectorDecoder(embedding, stack, handover, dropout=recipe.dropout)


def require_causal_safe(composition: Composition, recipe: ModelRecipe) -> None:
    """Refuse an extent that depends on the whole sequence, which is not known while it is being written."""
    if not composition.build(head_sizes(recipe)).extent.causal_safe:
        raise InputError(
            f"model {recipe.name!r}: this extent needs to know where the sequence ends.",
            found=f"the extent {composition.extent}",
            fix=f"leave {composition.extent!r} out",
        )


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
