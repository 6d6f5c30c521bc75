"""Encoders, decoders and translators of every family from a recipe, whose model name `atento.models.names` parses.

`SequenceFamily` is what a family of sequences has to build; the builders of all tasks ask `family_of` for it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.blocks.hierarchical import SequenceEncoder
from atento.models.autoencoder import WindowSizes
from atento.models.builders.choices import OF_LANGUAGE_MODELS, require_defaults
from atento.models.builders.recurrent import (
    CELLS,
    coattention_matcher,
    recurrent_decoder,
    recurrent_encoder,
    recurrent_forecast_network,
    recurrent_language_model,
    recurrent_number_encoder,
    recurrent_reader,
    recurrent_window_decoder,
)
from atento.models.builders.transformer import (
    causal_transformer,
    joint_matcher,
    transformer_decoder,
    transformer_encoder,
    transformer_forecast_network,
    transformer_number_encoder,
    transformer_reader,
    transformer_window_decoder,
)
from atento.models.forecaster import ForecastNetwork
from atento.models.matcher import Matcher, PairHead
from atento.models.names import COPY, ModelName, ModelPart, require_encoder_decoder
from atento.models.protocols import NOT_COPIED, Decoder, Encoder
from atento.models.translator import Translator
from atento.spec import ModelRecipe


class SequenceFamily(NamedTuple):
    """The modules that a family builds, each from a part of a name (a forecaster's: the name) and a recipe."""

    encoder: Callable[[ModelPart, ModelRecipe, int], Encoder]  # of tokens, given the vocabulary size
    number_encoder: Callable[[ModelPart, ModelRecipe, int], Encoder]  # of numbers, given the channels of a step
    reader: Callable[..., SequenceEncoder]  # one level of a hierarchical encoder; scaled=True: of words
    decoder: Callable[..., Decoder[Any]]  # of text, given the vocabulary size and source_size=
    language_model: Callable[[ModelPart, ModelRecipe, int], Decoder[Any]]  # a decoder without a source
    matcher: Callable[[ModelPart, ModelRecipe, int, PairHead], Matcher]  # each sequence attends to the other
    forecast_network: Callable[..., ForecastNetwork]  # given the sizes of a series and quantiles=
    window_decoder: Callable[[ModelPart, ModelRecipe, WindowSizes, int], nn.Module]  # given the size of the latent


RECURRENT = SequenceFamily(
    encoder=recurrent_encoder,
    number_encoder=recurrent_number_encoder,
    reader=recurrent_reader,
    decoder=recurrent_decoder,
    language_model=recurrent_language_model,
    matcher=coattention_matcher,
    forecast_network=recurrent_forecast_network,
    window_decoder=recurrent_window_decoder,
)
TRANSFORMER = SequenceFamily(
    encoder=transformer_encoder,
    number_encoder=transformer_number_encoder,
    reader=transformer_reader,
    decoder=transformer_decoder,
    language_model=causal_transformer,
    matcher=joint_matcher,
    forecast_network=transformer_forecast_network,
    window_decoder=transformer_window_decoder,
)
SEQUENCE_FAMILIES: dict[str, SequenceFamily] = {**dict.fromkeys(CELLS, RECURRENT), "transformer": TRANSFORMER}


def family_of(part: ModelPart) -> SequenceFamily:
    """What builds the modules of a part."""
    return SEQUENCE_FAMILIES[part.family]


class Vocabularies(NamedTuple):
    """The vocabulary sizes of both sides, and what a decoder that copies has to know of them."""

    source: int
    target: int
    copied: Sequence[int] = ()  # the target token of each source token, or NOT_COPIED; (): the one of the same number

    def copied_as(self) -> Tensor:
        """The target token of each source token (source,)."""
        if self.copied:
            return torch.tensor(self.copied)
        numbers = torch.arange(self.source)
        return numbers.masked_fill(numbers >= self.target, NOT_COPIED)


def build_translator(recipe: ModelRecipe, vocabularies: Vocabularies) -> Translator:
    """The encoder–decoder model of a recipe."""
    name = ModelName.parse(recipe.name)
    require_encoder_decoder(name if name.decoder.self_attentive else name.without(COPY))
    encoder = build_encoder(name.encoder, recipe, vocabularies.source)
    require_defaults(recipe, *OF_LANGUAGE_MODELS)
    decoder = build_decoder(name.decoder, recipe, vocabularies.target, source_size=encoder.size)
    return Translator(encoder, decoder, copied_as=vocabularies.copied_as() if name.has(COPY) else None)


def build_encoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> Encoder:
    """An encoder of tokens of any family, model.hidden wide."""
    return family_of(part).encoder(part, recipe, vocabulary_size)


def build_decoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int, *, source_size: int) -> Decoder[Any]:
    """A decoder of any family, over an encoder of any kind."""
    return family_of(part).decoder(part, recipe, vocabulary_size, source_size=source_size)


def count_parameters(module: nn.Module) -> int:
    """The number of trainable parameters."""
    return sum(parameter.numel() for parameter in module.parameters())
