"""Autoregressive rollouts of a forecaster: forecasts of any number of steps, in the units of the series."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.models.forecaster import Forecaster
from atento.tasks.forecast.codec import SeriesCodec, tensor_of

# Axes: N pasts, B pasts of a batch, L past, H horizon, C channels, K covariates, Q quantiles (one number: 1).

AT_ONCE = 2**20  # numbers read in one pass


@torch.no_grad()
def rollout(forecaster: Forecaster, past: Tensor, steps: int, *, known: Tensor | None = None) -> Tensor:
    """past (B, ≥ L, C), known (B, ≥ L + steps, K), from the first row read on, both on scale -> (B, steps, C, Q).

    Beyond one pass, the forecaster reads its own point forecasts as the past. The last pass ends at `steps`, so that
    no later covariates are needed. Unlike `Forecaster.rollout` it has no gradient, and takes time linear in `steps`.
    """
    look_back, horizon = forecaster.look_back, forecaster.horizon
    if known is None:
        known = past.new_zeros(len(past), look_back + steps, 0)
    pad = max(0, look_back + horizon - known.size(1))  # a pass longer than what is asked for: its end is not used
    known = torch.cat([known, known[:, -1:].expand(-1, pad, -1)], dim=1) if pad else known
    path = past.new_empty(len(past), look_back + max(steps, horizon), past.size(2))
    path[:, :look_back] = past[:, -look_back:]
    found = path.new_empty(len(past), max(steps, horizon), past.size(2), max(1, len(forecaster.quantiles)))
    done = 0
    while done < steps:
        first = min(done, max(0, steps - horizon))
        outputs = forecaster(path[:, first : first + look_back], known[:, first : first + look_back + horizon])
        found[:, done : first + horizon] = outputs[:, done - first :]
        path[:, look_back + done : look_back + first + horizon] = forecaster.point_forecast(outputs)[:, done - first :]
        done = first + horizon
    return found[:, :steps]


def forecasts(module: Forecaster, codec: SeriesCodec, pasts: Sequence[Past], steps: int) -> Iterator[Numbers]:
    """(steps, C, Q) of each past, in the units of its series."""
    strange = next((past for past in pasts if not isinstance(past, Past)), None)
    if strange is not None:
        raise InputError(
            "a forecast goes on from the end of a series, not from a text.",
            found=repr(strange)[:80],
            fix="give a file of series: atento predict RUN FILE; or look at one: atento look RUN --what forecast",
        )
    like = next(module.parameters())
    frame = codec.frame
    size = max(1, AT_ONCE // (frame.look_back * len(frame.channels)))
    for start in range(0, len(pasts), size):
        some = pasts[start : start + size]
        scales = codec.scales_of(some)
        values = np.stack([require_past(past, codec) for past in some])  # (B, L, C)
        known = np.stack([require_known(past, codec, steps) for past in some])  # (B, L + steps, K)
        scaled = tensor_of(scales.to(values)).to(like)
        outputs = rollout(module, scaled, steps, known=tensor_of(codec.scale_known(known)).to(like))
        yield from scales.back(outputs.double().cpu().numpy()).astype(np.float32)


def require_past(past: Past, codec: SeriesCodec) -> Numbers:
    """The last rows (L, C) of a past; one of another shape is refused."""
    frame = codec.frame
    if past.values.ndim != 2 or past.values.shape[1] != len(frame.channels) or len(past) < frame.look_back:
        raise InputError(
            f"{past}: this model reads {frame.look_back} rows of {len(frame.channels)} channels.",
            found=f"{past.values.shape[0]} rows of {past.values.shape[-1]} channels",
            fix=f"give the columns {', '.join(frame.channels)}, and enough rows",
        )
    return past.values[-frame.look_back :]


def require_known(past: Past, codec: SeriesCodec, steps: int) -> Numbers:
    """The covariates (L + steps, K) of the rows read and forecast; missing ones are refused."""
    frame = codec.frame
    wanted = frame.look_back + steps
    if not frame.covariates:
        return np.zeros((wanted, 0))
    known = past.future_covariates[len(past) - frame.look_back :]
    if known.shape[-1] != len(frame.covariates) or len(known) < wanted:
        names = ", ".join(frame.covariates)
        raise InputError(
            f"{past}: a forecast of {steps} steps needs {names} of these steps, known beforehand.",
            found=f"{len(known) - frame.look_back} rows of {known.shape[-1]} such columns after the last value",
            fix=f"add rows with {names} and an empty value, or --set decode.horizon= fewer steps",
        )
    return known[:wanted]


def median_of(value: Any, levels: Sequence[float]) -> Numbers:
    """(H, C, Q) -> (H, C): the point forecast, or the median of the quantiles."""
    from atento.layers.losses import median_weights

    return np.asarray(np.asarray(value) @ np.asarray(median_weights(levels if value.shape[-1] > 1 else ())))
