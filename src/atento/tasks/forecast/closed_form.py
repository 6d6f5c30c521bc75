"""Initial weights of a forecaster in closed form, by ridge regression on the training windows.

A linear network starts as the regression itself; of a recurrent network that predicts changes the units are drawn at
random and its readout is solved.
"""

import copy
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from atento.baselines.ridge import regression_sums
from atento.data.series.series import Integers, Numbers
from atento.models.forecast_networks import LastStateNetwork, LinearNetwork, LinearSkip
from atento.models.forecaster import Forecaster, ForecastModel, ForecastNetwork, SeriesBatch, last_value
from atento.recurrent.stack import Stack
from atento.tasks.forecast.baselines import SeriesRegression
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.windows import Pairs, TrainingWindows

# Axes: N windows, D size of a state, P numbers read, O numbers forecast (H·C), Q quantiles.

WINDOWS = 20_000  # solved from, at most, evenly chosen
HELD_OUT = 0.2  # of the windows, the last: by them units and ridge are chosen
RUNS = 24  # that go on by themselves from held-out windows
FARTHEST = 500  # steps of such a run
LARGEST, SMALLEST = 1e3, 1e-9  # errors are clipped to these, in standard deviations
DRAWS = 4  # of units
RIDGES = (1e-12, 1e-11, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
OFF_CENTRE = 0.5  # std of the biases: units that are odd functions cannot add up to a product of two numbers
QUANTILE_WINDOWS = 2000  # whose errors give the first quantiles
MOST = 1024  # numbers read for each forecast; solving grows with their cube


class Rows(NamedTuple):
    """The rows of the regression of a readout."""

    states: Numbers  # (N, D) the last state of each window
    changes: Numbers  # (N, O) the changes to predict, in units of each channel's usual change

    def solve(self, *ridges: float) -> list[tuple[Numbers, Numbers]]:
        """Weights (D, O) and bias (O,) for each ridge."""
        return regression_sums([(self.states, self.changes)]).solve(*ridges, centred=True)


def reads_states(forecaster: Forecaster) -> bool:
    """Whether the forecast is one linear readout of the last state, for the change of all channels together."""
    alone = isinstance(forecaster.network, LastStateNetwork) and forecaster.effect is None
    return alone and forecaster.predicts_change and not forecaster.per_channel and not forecaster.quantiles


def solve_readout(forecaster: Forecaster, codec: SeriesCodec, pairs: Pairs) -> str:
    """Random units and ridge regression of the change on their states (Jaeger, 2001, sec. 3.1); returns a note.

    Several draws and ridges are solved on the first four fifths of the windows; the one is kept whose rollouts from
    windows of the last fifth have the smallest error, as a small error of one step may still grow.
    """
    network = forecaster.network
    if not isinstance(network, LastStateNetwork):
        raise TypeError(f"a readout is solved of LastStateNetwork, not of {type(network).__name__}")
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
            tried.append((free_error(forecaster, runs), draw, ridge, units))
    _, _, ridge, units = min(tried, key=lambda one: one[:2])
    network.stack.load_state_dict(units)
    put_into(network.write, *rows_of(forecaster, network, steps.gather(whole)).solve(ridge)[0])
    return f"the product that reads the {network.stack.output_size} units begins as ridge regression, in closed form"


def spaced(first: int, end: int, most: int) -> Integers:
    """At most so many whole numbers in [first, end), evenly spaced."""
    return np.linspace(first, end - 1, min(end - first, most)).astype(np.int64)


def draw_units(stack: Stack) -> None:
    """Draw weights and biases of the units, so that each is nonlinear at another place of its inputs."""
    for cell in stack.cells:
        read = cell.get_submodule("read")
        if isinstance(read, nn.Linear):
            nn.init.normal_(read.weight, std=read.in_features**-0.5)
            nn.init.normal_(read.bias, std=OFF_CENTRE)


@torch.no_grad()
def rows_of(forecaster: Forecaster, network: LastStateNetwork, batch: SeriesBatch) -> Rows:
    """The regression rows of windows, in float64, as the states of the units are nearly collinear."""
    exact = copy.deepcopy(network.stack).double().eval()
    states = exact(batch.past.double()).outputs[:, -1]
    changes = (batch.target - forecaster.anchor(batch.past)).double() / forecaster.step_scale.double()
    return Rows(states.numpy(), changes.flatten(1).numpy())


def put_into(write: nn.Linear, weights: Numbers, bias: Numbers) -> None:
    """Copy the solution into the readout."""
    with torch.no_grad():
        write.weight.copy_(torch.from_numpy(weights.T))
        write.bias.copy_(torch.from_numpy(bias))


@torch.no_grad()
def free_error(forecaster: Forecaster, runs: SeriesBatch) -> float:
    """The mean log error of rollouts, over steps and rollouts. Errors grow with every step, so that their plain mean
    would measure the last steps alone.
    """
    predicted = forecaster.eval().rollout(runs.past, runs.known, runs.target.size(1)).squeeze(-1)
    far = (predicted - runs.target).square().mean(dim=-1).sqrt().nan_to_num(LARGEST, LARGEST, LARGEST)
    return float(far.clamp(SMALLEST, LARGEST).log().mean())


def start_in_closed_form(forecaster: ForecastModel, codec: SeriesCodec, pairs: Pairs) -> str:
    """Initialise a linear network or a linear readout by ridge regression; returns a note, empty without either."""
    if not isinstance(forecaster, Forecaster):
        return ""
    start = solve_readout if reads_states(forecaster) else start_at_ridge
    return start(forecaster, codec, pairs)


def start_at_ridge(forecaster: Forecaster, codec: SeriesCodec, pairs: Pairs) -> str:
    """The first weights of a linear network that reads windows from their last value on; returns a note.

    The network beside it starts at zero: the first forecast is the ridge's, and training begins at its residuals.
    """
    sums = sums_of(forecaster.network)
    if (
        sums is None
        or forecaster.anchor is not last_value
        or forecaster.predicts_change
        or sums.linear.in_features > MOST
    ):
        return ""
    ridge = SeriesRegression(joint=not forecaster.per_channel)
    ridge.learn([codec.scale_part(series) for series, _ in pairs], codec.frame._replace(horizon=forecaster.horizon))
    weights = torch.from_numpy(ridge.weights).to(sums.linear.weight)  # (P, O)
    with torch.no_grad():
        sums.linear.weight.view(weights.size(1), -1, len(weights)).copy_(weights.mT.unsqueeze(1))  # alike for all Q
        if codec.levels:
            left = residuals(forecaster, codec, pairs)  # (N, H, C)
            levels = left.new_tensor(codec.levels)
            sums.linear.bias.view(*left.shape[1:], -1).copy_(left.quantile(levels, dim=0).permute(1, 2, 0))
    apart = ", quantiles as far apart as what it leaves over" if codec.levels else ""
    return f"weighted sums of the window begin as ridge regression, in closed form{apart}"


def residuals(forecaster: Forecaster, codec: SeriesCodec, pairs: Pairs) -> Tensor:
    """Residuals (N, H, C) of a forecaster on some training windows; where channels are read alone, C is 1."""
    parts = [codec.encode(pair) for pair in pairs]
    windows = TrainingWindows(parts, codec.frame, steps=forecaster.horizon)
    batch = windows.gather(spaced(0, len(windows), QUANTILE_WINDOWS))
    left = batch.target - forecaster.point_forecast(forecaster(batch.past, batch.known))
    return left.transpose(1, 2).reshape(-1, left.size(1), 1) if forecaster.per_channel else left


def sums_of(network: ForecastNetwork) -> LinearNetwork | None:
    """The linear network, alone or as a skip connection."""
    network = network.linear if isinstance(network, LinearSkip) else network
    return network if isinstance(network, LinearNetwork) else None
