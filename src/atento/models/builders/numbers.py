"""Models of numeric sequences from a recipe: encoders, classifiers and estimators, and transcribers to text.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT]: the composition of a recurrent classifier pools its states, that of a
Transformer is its self-attention. A transcriber is ENCODER/DECODER, or one name for both. `model.patch` steps are
encoded together; 0 and 1: each step alone.
"""

from atento.models.backbones.numbers import PatchedNumberEncoder
from atento.models.builders.choices import (
    OF_LANGUAGE_MODELS,
    HeadMaker,
    one_part,
    require_defaults,
    require_no_linformer,
    state_pooling,
)
from atento.models.builders.classifier import encoder_recipe, pooling_of
from atento.models.builders.encoder_decoder import build_decoder, family_of
from atento.models.classifier import Classifier
from atento.models.heads import RegressionHead
from atento.models.names import ModelName, ModelPart, require_encoder_decoder
from atento.models.protocols import Encoder
from atento.models.translator import Translator
from atento.spec import ModelRecipe

NO_LINFORMER = "linformer needs the longest length, which numbers do not have yet"


def build_series_classifier(recipe: ModelRecipe, channels: int, head: HeadMaker, width: int) -> Classifier:
    """A classifier of numeric sequences with `width` outputs, e.g. `LabelHead` and the number of labels."""
    part = one_part(ModelName.parse(recipe.name), "a classifier")
    require_defaults(recipe, "context", "attend", "ngrams", *OF_LANGUAGE_MODELS)
    encoder = patched_encoder(part, encoder_recipe(recipe), channels)
    return Classifier(encoder, head(encoder.size, width), pooling=pooling_of(part, recipe, encoder.size))


def build_estimator(recipe: ModelRecipe, channels: int) -> Classifier:
    """A regression of one number on numeric sequences, step by step."""
    part = one_part(ModelName.parse(recipe.name), "an estimator")
    require_defaults(recipe, "context", "attend", *OF_LANGUAGE_MODELS)
    require_no_linformer(part, recipe.name, NO_LINFORMER)
    encoder = family_of(part).number_encoder(part, recipe, channels)
    pooling = state_pooling(part, recipe, encoder.size)
    return Classifier(encoder, RegressionHead(encoder.size, 1), pooling=pooling)


def build_transcriber(recipe: ModelRecipe, channels: int, vocabulary_size: int) -> Translator:
    """An encoder of numeric sequences and a decoder of text."""
    name = ModelName.parse(recipe.name)
    require_encoder_decoder(name)
    require_no_linformer(name.decoder, recipe.name, NO_LINFORMER)
    encoder = patched_encoder(name.encoder, recipe, channels)
    return Translator(encoder, build_decoder(name.decoder, recipe, vocabulary_size, source_size=encoder.size))


def patched_encoder(part: ModelPart, recipe: ModelRecipe, channels: int) -> Encoder:
    """An encoder of any family over steps or patches."""
    require_no_linformer(part, recipe.name, NO_LINFORMER)
    patch = max(1, recipe.patch)
    encoder = family_of(part).number_encoder(part, recipe, channels * patch)
    return encoder if patch == 1 else PatchedNumberEncoder(channels, patch, encoder)
