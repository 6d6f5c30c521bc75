"""Forecasters from a recipe.

`linear` is one linear map of the window. `rnn`, `gru` and `lstm` predict the whole horizon from their last state; with
a composition (`lstm+additive`) they decode the horizon patch by patch with attention over the window. `transformer`
reads steps, `transformer+patches` patches of the window.
"""

from collections.abc import Sequence

from torch import nn

from atento.errors import InputError
from atento.layers.products import Linear
from atento.models.builders.choices import OF_LANGUAGE_MODELS, one_part, require_defaults, require_no_linformer
from atento.models.builders.encoder_decoder import family_of
from atento.models.builders.transformer import PATCHES
from atento.models.conformal import ConformalQuantiles
from atento.models.forecast_networks import LinearNetwork, LinearSkip
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
from atento.models.names import FORECASTERS, ModelName
from atento.spec import ModelRecipe

ANCHORS: dict[str, Anchor] = {
    "auto": last_value,
    "last": last_value,
    "mean": mean_value,
    "none": no_anchor,
    "change": last_value,
}


def require_forecaster(name: ModelName) -> None:
    """Refuse a name that is none of `linear`, `gru`, `lstm+additive`, `transformer`, `transformer+patches` and such."""
    text, family = str(name), name.family
    if name.alone and family in FORECASTERS:
        if name.decoder.added:
            raise InputError(f"model {text!r}: {family} has no parts.", found=text, fix=f"write {family}")
        return
    part = one_part(name.without(PATCHES), "a forecaster")
    if name.has(PATCHES) and not part.self_attentive:
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
    conformal = ConformalQuantiles(quantiles, horizon=sizes.horizon, channels=sizes.channels) if quantiles else None
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
        conformal=conformal,
        noise=noise,
    )


def build_network(name: ModelName, recipe: ModelRecipe, sizes: SeriesSizes, *, quantiles: int) -> ForecastNetwork:
    """The network of a family, with a linear skip connection where model.linear_skip says so."""
    linear = LinearNetwork(sizes, quantiles=quantiles)
    if name.family in FORECASTERS:
        return linear
    require_defaults(recipe, "context", "attend", *OF_LANGUAGE_MODELS)
    network = family_of(name.decoder).forecast_network(name, recipe, sizes, quantiles=quantiles)
    return LinearSkip(network, linear) if recipe.linear_skip else network


def covariate_effect(name: ModelName, recipe: ModelRecipe, sizes: SeriesSizes) -> nn.Module | None:
    """A map of covariates (..., K) to their effect on each channel (..., C), zero at first; None without covariates."""
    if not sizes.covariates:
        return None
    if name.family in FORECASTERS:
        return zero_initialized(Linear(sizes.covariates, sizes.channels))
    last = zero_initialized(Linear(recipe.hidden, sizes.channels))
    return nn.Sequential(Linear(sizes.covariates, recipe.hidden), nn.ReLU(), last)


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
