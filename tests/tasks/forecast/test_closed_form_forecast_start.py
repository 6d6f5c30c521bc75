"""A forecaster begins where ridge regression ends."""

import numpy as np
import pytest
import torch

from atento.data import Series
from atento.data.series import Frequency, Past
from atento.spec import Recipe, TokensRecipe
from atento.tasks.forecast.baselines import SeriesRegression
from atento.tasks.forecast.closed_form import MOST, start_at_ridge
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.forecast import build
from atento.tasks.forecast.windows import WindowSpec

ROWS, PAST, HORIZON, CHANNELS = 190, 11, 5, 3


@pytest.fixture(scope="module")
def pairs():
    chance = np.random.default_rng(0)
    frame = WindowSpec(PAST, HORIZON, ("a", "b", "c"), (), Frequency(1, "h"), 7)
    values = np.sin(np.arange(ROWS)[:, None] / np.array([2.0, 3.0, 5.0])) + 0.1 * chance.normal(size=(ROWS, CHANNELS))
    return [(Series("", values * np.array([1.0, 10.0, 0.1]) + 4.0, np.zeros((ROWS, 0))), frame)]


def built(name, pairs, **choices):
    recipe = Recipe().with_values({"model.name": name, "model.hidden": 8, **choices})
    codec = SeriesCodec.learn(TokensRecipe(), pairs).suited(recipe)
    return build(recipe.model, codec), codec


@pytest.mark.spec("B04")
@pytest.mark.parametrize("channels", ["each", "joint"])
@pytest.mark.parametrize("name", ["linear", "gru", "lstm+additive", "transformer+patches"])
def test_the_first_forecast_is_the_one_of_ridge(name, channels, pairs):
    """The networks begin as the baseline `ridge`, which tests/tasks/forecast/test_baselines.py holds to its formula."""
    module, codec = built(name, pairs, **{"model.channels": channels})
    assert "ridge regression" in start_at_ridge(module, codec, pairs)
    baseline = SeriesRegression(joint=channels == "joint").fit(*zip(*pairs, strict=True))
    values = pairs[0][0].values
    windows = np.lib.stride_tricks.sliding_window_view(values, PAST, axis=0).swapaxes(1, 2)
    expected = baseline.predict([Past("", "", window, np.zeros((PAST + HORIZON, 0))) for window in windows])
    mean, std = values.mean(axis=0), values.std(axis=0)
    given = torch.tensor((windows - mean) / std, dtype=torch.float32)
    with torch.no_grad():
        found = module.eval().point_forecast(module(given, torch.zeros(len(given), PAST + HORIZON, 0)))
    assert np.abs(baseline.weights).max() > 0.1
    np.testing.assert_allclose(found.numpy(), (np.stack(expected)[..., 0] - mean) / std, atol=2e-4)


@pytest.mark.parametrize(
    "name, choices",
    [("gru", {"model.linear_skip": False}), ("linear", {"model.anchor": "mean"}), ("linear", {"model.anchor": "none"})],
)
def test_what_has_no_such_sums_begins_as_it_was_built(name, choices, pairs):
    module, codec = built(name, pairs, **choices)
    before = [weight.clone() for weight in module.parameters()]
    assert start_at_ridge(module, codec, pairs) == ""
    assert all(torch.equal(one, other) for one, other in zip(before, module.parameters(), strict=True))


def test_a_window_that_is_too_wide_to_solve_is_left_to_training(pairs):
    wide = [(pairs[0][0], pairs[0][1]._replace(look_back=1 + MOST // CHANNELS))]
    module, codec = built("linear", wide, **{"model.channels": "joint"})
    assert start_at_ridge(module, codec, wide) == ""


@pytest.mark.spec("K08")
@pytest.mark.parametrize("channels", ["each", "joint"])
@pytest.mark.parametrize("name", ["linear", "gru"])
def test_quantiles_begin_as_far_apart_as_the_errors_of_ridge(name, channels, pairs):
    """Before anything is learned, as many numbers lie within them as their levels say, at every step ahead."""
    module, codec = built(name, pairs, **{"model.channels": channels, "model.quantiles": "0.1,0.5,0.9"})
    assert "quantiles" in start_at_ridge(module, codec, pairs)
    values = pairs[0][0].values
    scaled = torch.tensor((values - values.mean(axis=0)) / values.std(axis=0), dtype=torch.float32)
    windows = scaled.unfold(0, PAST + HORIZON, 1).transpose(1, 2)  # (N, P + H, C)
    past, came = windows[:, :PAST], windows[:, PAST:]
    with torch.no_grad():
        said = module.eval()(past, past.new_zeros(len(past), PAST + HORIZON, 0))
    inside = (said[..., 0] <= came) & (came <= said[..., -1])
    axes = (0, 2) if channels == "each" else (0,)
    assert inside.float().mean(dim=axes).sub(0.8).abs().max() < 0.02
    below = (came <= said[..., 1]).float().mean(dim=axes)
    assert below.sub(0.5).abs().max() < 0.02
