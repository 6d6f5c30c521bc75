"""Recurrent encoders and decoders by the names of a recipe."""

from collections.abc import Callable

from atento.attention.attention import Attention
from atento.attention.linformer import Linformer
from atento.attention.presets import Composition, Sizes
from atento.errors import InputError
from atento.layers.embeddings import TokenEmbedding
from atento.models.backbones.recurrent import Handover, RecurrentDecoder, RecurrentEncoder, as_both, as_input, as_state
from atento.models.backbones.recurrent_decoders import BahdanauDecoder, FixedVectorDecoder, LuongDecoder
from atento.models.summaries import end_states, find_summary
from atento.recurrent.stack import CellMaker, Stack
from atento.spec import ModelRecipe

HANDOVERS: dict[str, Callable[[int, int], Handover]] = {"state": as_state, "input": as_input, "both": as_both}

ATTENTIVE: dict[str, type[LuongDecoder] | type[BahdanauDecoder]] = {
    "current": LuongDecoder,
    "previous": BahdanauDecoder,
}


def recurrent_encoder(cells: CellMaker, recipe: ModelRecipe, vocabulary_size: int) -> RecurrentEncoder:
    """In both directions each is half as wide, so that every family's states are equally wide."""
    size, both = recipe.hidden, recipe.directions == 2
    require_even(recipe)
    embedding = TokenEmbedding(vocabulary_size, size, dropout=recipe.dropout)
    width = size // recipe.directions
    stack = Stack(cells, size, width, layers=recipe.layers, bidirectional=both, dropout=recipe.dropout)
    summarise = end_states if both and recipe.summary in ("auto", "last") else find_summary(recipe.summary, auto="last")
    return RecurrentEncoder(embedding, stack, summarise, dropout=recipe.dropout)


def require_even(recipe: ModelRecipe) -> None:
    """Two directions share the width."""
    if recipe.directions == 2 and recipe.hidden % 2:
        raise InputError(
            "model.hidden must be even: an encoder reads in both directions, each half as wide.",
            found=f"model.hidden={recipe.hidden}",
            fix=f"--set model.hidden={recipe.hidden + 1}, or --set model.directions=1",
        )


def recurrent_decoder(
    cells: CellMaker,
    composition: Composition | None,
    recipe: ModelRecipe,
    vocabulary_size: int,
    *,
    source_size: int,
    linformer: bool = False,
) -> RecurrentDecoder:
    """Without a composition it knows the source by its summary alone."""
    size = recipe.hidden
    embedding = TokenEmbedding(vocabulary_size, size, dropout=recipe.dropout, tied=recipe.tied)
    if composition is None:
        require_defaults(recipe, ("attend",), "a recurrent decoder without attention looks at nothing.")
        stack, handover = begin(cells, recipe, source_size, how="both", context_size=0)
        return FixedVectorDecoder(embedding, stack, handover, dropout=recipe.dropout)
    attention = composition.build(
        Sizes(
            query=size,
            key=source_size,
            reach=recipe.reach,
            block=recipe.block,
            longest=recipe.longest,
            alpha=recipe.alpha,
        )
    )
    require_between(composition, attention, recipe)
    if linformer:
        attention = Linformer(attention, recipe.longest, recipe.compressed)
    context_size = source_size if recipe.attend == "previous" else 0
    stack, handover = begin(cells, recipe, source_size, how="state", context_size=context_size)
    make = ATTENTIVE[recipe.attend]
    return make(embedding, stack, handover, attention, source_size=source_size, dropout=recipe.dropout)


def begin(
    cells: CellMaker, recipe: ModelRecipe, source_size: int, *, how: str, context_size: int
) -> tuple[Stack, Handover]:
    """The stack, and how it gets the summary: `how` where the recipe leaves it open."""
    how = how if recipe.handover == "auto" else recipe.handover
    size, beside = recipe.hidden, source_size if how in ("input", "both") else 0
    stack = Stack(cells, size + beside + context_size, size, layers=recipe.layers, dropout=recipe.dropout)
    return stack, HANDOVERS[how](source_size, stack.output_size * recipe.layers)


def require_defaults(recipe: ModelRecipe, keys: tuple[str, ...], why: str) -> None:
    """A choice that would change nothing is refused, with the reason."""
    for key in keys:
        chosen = getattr(recipe, key)
        if chosen != ModelRecipe.model_fields[key].default:
            raise InputError(
                f"model {recipe.name!r}: model.{key} has no meaning here; {why}",
                found=f"model.{key}={chosen}",
                fix=f"leave model.{key} out, or name a recurrent decoder with attention, e.g. lstm+additive",
            )


def require_between(composition: Composition, attention: Attention, recipe: ModelRecipe) -> None:
    """A decoder looks from what it writes at what it read: two sequences, with positions of their own."""
    if not attention.extent.between:
        raise InputError(
            f"model {recipe.name!r}: {composition.extent} has a meaning within one sequence only, and a recurrent "
            "decoder looks from its own at the source.",
            found=composition.extent,
            fix="take local or local-predictive, leave it out, or name a transformer, which also looks at itself",
        )


def require_no_summary(recipe: ModelRecipe) -> None:
    """A Transformer's decoder has no first state, no summary, and a query of its own in every layer."""
    require_defaults(recipe, ("summary", "handover", "attend"), "a Transformer's decoder reads the states themselves.")
