"""Classifiers of numeric sequences, and writers of text from numeric frames, by the names of a recipe.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT] as in `atento.models.build`: a recurrent classifier pools its states by
the composition, in a Transformer it is the self-attention. A transcriber is ENCODER/DECODER, or one name for both.
`model.patch` steps are read together; 0 and 1: each by itself.
"""

from atento.errors import InputError
from atento.models.build import Half, build_decoder, parse
from atento.models.build_classifier import pooling_of
from atento.models.build_one_sided import parse_one, require_defaults, require_no_linformer
from atento.models.classifier import Classifier
from atento.models.estimator import build_number_encoder
from atento.models.heads import LabelHead
from atento.models.patched_numbers import PatchedNumbers
from atento.models.protocols import Encoder
from atento.models.translator import Translator
from atento.spec import ModelRecipe

NO_LINFORMER = "linformer needs the longest length, which numbers do not have yet"


def build_series_classifier(recipe: ModelRecipe, channels: int, labels: int) -> Classifier:
    """Reads numeric sequences and says one of so many labels of each."""
    half = parse_one(recipe.name, "a classifier")
    require_defaults(recipe, "handover", "attend", "runs")
    encoder = patched_encoder(half, recipe, channels)
    return Classifier(encoder, LabelHead(encoder.size, labels), pooling=pooling_of(half, recipe, encoder.size))


def build_transcriber(recipe: ModelRecipe, channels: int, vocabulary_size: int) -> Translator:
    """Reads numeric frames and writes tokens of such a vocabulary."""
    encoder_half, decoder_half = parse(recipe.name)
    require_no_linformer(decoder_half, recipe.name, NO_LINFORMER)
    if recipe.summary == "attention":
        raise InputError(
            "model.summary=attention pools the states of a classifier.",
            found="model.summary=attention",
            fix="leave it out, or take last, mean or max",
        )
    encoder = patched_encoder(encoder_half, recipe, channels)
    return Translator(encoder, build_decoder(decoder_half, recipe, vocabulary_size, source_size=encoder.size))


def patched_encoder(half: Half, recipe: ModelRecipe, channels: int) -> Encoder:
    """An encoder of any family over so many channels, step by step or patch by patch."""
    require_no_linformer(half, recipe.name, NO_LINFORMER)
    attends = recipe.summary == "attention"  # a pooling sums up, not the encoder
    read = recipe.model_copy(update={"summary": "auto"}) if attends else recipe
    patch = max(1, recipe.patch)
    encoder = build_number_encoder(half, read, channels * patch)
    return encoder if patch == 1 else PatchedNumbers(channels, patch, encoder)
