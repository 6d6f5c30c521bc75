"""Recurrent encoders, decoders and stacks from a recipe."""

from collections.abc import Callable
from functools import partial
from typing import Any

from atento.attention.attention import Attention
from atento.attention.linformer import Linformer
from atento.attention.presets import Composition
from atento.errors import InputError, unknown_name
from atento.layers.activations import ACTIVATIONS
from atento.layers.embeddings import TokenEmbedding
from atento.layers.initialization import INITIALIZERS
from atento.models.backbones.recurrent import (
    Handover,
    RecurrentDecoder,
    RecurrentEncoder,
    as_both,
    as_input,
    as_state,
)
from atento.models.backbones.recurrent_decoders import BahdanauDecoder, FixedVectorDecoder, LuongDecoder
from atento.models.builders.choices import attention_sizes, require_defaults, summary_of
from atento.models.summaries import Summary, end_states
from atento.recurrent import Cell, ElmanCell, GRUCell, GRUResetBeforeCell, JordanCell, LSTMCell, MGUCell
from atento.recurrent.stack import CellMaker, Stack
from atento.spec import ModelRecipe

CELLS: dict[str, Callable[..., Cell[Any]]] = {
    "rnn": ElmanCell,
    "jordan": JordanCell,
    "gru": GRUCell,
    "gru-before": GRUResetBeforeCell,
    "mgu": MGUCell,
    "lstm": LSTMCell,
}
HANDOVERS: dict[str, Callable[[int, int], Handover]] = {"state": as_state, "input": as_input, "both": as_both}
ATTENTIVE: dict[str, type[LuongDecoder] | type[BahdanauDecoder]] = {
    "luong": LuongDecoder,
    "bahdanau": BahdanauDecoder,
}


def cells_of(family: str, recipe: ModelRecipe) -> CellMaker:
    """Cells of a family with the activation and the initialization of the recipe."""
    for key, known in (("activation", ACTIVATIONS), ("init", INITIALIZERS)):
        if getattr(recipe, key) not in known:
            raise unknown_name(key, getattr(recipe, key), known, where=f"model.{key}")
    activation, initializer = ACTIVATIONS[recipe.activation], INITIALIZERS[recipe.init]
    return partial(CELLS[family], activation=activation, initializer=initializer)


def encoder_stack(family: str, recipe: ModelRecipe, input_size: int) -> Stack:
    """A stack in one or both directions, model.hidden wide in all, so that every family's states are equally wide."""
    require_even(recipe)
    return Stack(
        cells_of(family, recipe),
        input_size,
        recipe.hidden // recipe.directions,
        layers=recipe.layers,
        bidirectional=recipe.directions == 2,
        dropout=recipe.dropout,
    )


def decoder_stack(family: str, recipe: ModelRecipe, input_size: int) -> Stack:
    """A stack in one direction, model.hidden wide."""
    cells = cells_of(family, recipe)
    return Stack(cells, input_size, recipe.hidden, layers=recipe.layers, dropout=recipe.dropout)


def encoder_summary(recipe: ModelRecipe) -> Summary:
    """The summary of a recurrent encoder: by default the last state, of both directions where there are two."""
    if recipe.directions == 2 and recipe.pooling in ("auto", "last"):
        return end_states
    return summary_of(recipe, auto="last")


def require_even(recipe: ModelRecipe) -> None:
    """Two directions share the width."""
    if recipe.directions == 2 and recipe.hidden % 2:
        raise InputError(
            "model.hidden must be even: an encoder reads in both directions, each half as wide.",
            found=f"model.hidden={recipe.hidden}",
            fix=f"--set model.hidden={recipe.hidden + 1}, or --set model.directions=1",
        )


def recurrent_encoder(family: str, recipe: ModelRecipe, vocabulary_size: int) -> RecurrentEncoder:
    """An encoder of tokens."""
    require_even(recipe)
    embedding = TokenEmbedding(vocabulary_size, recipe.hidden, dropout=recipe.dropout)
    stack = encoder_stack(family, recipe, recipe.hidden)
    return RecurrentEncoder(embedding, stack, encoder_summary(recipe), dropout=recipe.dropout)


def recurrent_decoder(
    family: str,
    composition: Composition | None,
    recipe: ModelRecipe,
    vocabulary_size: int,
    *,
    source_size: int,
    linformer: bool = False,
) -> RecurrentDecoder:
    """A decoder with the attention of a composition; without one it receives the summary of the source alone."""
    embedding = TokenEmbedding(vocabulary_size, recipe.hidden, dropout=recipe.dropout, tied=recipe.tied_embeddings)
    if composition is None:
        require_defaults(recipe, "attend", why="a recurrent decoder without attention attends to nothing")
        stack, handover = stack_and_handover(family, recipe, source_size, auto="both", context_size=0)
        return FixedVectorDecoder(embedding, stack, handover, dropout=recipe.dropout)
    attention = composition.build(attention_sizes(recipe, recipe.hidden, source_size))
    require_crossing(composition, attention, recipe)
    if linformer:
        attention = Linformer(attention, recipe.max_length, recipe.linformer_rank)
    context_size = source_size if recipe.attend == "bahdanau" else 0
    stack, handover = stack_and_handover(family, recipe, source_size, auto="state", context_size=context_size)
    decoder = ATTENTIVE[recipe.attend]
    return decoder(embedding, stack, handover, attention, source_size=source_size, dropout=recipe.dropout)


def stack_and_handover(
    family: str, recipe: ModelRecipe, source_size: int, *, auto: str, context_size: int
) -> tuple[Stack, Handover]:
    """A decoder's stack, and how it receives the summary: by `auto` where model.context leaves it open."""
    how = auto if recipe.context == "auto" else recipe.context
    added = source_size if how in ("input", "both") else 0
    stack = decoder_stack(family, recipe, recipe.hidden + added + context_size)
    return stack, HANDOVERS[how](source_size, stack.output_size * recipe.layers)


def require_crossing(composition: Composition, attention: Attention, recipe: ModelRecipe) -> None:
    """A decoder attends from its own sequence to the source, and the positions of the two are unrelated."""
    if not attention.extent.crosses_sequences:
        raise InputError(
            f"model {recipe.name!r}: the extent {composition.extent} has a meaning within one sequence only, and this "
            "attention goes from one sequence to another.",
            found=composition.extent,
            fix="take local or local-predictive, leave it out, or name a transformer, which has self-attention",
        )
