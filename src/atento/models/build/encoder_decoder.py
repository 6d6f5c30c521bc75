"""Encoders, decoders and translators by the names of a recipe, which `atento.models.names` takes apart.

A Transformer's self-attentions look through the extent it names, a decoder's own past also causally. Its attention over
the source looks through it only where it has a meaning between two sequences, else at everything; a decoder's own past
looks through it only where it has a meaning while keys still grow. Linformer stays out of a decoder's past."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from torch import nn

from atento.errors import unknown_name
from atento.layers.activations import ACTIVATIONS
from atento.layers.initialisation import INITIALISATIONS
from atento.models.build.recurrent import recurrent_decoder, recurrent_encoder, require_no_summary
from atento.models.build.transformer import transformer_decoder, transformer_encoder
from atento.models.names import ModelName, ModelPart, require_encoder_decoder
from atento.models.protocols import Decoder, Encoder
from atento.models.translator import Translator
from atento.recurrent import GRU, LSTM, Cell, Elman, GRUBefore, Jordan
from atento.recurrent.stack import CellMaker
from atento.spec import ModelRecipe

CELLS: dict[str, Callable[..., Cell[Any]]] = {
    "rnn": Elman,
    "jordan": Jordan,
    "gru": GRU,
    "gru-before": GRUBefore,
    "lstm": LSTM,
}


class Vocabularies(NamedTuple):
    """How many tokens there are on each side."""

    source: int
    target: int


def build_translator(recipe: ModelRecipe, vocabularies: Vocabularies) -> Translator:
    """The whole model of a recipe."""
    name = ModelName.parse(recipe.name)
    require_encoder_decoder(name)
    encoder = build_encoder(name.encoder, recipe, vocabularies.source)
    decoder = build_decoder(name.decoder, recipe, vocabularies.target, source_size=encoder.size)
    return Translator(encoder, decoder)


def build_encoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> Encoder:
    """An encoder of any family; of equal width, so that any decoder goes with it."""
    if part.family != "transformer":
        return recurrent_encoder(cells_of(part.family, recipe), recipe, vocabulary_size)
    return transformer_encoder(part.compose(), recipe, vocabulary_size, linformer=part.linformer)


def build_decoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int, *, source_size: int) -> Decoder[Any]:
    """A decoder over an encoder of any kind."""
    if part.family != "transformer":
        cells = cells_of(part.family, recipe)
        return recurrent_decoder(
            cells, part.attention, recipe, vocabulary_size, source_size=source_size, linformer=part.linformer
        )
    require_no_summary(recipe)
    return transformer_decoder(
        part.compose(), recipe, vocabulary_size, source_size=source_size, linformer=part.linformer
    )


def cells_of(family: str, recipe: ModelRecipe) -> CellMaker:
    """Cells of a family, bent and started as the recipe says."""
    for key, known in (("activation", ACTIVATIONS), ("init", INITIALISATIONS)):
        if getattr(recipe, key) not in known:
            raise unknown_name(key, getattr(recipe, key), known, where=f"model.{key}")
    bend, start = ACTIVATIONS[recipe.activation], INITIALISATIONS[recipe.init]
    return partial(CELLS[family], activation=bend, initialise=start)


def count_parameters(module: nn.Module) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in module.parameters())
