"""Forecasters by the names of a recipe.

`linear` sums the window up. `rnn`, `gru`, `lstm` read it and write the horizon at once; with an attention after their
name (`lstm+additive`) they walk the horizon and look back from each of its steps. `transformer` takes step by step,
`transformer+patches` pieces of the window."""

from collections.abc import Sequence

from torch import nn

from atento.attention.presets import Sizes
from atento.blocks.transformer import TransformerStack
from atento.errors import InputError
from atento.models.build.encoder_decoder import cells_of
from atento.models.build.one_sided import one_part, require_defaults, require_no_linformer
from atento.models.build.recurrent import require_between, require_even
from atento.models.build.transformer import ADDED, own_layers
from atento.models.forecast_networks import (
    Asking,
    AtOnce,
    Beside,
    FromLastState,
    LookingBack,
    Patches,
    Reading,
    StepByStep,
    WeightedSums,
    Writing,
)
from atento.models.forecaster import (
    Anchor,
    Forecaster,
    Network,
    SeriesBatch,
    SeriesSizes,
    last_value,
    mean_value,
    no_anchor,
    silent,
)
from atento.models.names import FORECASTERS, ModelName, ModelPart
from atento.models.summaries import end_states, find_summary
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe

__all__ = ["Forecaster", "SeriesBatch", "SeriesSizes", "build_forecaster", "parse_levels", "require_forecaster"]

ANCHORS: dict[str, Anchor] = {
    "auto": last_value,
    "last": last_value,
    "mean": mean_value,
    "none": no_anchor,
    "change": last_value,
}
PATCHES = "patches"
PIECES = 14  # of a window in a recurrent net, where the recipe leaves it open
TRANSFORMER_PIECES = 7


def require_forecaster(name: ModelName) -> None:
    """Refuse a name that is none of `linear`, `gru`, `lstm+additive`, `transformer`, `transformer+patches` and such."""
    text, family = str(name), name.family
    if name.alone and family in FORECASTERS:
        if name.decoder.added:
            raise InputError(f"model {text!r}: {family} has no parts.", found=text, fix=f"write {family}")
        return
    part = one_part(name.without(PATCHES), "a forecaster")
    if name.has(PATCHES) and family != "transformer":
        raise InputError(
            f"model {text!r}: a Transformer has patches; a recurrent model reads model.patch steps at a time as it is.",
            found=text,
            fix=f"leave +{PATCHES} out, or name transformer+{PATCHES}",
        )
    require_no_linformer(part, text, "a window is short enough for all its keys")


def build_forecaster(
    recipe: ModelRecipe, sizes: SeriesSizes, *, noise: float = 0.0, pace: Sequence[float] = ()
) -> Forecaster:
    """The forecaster of a recipe; a recursive one looks one step ahead. `noise` falls on what it reads in training;
    `pace` is how much each channel changes in a step, for a network that says the change.
    """
    name, levels = ModelName.parse(recipe.name), parse_levels(recipe.quantiles)
    require_forecaster(name)
    if recipe.strategy == "recursive":
        sizes = sizes._replace(horizon=1)
    each = recipe.channels != "joint"
    inner, quantiles = sizes._replace(channels=1) if each else sizes, max(1, len(levels))
    network = build_network(name, recipe, inner, quantiles=quantiles)
    return Forecaster(
        network,
        sizes,
        anchor=ANCHORS[recipe.anchor],
        whole=recipe.anchor == "change",
        pace=pace if recipe.anchor == "change" else (),
        effect=effect_of(name, recipe, sizes),
        each=each,
        levels=levels,
        noise=noise,
    )


def build_network(name: ModelName, recipe: ModelRecipe, sizes: SeriesSizes, *, quantiles: int) -> Network:
    """What reads the window, by its family; weighted sums go beside any other."""
    sums = WeightedSums(sizes, quantiles=quantiles)
    if name.family in FORECASTERS:
        return sums
    require_defaults(recipe, "handover", "attend")
    if name.family == "transformer":
        network = transformer_network(name, recipe, sizes, quantiles=quantiles)
    else:
        network = recurrent_network(name.decoder, recipe, sizes, quantiles=quantiles)
    return Beside(network, sums) if recipe.highway else network


def recurrent_network(part: ModelPart, recipe: ModelRecipe, sizes: SeriesSizes, *, quantiles: int) -> Network:
    """Without a composition the horizon is written at once from the last state."""
    size, cells, patch = recipe.hidden, cells_of(part.family, recipe), patch_of(recipe, sizes)
    if part.attention is None and patch == 1:
        require_defaults(recipe, "summary")
        stack = Stack(cells, sizes.channels + sizes.covariates, size, layers=recipe.layers, dropout=recipe.dropout)
        return FromLastState(stack, sizes, quantiles=quantiles, dropout=recipe.dropout)
    reading, asking = Reading(sizes, patch, size), Asking(sizes, patch, size)
    writing = Writing(sizes, patch, size, quantiles=quantiles, dropout=recipe.dropout)
    decoder = Stack(cells, size, size, layers=recipe.layers, dropout=recipe.dropout)
    if part.attention is None:
        require_defaults(recipe, "summary")
        return AtOnce(reading, decoder, asking, writing)
    require_even(recipe)
    both = recipe.directions == 2
    encoder = Stack(
        cells, size, size // recipe.directions, layers=recipe.layers, bidirectional=both, dropout=recipe.dropout
    )
    summarise = end_states if both and recipe.summary in ("auto", "last") else find_summary(recipe.summary, auto="last")
    attention = part.attention.build(
        Sizes(query=size, key=size, reach=recipe.reach, block=recipe.block, longest=recipe.longest, alpha=recipe.alpha)
    )
    require_between(part.attention, attention, recipe)
    return LookingBack(reading, encoder, summarise, asking, decoder, attention, writing)


def transformer_network(name: ModelName, recipe: ModelRecipe, sizes: SeriesSizes, *, quantiles: int) -> Network:
    """One stack of self-attention; over pieces that overlap by half, or over single steps."""
    require_defaults(recipe, "summary")
    layers = own_layers(name.without(PATCHES).decoder.compose(), recipe, causal=recipe.directions == 1)
    stack, size, dropout = TransformerStack(layers), recipe.hidden, recipe.dropout
    positions = ADDED.get(recipe.positions, ADDED["none"])(recipe)
    if name.has(PATCHES):
        reading = Reading(sizes, patch_of(recipe, sizes, pieces=TRANSFORMER_PIECES), size)
        return Patches(reading, positions, stack, sizes, quantiles=quantiles, dropout=dropout)
    patch = recipe.patch or 1
    reading, asking = Reading(sizes, patch, size), Asking(sizes, patch, size)
    writing = Writing(sizes, patch, size, quantiles=quantiles)
    return StepByStep(reading, asking, positions, stack, writing, dropout=dropout)


def patch_of(recipe: ModelRecipe, sizes: SeriesSizes, *, pieces: int = PIECES) -> int:
    """How many steps are read together, the whole window at most; the next step alone follows from single steps."""
    chosen = 1 if recipe.strategy == "recursive" else -(-sizes.look_back // pieces)
    return min(recipe.patch or chosen, sizes.look_back)


def effect_of(name: ModelName, recipe: ModelRecipe, sizes: SeriesSizes) -> nn.Module | None:
    """What covariates (..., K) do to each channel (..., C) at the same time; nothing at the start."""
    if not sizes.covariates:
        return None
    if name.family in FORECASTERS:
        return silent(nn.Linear(sizes.covariates, sizes.channels))
    last = silent(nn.Linear(recipe.hidden, sizes.channels))
    return nn.Sequential(nn.Linear(sizes.covariates, recipe.hidden), nn.ReLU(), last)


def parse_levels(text: str) -> tuple[float, ...]:
    """`0.1,0.5,0.9` -> levels that rise, each between 0 and 1."""
    if not text.strip():
        return ()
    try:
        levels = tuple(float(part) for part in text.split(","))
    except ValueError:
        levels = ()
    if not levels or not all(low < high for low, high in zip((0.0, *levels), (*levels, 1.0), strict=True)):
        raise InputError(
            "model.quantiles are levels between 0 and 1 that rise.",
            found=f"model.quantiles={text}",
            fix="--set model.quantiles=0.1,0.5,0.9",
        )
    return levels
