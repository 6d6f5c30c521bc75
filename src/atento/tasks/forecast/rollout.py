"""Forecasts of any number of steps, in the units of the series."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.layers.losses import median_weights
from atento.models.forecaster import ForecastModel
from atento.tasks.forecast.codec import SeriesCodec

# Axes: H horizon, C channels, Q quantiles (one number: 1).

AT_ONCE = 2**20  # numbers read in one pass

Forecast = NDArray[np.float32]  # (H, C, Q), in the units of the series


@torch.no_grad()
def forecasts(module: ForecastModel, codec: SeriesCodec, pasts: Sequence[Past], steps: int) -> Iterator[Forecast]:
    """The forecast of so many steps of each past."""
    strange = next((past for past in pasts if not isinstance(past, Past)), None)
    if strange is not None:
        raise InputError(
            "a forecast goes on from the end of a series, not from a text.",
            found=repr(strange)[:80],
            fix="give a file of series: atento predict RUN FILE; or look at one: atento look RUN --what forecast",
        )
    like = next(module.parameters())
    size = max(1, AT_ONCE // (codec.frame.look_back * len(codec.frame.channels)))
    for start in range(0, len(pasts), size):
        past, known, scales = codec.read(pasts[start : start + size], steps, like)
        outputs = module.calibrated_rollout(past, known, steps)
        yield from scales.back(outputs.double().cpu().numpy()).astype(np.float32)


def median_of(value: Forecast | Numbers, levels: Sequence[float]) -> Numbers:
    """(H, C, Q) -> (H, C): the point forecast, or the median of the quantiles."""
    return np.asarray(value @ np.asarray(median_weights(levels if value.shape[-1] > 1 else ())))
