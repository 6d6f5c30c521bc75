"""Forecasters from a recipe.

`linear` is one linear map of the window. `rnn`, `gru` and `lstm` predict the whole horizon from their last state; with
a composition (`lstm+additive`) they decode the horizon patch by patch with attention over the window. `transformer`
reads steps, `transformer+patches` patches of the window.
"""

from collections.abc import Sequence

from torch import nn

from atento.blocks.transformer import TransformerStack
from atento.errors import InputError
from atento.models.builders.choices import attention_sizes, one_part, require_defaults, require_no_linformer
from atento.models.builders.recurrent import decoder_stack, encoder_stack, encoder_summary, require_crossing
from atento.models.builders.transformer import positions_of, self_attention_layers
from atento.models.forecast_networks import (
    AttentiveRecurrentNetwork,
    HorizonQueries,
    LastStateNetwork,
    LinearNetwork,
    LinearSkip,
    ParallelRecurrentNetwork,
    PatchEmbedding,
    PatchHead,
    PatchTransformer,
    StepTransformer,
)
from atento.models.forecaster import (
    Anchor,
    Forecaster,
    ForecastNetwork,
    SeriesSizes,
    last_value,
    mean_value,
    no_anchor,
    zero_initialized,
)
from atento.models.names import FORECASTERS, ModelName, ModelPart
from atento.spec import ModelRecipe

ANCHORS: dict[str, Anchor] = {
    "auto": last_value,
    "last": last_value,
    "mean": mean_value,
    "none": no_anchor,
    "change": last_value,
}
PATCHES = "patches"
RECURRENT_PATCHES = 14  # of a window, where model.patch is not given
TRANSFORMER_PATCHES = 7


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
            f"model {text!r}: only a Transformer takes +{PATCHES}; a recurrent model always reads model.patch steps.",
            found=text,
            fix=f"leave +{PATCHES} out, or name transformer+{PATCHES}",
        )
    require_no_linformer(part, text, "a window is short, so that linformer would save nothing")


def build_forecaster(
    recipe: ModelRecipe, sizes: SeriesSizes, *, noise: float = 0.0, step_scale: Sequence[float] = ()
) -> Forecaster:
    """The forecaster of a recipe; model.strategy=recursive predicts one step at a time.

    `noise` is added to the past in training; `step_scale` is how much each channel changes in a step, for
    model.anchor=change.
    """
    name, quantiles = ModelName.parse(recipe.name), parse_quantiles(recipe.quantiles)
    require_forecaster(name)
    if recipe.strategy == "recursive":
        sizes = sizes._replace(horizon=1)
    per_channel, predicts_change = recipe.channels != "joint", recipe.anchor == "change"
    network_sizes = sizes._replace(channels=1) if per_channel else sizes
    network = build_network(name, recipe, network_sizes, quantiles=max(1, len(quantiles)))
    return Forecaster(
        network,
        sizes,
        anchor=ANCHORS[recipe.anchor],
        predicts_change=predicts_change,
        step_scale=step_scale if predicts_change else (),
        effect=covariate_effect(name, recipe, sizes),
        per_channel=per_channel,
        quantiles=quantiles,
        noise=noise,
    )


def build_network(name: ModelName, recipe: ModelRecipe, sizes: SeriesSizes, *, quantiles: int) -> ForecastNetwork:
    """The network of a family, with a linear skip connection where model.linear_skip says so."""
    linear = LinearNetwork(sizes, quantiles=quantiles)
    if name.family in FORECASTERS:
        return linear
    require_defaults(recipe, "context", "attend")
    if name.family == "transformer":
        network = transformer_network(name, recipe, sizes, quantiles=quantiles)
    else:
        network = recurrent_network(name.decoder, recipe, sizes, quantiles=quantiles)
    return LinearSkip(network, linear) if recipe.linear_skip else network


def recurrent_network(part: ModelPart, recipe: ModelRecipe, sizes: SeriesSizes, *, quantiles: int) -> ForecastNetwork:
    """A recurrent network over steps or patches; with a composition, with attention over the window."""
    size, patch = recipe.hidden, patch_of(recipe, sizes)
    if part.attention is None:
        require_defaults(recipe, "pooling")
    if part.attention is None and patch == 1:
        stack = decoder_stack(part.family, recipe, sizes.channels + sizes.covariates)
        return LastStateNetwork(stack, sizes, quantiles=quantiles, dropout=recipe.dropout)
    embedding, queries = PatchEmbedding(sizes, patch, size), HorizonQueries(sizes, patch, size)
    head = PatchHead(sizes, patch, size, quantiles=quantiles, dropout=recipe.dropout)
    decoder = decoder_stack(part.family, recipe, size)
    if part.attention is None:
        return ParallelRecurrentNetwork(embedding, decoder, queries, head)
    encoder = encoder_stack(part.family, recipe, size)
    attention = part.attention.build(attention_sizes(recipe, size, size))
    require_crossing(part.attention, attention, recipe)
    return AttentiveRecurrentNetwork(embedding, encoder, encoder_summary(recipe), queries, decoder, attention, head)


def transformer_network(name: ModelName, recipe: ModelRecipe, sizes: SeriesSizes, *, quantiles: int) -> ForecastNetwork:
    """A stack of self-attention over patches, or over single steps."""
    require_defaults(recipe, "pooling")
    layers = self_attention_layers(name.without(PATCHES).decoder.compose(), recipe, causal=recipe.directions == 1)
    stack, size, dropout = TransformerStack(layers), recipe.hidden, recipe.dropout
    positions = positions_of(recipe)
    if name.has(PATCHES):
        embedding = PatchEmbedding(sizes, patch_of(recipe, sizes, patches=TRANSFORMER_PATCHES), size)
        return PatchTransformer(embedding, positions, stack, sizes, quantiles=quantiles, dropout=dropout)
    patch = recipe.patch or 1
    embedding, queries = PatchEmbedding(sizes, patch, size), HorizonQueries(sizes, patch, size)
    head = PatchHead(sizes, patch, size, quantiles=quantiles)
    return StepTransformer(embedding, queries, positions, stack, head, dropout=dropout)


def patch_of(recipe: ModelRecipe, sizes: SeriesSizes, *, patches: int = RECURRENT_PATCHES) -> int:
    """The steps of a patch: model.patch, or a window of so many patches, or one step in a recursive forecaster."""
    chosen = 1 if recipe.strategy == "recursive" else -(-sizes.look_back // patches)
    return min(recipe.patch or chosen, sizes.look_back)


def covariate_effect(name: ModelName, recipe: ModelRecipe, sizes: SeriesSizes) -> nn.Module | None:
    """A map of covariates (..., K) to their effect on each channel (..., C), zero at first; None without covariates."""
    if not sizes.covariates:
        return None
    if name.family in FORECASTERS:
        return zero_initialized(nn.Linear(sizes.covariates, sizes.channels))
    last = zero_initialized(nn.Linear(recipe.hidden, sizes.channels))
    return nn.Sequential(nn.Linear(sizes.covariates, recipe.hidden), nn.ReLU(), last)


def parse_quantiles(text: str) -> tuple[float, ...]:
    """`0.1,0.5,0.9` -> increasing levels between 0 and 1."""
    if not text.strip():
        return ()
    try:
        levels = tuple(float(part) for part in text.split(","))
    except ValueError:
        levels = ()
    if not levels or not all(low < high for low, high in zip((0.0, *levels), (*levels, 1.0), strict=True)):
        raise InputError(
            "model.quantiles are increasing levels between 0 and 1.",
            found=f"model.quantiles={text}",
            fix="--set model.quantiles=0.1,0.5,0.9",
        )
    return levels
