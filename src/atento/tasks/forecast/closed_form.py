"""Where a forecaster begins: what is linear in it is ridge regression on the training windows, solved at once.

Where a net that says how a state changes begins: its units are drawn, and the product that reads them is solved.
"""

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from atento.baselines.series import moments_of
from atento.data.series.series import Numbers
from atento.models.forecast_networks import Beside, FromLastState, WeightedSums
from atento.models.forecaster import Forecaster, Network, SeriesBatch, last_value
from atento.recurrent.stack import Stack
from atento.tasks.forecast.baselines import SeriesRegression
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.rollout import as_forecaster, free_run
from atento.tasks.forecast.windows import Frame, TrainingWindows

# Axes: N windows, D size of a state, O numbers forecast (H·C).

WINDOWS = 20_000  # solved from, at most, evenly chosen
HELD_OUT = 0.2  # of the windows, the last: by them units and ridge are chosen
RUNS = 24  # that go on by themselves from held-out windows
FARTHEST = 500  # steps of such a run
LARGEST, SMALLEST = 1e3, 1e-9  # errors beyond are alike, in spreads
DRAWS = 4  # of units
RIDGES = (1e-12, 1e-11, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
OFF_CENTRE = 0.5  # spread of the biases: units that bend at zero alone say nothing even, no product of two numbers


class Rows(NamedTuple):
    """What a product learns from."""

    states: Numbers  # (N, D) what the last state of a window says
    changes: Numbers  # (N, O) what came, at the pace of each channel

    def solve(self, *ridges: float) -> list[tuple[Numbers, Numbers]]:
        """Weights (D, O) and bias (O,) for each ridge."""
        return moments_of([(self.states, self.changes)]).solve(*ridges, centred=True)


def reads_states(forecaster: Forecaster) -> bool:
    """Whether one product of the last state says the change of all channels together, and nothing else does."""
    alone = isinstance(forecaster.network, FromLastState) and forecaster.effect is None
    return alone and forecaster.whole and not forecaster.each and not forecaster.levels


def solve_readout(forecaster: Forecaster, codec: SeriesCodec, pairs: Sequence[tuple[Any, Frame]]) -> str:
    """Random units and ridge regression of the change on what they say (Jaeger, 2001, sec. 3.1); a note.

    Of some draws and strengths, solved on the first four fifths of the windows, the one is taken whose free runs from
    windows of the last fifth err least: a small error of one step may still lead away in the end.
    """
    network = forecaster.network
    if not isinstance(network, FromLastState):
        raise TypeError(f"a readout is solved of FromLastState, not of {type(network).__name__}")
    parts = [codec.encode(pair) for pair in pairs]
    steps = TrainingWindows(parts, codec.frame, steps=forecaster.horizon)
    far = TrainingWindows(parts, codec.frame, steps=min(codec.frame.horizon, FARTHEST))
    border = round((1 - HELD_OUT) * len(steps))
    runs = far.gather(spaced(min(border, len(far) - 1), len(far), RUNS))
    early, whole = spaced(0, border, WINDOWS), spaced(0, len(steps), WINDOWS)
    tried: list[tuple[float, int, float, dict[str, Tensor]]] = []  # error, draw, ridge, units
    for draw in range(DRAWS):
        draw_units(network.stack)
        units = {name: weight.clone() for name, weight in network.stack.state_dict().items()}
        solved = rows_of(forecaster, network, steps.gather(early)).solve(*RIDGES)
        for ridge, (weights, bias) in zip(RIDGES, solved, strict=True):
            put_into(network.write, weights, bias)
            tried.append((free_error(forecaster, codec, runs), draw, ridge, units))
    _, _, ridge, units = min(tried, key=lambda one: one[:2])
    network.stack.load_state_dict(units)
    put_into(network.write, *rows_of(forecaster, network, steps.gather(whole)).solve(ridge)[0])
    return f"the product that reads the {network.stack.output_size} units begins as ridge regression, in closed form"


def spaced(first: int, end: int, most: int) -> NDArray[np.int64]:
    """So many numbers at most between two, evenly."""
    return np.linspace(first, end - 1, min(end - first, most)).astype(np.int64)


def draw_units(stack: Stack) -> None:
    """Units that bend in the midst of what they read, each at another place."""
    for cell in stack.cells:
        read = cell.get_submodule("read")
        if isinstance(read, nn.Linear):
            nn.init.normal_(read.weight, std=read.in_features**-0.5)
            nn.init.normal_(read.bias, std=OFF_CENTRE)


@torch.no_grad()
def rows_of(forecaster: Forecaster, network: FromLastState, batch: SeriesBatch) -> Rows:
    """Of windows, in float64: what units say alike is told apart by its last digits."""
    exact = copy.deepcopy(network.stack).double().eval()
    states = exact(batch.past.double()).outputs[:, -1]
    changes = (batch.target - forecaster.anchor(batch.past)).double() / forecaster.pace.double()
    return Rows(states.numpy(), changes.flatten(1).numpy())


def put_into(write: nn.Linear, weights: Numbers, bias: Numbers) -> None:
    """What was solved, as the product's weights."""
    with torch.no_grad():
        write.weight.copy_(torch.from_numpy(weights.T))
        write.bias.copy_(torch.from_numpy(bias))


def free_error(forecaster: Forecaster, codec: SeriesCodec, runs: SeriesBatch) -> float:
    """The logarithm of how far free runs are from what came, the mean over steps and runs: it grows with every step,
    so a mean of the errors themselves would see the last ones alone.
    """
    said = free_run(forecaster.eval(), codec, runs.past, runs.target.size(1)).squeeze(-1)
    far = (said - runs.target).square().mean(dim=-1).sqrt().nan_to_num(LARGEST, LARGEST, LARGEST)
    return float(far.clamp(SMALLEST, LARGEST).log().mean())


# Axes: P numbers read, O numbers forecast (H·C), Q quantiles.

QUANTILE_WINDOWS = 2000  # whose errors say how far apart quantiles begin
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
    batch = windows.gather(np.linspace(0, len(windows) - 1, min(len(windows), QUANTILE_WINDOWS)).astype(np.int64))
    left = batch.target - forecaster.point(forecaster(batch.past, batch.known))
    return left.transpose(1, 2).reshape(-1, left.size(1), 1) if forecaster.each else left


def sums_of(network: Network) -> WeightedSums | None:
    """The sums of a network, alone or beside another."""
    network = network.sums if isinstance(network, Beside) else network
    return network if isinstance(network, WeightedSums) else None
