"""Encoders, decoders and translators from a recipe, whose model name `atento.models.names` parses."""

from typing import Any, NamedTuple

from torch import nn

from atento.models.builders.recurrent import recurrent_decoder, recurrent_encoder
from atento.models.builders.transformer import transformer_decoder, transformer_encoder
from atento.models.names import ModelName, ModelPart, require_encoder_decoder
from atento.models.protocols import Decoder, Encoder
from atento.models.translator import Translator
from atento.spec import ModelRecipe


class Vocabularies(NamedTuple):
    """The vocabulary sizes of both sides."""

    source: int
    target: int


def build_translator(recipe: ModelRecipe, vocabularies: Vocabularies) -> Translator:
    """The encoder–decoder model of a recipe."""
    name = ModelName.parse(recipe.name)
    require_encoder_decoder(name)
    encoder = build_encoder(name.encoder, recipe, vocabularies.source)
    decoder = build_decoder(name.decoder, recipe, vocabularies.target, source_size=encoder.size)
    return Translator(encoder, decoder)


def build_encoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> Encoder:
    """An encoder of tokens of any family, model.hidden wide."""
    if part.family != "transformer":
        return recurrent_encoder(part.family, recipe, vocabulary_size)
    return transformer_encoder(part.compose(), recipe, vocabulary_size, linformer=part.linformer)


def build_decoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int, *, source_size: int) -> Decoder[Any]:
    """A decoder of any family, over an encoder of any kind."""
    if part.family != "transformer":
        return recurrent_decoder(
            part.family, part.attention, recipe, vocabulary_size, source_size=source_size, linformer=part.linformer
        )
    return transformer_decoder(
        part.compose(), recipe, vocabulary_size, source_size=source_size, linformer=part.linformer
    )


def count_parameters(module: nn.Module) -> int:
    """The number of trainable parameters."""
    return sum(parameter.numel() for parameter in module.parameters())
