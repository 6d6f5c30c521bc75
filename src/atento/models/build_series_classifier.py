"""Classifiers of numeric sequences, and writers of text from numeric frames, by the names of a recipe.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT] as in `atento.models.names`: a recurrent classifier pools its states by
the composition, in a Transformer it is the self-attention. A transcriber is ENCODER/DECODER, or one name for both.
`model.patch` steps are read together; 0 and 1: each by itself.
"""

from atento.errors import InputError
from atento.models.build import build_decoder
from atento.models.build_classifier import pooling_of
from atento.models.build_one_sided import one_part, require_defaults, require_no_linformer
from atento.models.classifier import Classifier
from atento.models.estimator import build_number_encoder
from atento.models.heads import LabelHead
from atento.models.names import ModelName, ModelPart, require_encoder_decoder
from atento.models.patched_numbers import PatchedNumbers
from atento.models.protocols import Encoder
from atento.models.translator import Translator
from atento.spec import ModelRecipe

NO_LINFORMER = "linformer needs the longest length, which numbers do not have yet"


def build_series_classifier(recipe: ModelRecipe, channels: int, labels: int) -> Classifier:
    """Reads numeric sequences and says one of so many labels of each."""
    part = one_part(ModelName.parse(recipe.name), "a classifier")
    require_defaults(recipe, "handover", "attend", "runs")
    encoder = patched_encoder(part, recipe, channels)
    return Classifier(encoder, LabelHead(encoder.size, labels), pooling=pooling_of(part, recipe, encoder.size))


def build_transcriber(recipe: ModelRecipe, channels: int, vocabulary_size: int) -> Translator:
    """Reads numeric frames and writes tokens of such a vocabulary."""
    name = ModelName.parse(recipe.name)
    require_encoder_decoder(name)
    require_no_linformer(name.decoder, recipe.name, NO_LINFORMER)
    if recipe.summary == "attention":
        raise InputError(
            "model.summary=attention pools the states of a classifier.",
            found="model.summary=attention",
            fix="leave it out, or take last, mean or max",
        )
    encoder = patched_encoder(name.encoder, recipe, channels)
    return Translator(encoder, build_decoder(name.decoder, recipe, vocabulary_size, source_size=encoder.size))


def patched_encoder(part: ModelPart, recipe: ModelRecipe, channels: int) -> Encoder:
    """An encoder of any family over so many channels, step by step or patch by patch."""
    require_no_linformer(part, recipe.name, NO_LINFORMER)
    attends = recipe.summary == "attention"  # a pooling sums up, not the encoder
    read = recipe.model_copy(update={"summary": "auto"}) if attends else recipe
    patch = max(1, recipe.patch)
    encoder = build_number_encoder(part, read, channels * patch)
    return encoder if patch == 1 else PatchedNumbers(channels, patch, encoder)
