"""Where a net that says how a state changes begins: its units are drawn, and the product that reads them is solved."""

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from atento.baselines.autoregression import moments_of
from atento.data.series.series import Numbers
from atento.models.forecast_recurrent import FromLastState
from atento.models.forecaster import Forecaster, SeriesBatch
from atento.recurrent.stack import Stack
from atento.tasks.forecast_codec import SeriesCodec
from atento.tasks.forecast_frame import Frame
from atento.tasks.forecast_running import free_run
from atento.tasks.forecast_windows import TrainingWindows

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
