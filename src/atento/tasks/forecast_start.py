"""Where a forecaster begins: its weighted sums are ridge regression on the training windows, solved at once."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from atento.models.forecast_linear import Beside, WeightedSums
from atento.models.forecaster import Network, last_value
from atento.tasks.forecast_baselines import SeriesRegression
from atento.tasks.forecast_codec import SeriesCodec
from atento.tasks.forecast_frame import Frame
from atento.tasks.forecast_running import as_forecaster

# Axes: P numbers read, O numbers forecast (H·C), Q quantiles.

MOST = 1024  # numbers read for each forecast; solving grows with their cube


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
    return "weighted sums of the window begin as ridge regression, in closed form"


def sums_of(network: Network) -> WeightedSums | None:
    """The sums of a network, alone or beside another."""
    network = network.sums if isinstance(network, Beside) else network
    return network if isinstance(network, WeightedSums) else None
