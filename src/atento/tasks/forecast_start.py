"""Where a forecaster begins: what is linear in it is ridge regression on the training windows, solved at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from atento.models.forecast_linear import Beside, WeightedSums
from atento.models.forecaster import Forecaster, Network, last_value
from atento.tasks.forecast_baselines import SeriesRegression
from atento.tasks.forecast_codec import SeriesCodec
from atento.tasks.forecast_frame import Frame
from atento.tasks.forecast_readout import reads_states, solve_readout
from atento.tasks.forecast_running import as_forecaster
from atento.tasks.forecast_windows import TrainingWindows

# Axes: P numbers read, O numbers forecast (H·C), Q quantiles.

WINDOWS = 2000  # whose errors say how far apart quantiles begin
MOST = 1024  # numbers read for each forecast; solving grows with their cube


def start_in_closed_form(module: nn.Module, codec: SeriesCodec, pairs: Sequence[tuple[Any, Frame]]) -> str:
    """Weighted sums of the window, or of the units of a net that says the change; a note where one was solved."""
    forecaster = as_forecaster(module)
    if reads_states(forecaster):
        return solve_readout(forecaster, codec, pairs)
    return start_at_ridge(module, codec, pairs)


def start_at_ridge(module: nn.Module, codec: SeriesCodec, pairs: Sequence[tuple[Any, Frame]]) -> str:
    """The first weights of the sums, where windows are read from their last value on; a note where that was done.

    The network beside them says nothing yet: the first forecast is the ridge's, and it learns what that leaves over.
    """
    forecaster = as_forecaster(module)
    sums = sums_of(forecaster.network)
    if sums is None or forecaster.anchor is not last_value or forecaster.whole or sums.sums.in_features > MOST:
        return ""
    ridge = SeriesRegression(joint=not forecaster.each)
    parts = [codec.scales_of([series]).to(series.values[None])[0] for series, _ in pairs]
    ridge.learn(parts, codec.frame._replace(horizon=forecaster.horizon))
    weights = torch.from_numpy(ridge.weights).to(sums.sums.weight)  # (P, O)
    with torch.no_grad():
        sums.sums.weight.view(weights.size(1), -1, len(weights)).copy_(weights.mT.unsqueeze(1))  # alike for all Q
        if codec.levels:
            left = residuals(forecaster, codec, pairs)  # (N, H, C)
            levels = left.new_tensor(codec.levels)
            sums.sums.bias.view(*left.shape[1:], -1).copy_(left.quantile(levels, dim=0).permute(1, 2, 0))
    apart = ", quantiles as far apart as what it leaves over" if codec.levels else ""
    return f"weighted sums of the window begin as ridge regression, in closed form{apart}"


def residuals(forecaster: Forecaster, codec: SeriesCodec, pairs: Sequence[tuple[Any, Frame]]) -> Tensor:
    """What a forecaster leaves over on some training windows: (N, H, C); of channels read by themselves C is 1."""
    parts = [codec.encode(pair) for pair in pairs]
    windows = TrainingWindows(parts, codec.frame, steps=forecaster.horizon)
    batch = windows.gather(np.linspace(0, len(windows) - 1, min(len(windows), WINDOWS)).astype(np.int64))
    left = batch.target - forecaster.point(forecaster(batch.past, batch.known))
    return left.transpose(1, 2).reshape(-1, left.size(1), 1) if forecaster.each else left


def sums_of(network: Network) -> WeightedSums | None:
    """The sums of a network, alone or beside another."""
    network = network.sums if isinstance(network, Beside) else network
    return network if isinstance(network, WeightedSums) else None
