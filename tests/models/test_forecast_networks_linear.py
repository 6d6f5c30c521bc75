"""Weighted sums of the past: by hand, as ridge regression has them in closed form, and beside a network."""

import numpy as np
import pytest
import torch

from atento.models import ForecastNetwork, SeriesBatch, SeriesSizes
from atento.models.builders import build_forecaster
from atento.models.forecast_networks import LinearNetwork, LinearSkip
from atento.spec import ModelRecipe

ROWS, PAST, HORIZON, CHANNELS = 3, 7, 5, 2
SIZES = SeriesSizes(CHANNELS, 0, PAST, HORIZON)


def test_sums_by_hand():
    network = LinearNetwork(SIZES, quantiles=3)
    for weight in network.parameters():
        torch.nn.init.normal_(weight)
    past = torch.randn(ROWS, PAST, CHANNELS)
    found = network(past, past.new_zeros(ROWS, PAST + HORIZON, 0))
    weights = network.linear.weight.view(HORIZON, CHANNELS, 3, PAST, CHANNELS)
    bias = network.linear.bias.view(HORIZON, CHANNELS, 3)
    for row in range(ROWS):
        for step in range(HORIZON):
            for channel in range(CHANNELS):
                for level in range(3):
                    expected = bias[step, channel, level].item()
                    for time in range(PAST):
                        for other in range(CHANNELS):
                            weight = weights[step, channel, level, time, other]
                            expected += (weight * past[row, time, other]).item()
                    assert found[row, step, channel, level].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.spec("K08")
def test_what_it_learns_is_what_least_squares_find():
    """Trained to the end on an autoregression of order two, its weights are numpy's, from the last value on."""
    chance = np.random.default_rng(0)
    series = np.zeros(400)
    for time in range(2, 400):
        series[time] = 1.2 * series[time - 1] - 0.6 * series[time - 2] + chance.normal()
    windows = np.lib.stride_tricks.sliding_window_view(series, 4 + 2)
    past, target = windows[:, :4], windows[:, 4:]
    moved = past - past[:, -1:]
    design = np.hstack([moved, np.ones((len(moved), 1))])
    expected = design @ np.linalg.lstsq(design, target - past[:, -1:], rcond=None)[0] + past[:, -1:]

    model = build_forecaster(ModelRecipe(name="linear"), SeriesSizes(1, 0, 4, 2))
    batch = SeriesBatch(
        torch.tensor(past[..., None]),
        torch.zeros(len(past), 6, 0),
        torch.tensor(np.ascontiguousarray(target[..., None])),
    )
    optimiser = torch.optim.LBFGS(
        model.parameters(), max_iter=200, line_search_fn="strong_wolfe", tolerance_change=1e-15
    )

    def closure():
        optimiser.zero_grad()
        loss = model.loss(batch).mean
        loss.backward()
        return loss

    optimiser.step(closure)
    found = model.point_forecast(model(batch.past, batch.known))[..., 0].detach().numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5)


class Sevens(ForecastNetwork):
    """Says seven."""

    def forward(self, past, known):
        return torch.full((len(past), HORIZON, CHANNELS, 1), 7.0)

    def weights(self, past, known):
        return torch.ones(1)


def test_sums_and_network_are_added():
    sums = LinearNetwork(SIZES)
    torch.nn.init.normal_(sums.linear.weight)
    past, known = torch.randn(ROWS, PAST, CHANNELS), torch.zeros(ROWS, PAST + HORIZON, 0)
    both = LinearSkip(Sevens(), sums)
    torch.testing.assert_close(both(past, known), sums(past, known) + 7.0, rtol=0, atol=1e-13)
    assert both.weights(past, known).item() == 1.0


def test_a_recipe_says_whether_there_are_sums():
    for name, highway, kind in (
        ("gru", True, LinearSkip),
        ("transformer+patches", True, LinearSkip),
        ("linear", True, LinearNetwork),
    ):
        built = build_forecaster(ModelRecipe(name=name, linear_skip=highway, hidden=8), SIZES).network
        assert type(built) is kind
    assert type(build_forecaster(ModelRecipe(name="gru", linear_skip=False), SIZES).network) is not LinearSkip
