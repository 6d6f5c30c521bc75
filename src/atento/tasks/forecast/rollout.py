"""A forecaster at work: one pass over the horizon, or on and on from its own output."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.models.forecaster import Forecaster
from atento.tasks.forecast.codec import SeriesCodec, tensor_of

# Axes: N pasts, B pasts of a batch, L past, H horizon, C channels, K covariates, Q quantiles (one number: 1).

AT_ONCE = 2**20  # numbers read in one pass


@torch.no_grad()
def free_run(module: nn.Module, codec: SeriesCodec, past: Tensor, steps: int, *, known: Tensor | None = None) -> Tensor:
    """past (B, ≥ L, C), known (B, ≥ L + steps, K), from the first row read on, both on scale -> (B, steps, C, Q).

    What lies beyond one pass is read from its own output; of quantiles, from the median. The last pass begins early
    enough to end at `steps`: nothing need be known of later times.
    """
    forecaster = as_forecaster(module)
    look_back, horizon = forecaster.look_back, forecaster.horizon
    if known is None:
        known = past.new_zeros(len(past), look_back + steps, 0)
    pad = max(0, look_back + horizon - known.size(1))  # a pass longer than what is asked for: its end is not used
    known = torch.cat([known, known[:, -1:].expand(-1, pad, -1)], dim=1) if pad else known
    path = past.new_empty(len(past), look_back + max(steps, horizon), past.size(2))
    path[:, :look_back] = past[:, -look_back:]
    found = path.new_empty(len(past), max(steps, horizon), past.size(2), max(1, len(forecaster.levels)))
    done = 0
    while done < steps:
        first = min(done, max(0, steps - horizon))
        outputs = forecaster(path[:, first : first + look_back], known[:, first : first + look_back + horizon])
        found[:, done : first + horizon] = outputs[:, done - first :]
        path[:, look_back + done : look_back + first + horizon] = forecaster.point(outputs)[:, done - first :]
        done = first + horizon
    return found[:, :steps]


def forecasts(module: nn.Module, codec: SeriesCodec, pasts: Sequence[Past], steps: int) -> Iterator[Numbers]:
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
        outputs = free_run(module, codec, scaled, steps, known=tensor_of(codec.scale_known(known)).to(like))
        yield from scales.back(outputs.double().cpu().numpy()).astype(np.float32)


def require_past(past: Past, codec: SeriesCodec) -> Numbers:
    """Its last rows (L, C)."""
    frame = codec.frame
    if past.values.ndim != 2 or past.values.shape[1] != len(frame.channels) or len(past) < frame.look_back:
        raise InputError(
            f"{past}: this model reads {frame.look_back} rows of {len(frame.channels)} channels.",
            found=f"{past.values.shape[0]} rows of {past.values.shape[-1]} channels",
            fix=f"give the columns {', '.join(frame.channels)}, and enough rows",
        )
    return past.values[-frame.look_back :]


def require_known(past: Past, codec: SeriesCodec, steps: int) -> Numbers:
    """What is known (L + steps, K) of the rows read and forecast."""
    frame = codec.frame
    wanted = frame.look_back + steps
    if not frame.covariates:
        return np.zeros((wanted, 0))
    known = past.known[len(past) - frame.look_back :]
    if known.shape[-1] != len(frame.covariates) or len(known) < wanted:
        names = ", ".join(frame.covariates)
        raise InputError(
            f"{past}: a forecast of {steps} steps needs {names} of these steps, known beforehand.",
            found=f"{len(known) - frame.look_back} rows of {known.shape[-1]} such columns after the last value",
            fix=f"add rows with {names} and an empty value, or --set decode.horizon= fewer steps",
        )
    return known[:wanted]


def as_forecaster(module: nn.Module) -> Forecaster:
    """The module, typed."""
    if not isinstance(module, Forecaster):
        raise TypeError(f"forecast works with a Forecaster, not {type(module).__name__}")
    return module


def median_of(value: Any, levels: Sequence[float]) -> Numbers:
    """(H, C, Q) -> (H, C): the number itself, or the median."""
    from atento.layers.losses import median_shares

    return np.asarray(np.asarray(value) @ np.asarray(median_shares(levels if value.shape[-1] > 1 else ())))
