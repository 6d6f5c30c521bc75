"""Explanations of a forecast: the attention over past steps, and the matrices of one forward pass."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from atento.data.series import Past
from atento.models.diagnostics.attention_maps import MapPlace
from atento.models.ensemble import count_members, whole_forecasters
from atento.models.forecast_networks import HorizonQueries, PatchEmbedding
from atento.models.forecaster import ForecastModel
from atento.spec import DecodeRecipe
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.rollout import forecasts
from atento.tasks.inputs.map_places import of_members
from atento.tasks.traces import Alignment, ForwardPass, TraceMatrix, trace_matrix

# Axes: L past, H horizon, C channels, K covariates, Q quantiles.

SHOWN = 24  # steps of a pass that are written out
MOST = 48  # steps of an attention map: of more, some are shown together and some left out


@torch.no_grad()
def look_at(module: ForecastModel, codec: SeriesCodec, source: Past, recipe: DecodeRecipe) -> Alignment:
    """Which steps of the past a forecast attended to, of its first channel; nothing for models without attention."""
    (value,) = forecasts(module, codec, [source], recipe.horizon or codec.frame.horizon)
    text = ", ".join(f"{number:.4g}" for number in value[:, 0, value.shape[2] // 2])
    past, known, _ = codec.read([source], module.horizon, next(module.parameters()))
    weights = module.weights(past, known)[0, 0]  # (layers, heads, outputs, sources)
    if not weights.numel():
        nothing = torch.zeros(0, 0, 1, codec.frame.look_back)
        return Alignment(lags(codec.frame.look_back, 1), ["+1"], nothing, text, None)
    outputs, sources = weights.shape[-2:]
    every, together = -(-outputs // MOST), -(-sources // MOST)
    pooled = pad(weights, (0, -sources % together)).reshape(*weights.shape[:-1], -1, together).sum(dim=-1)
    read, written = labels(sources, codec)[::together], labels(outputs, codec, ahead=True)[::every]
    return Alignment(read, written, pooled[..., ::every, :].float().cpu(), text, None)


def labels(count: int, codec: SeriesCodec, *, ahead: bool = False) -> list[str]:
    """Names of steps: `+1` for those forecast, `−3` for those read; of patches of the past, the step each begins at."""
    if ahead and count != codec.frame.look_back and count <= codec.frame.horizon:
        return [f"+{step}" for step in range(1, count + 1)]
    return lags(count, max(1, codec.frame.look_back // max(1, count)))


def lags(count: int, size: int) -> list[str]:
    """Names of so many patches of one size, by their distance in steps from the last."""
    return [f"−{(count - 1 - place) * size}" if place < count - 1 else "0" for place in range(count)]


def forward_pass(module: ForecastModel, codec: SeriesCodec, source: Past, recipe: DecodeRecipe) -> ForwardPass:
    """One pass over the past of a series; what is explained is the mean forecast of the first channel."""
    (value,) = forecasts(module, codec, [source], recipe.horizon or codec.frame.horizon)
    text = ", ".join(f"{number:.4g}" for number in value[:, 0, value.shape[2] // 2])
    past, known, _ = codec.read([source], module.horizon, next(module.parameters()))

    def score(values: Tensor | None) -> Tensor:
        outputs = module(past if values is None else values, known)
        return module.point_forecast(outputs)[0, :, 0].mean()

    channel = codec.frame.channels[0]
    return ForwardPass(
        score,
        f"the mean forecast of {channel}, in standard deviations",
        map_places(module, codec),
        tokens=lags(codec.frame.look_back, 1),
        text=text,
        values=past,
        by_item=lambda values: values[0].sum(dim=-1),
    )


def map_places(module: ForecastModel, codec: SeriesCodec) -> list[MapPlace]:
    """The steps or patches that a network attends between; of networks that read each channel alone, the first's."""
    parts = {type(part): part for part in module.modules()}
    embedding, queries = parts.get(PatchEmbedding), parts.get(HorizonQueries)
    if not isinstance(embedding, PatchEmbedding):
        return []
    past, ahead = lags(embedding.patches, embedding.patch), list[str]()
    if isinstance(queries, HorizonQueries):
        ahead = [f"+{patch * queries.patch + 1}" for patch in range(queries.patches)]
    together = [*past, *ahead]
    places = [
        MapPlace(".stack.", "self-attention of steps", "self", together, together),
        MapPlace(".attention.", "forecast to past", "cross", ahead, past),
    ]
    return of_members(module, places)


@torch.no_grad()
def trace(forecaster: ForecastModel, codec: SeriesCodec, source: Past, recipe: DecodeRecipe) -> list[TraceMatrix]:
    """The matrices of one forward pass."""
    past, known, _ = codec.read([source], forecaster.horizon, next(forecaster.parameters()))
    channels, levels = list(codec.frame.channels), [f"{level:g}" for level in codec.levels] or ["ŷ"]
    rows = lags(past.size(1), 1)[-SHOWN:]
    level = whole_forecasters(forecaster)[0].anchor(past)  # all members have one kind of anchor
    count = count_members(forecaster)
    passed = "anchor + network(window)" if count == 1 else f"the mean of {count} members: anchor + network(window)"
    outputs = forecaster(past, known)[0]  # (H, C, Q)
    steps = [f"+{step}" for step in range(1, min(SHOWN, len(outputs)) + 1)]
    value = next(forecasts(forecaster, codec, [source], forecaster.horizon))
    columns = [channel if len(levels) == 1 else f"{channel} {one}" for channel in channels for one in levels]
    found = [
        trace_matrix("past", "(x − mean) / std of the training part", rows, past[0, -SHOWN:], columns=channels),
        trace_matrix(
            "anchor", "what is taken off the window", ["anchor"], level[0], columns=channels, made_of=["past"]
        ),
        trace_matrix(
            "window",
            "past − anchor: what the network reads",
            rows,
            (past - level)[0, -SHOWN:],
            columns=channels,
            made_of=["past", "anchor"],
        ),
    ]
    if codec.frame.covariates:
        names = list(codec.frame.covariates)
        found.append(
            trace_matrix("known", "future covariates, on scale", steps, known[0, past.size(1) :][:SHOWN], columns=names)
        )
    read = ["window", "anchor", "known"]
    found.append(trace_matrix("forecast", passed, steps, outputs[:SHOWN].flatten(1), columns=columns, made_of=read))
    last = "forecast"
    if forecaster.quantiles:
        moved = forecaster.calibrated(outputs[None])[0, :SHOWN].flatten(1)
        text, last = "each quantile moved by its conformal offset", "calibrated"
        found.append(trace_matrix(last, text, steps, moved, columns=columns, made_of=["forecast"]))
    in_units = torch.as_tensor(value[:SHOWN]).flatten(1)
    text = f"{last} · std + mean"
    return [*found, trace_matrix("in units", text, steps, in_units, columns=columns, made_of=[last])]
