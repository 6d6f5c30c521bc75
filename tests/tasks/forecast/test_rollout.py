"""One step, several at once, and on and on from its own output: a sine's own law, and loops that are plain to see."""

import math

import numpy as np
import pytest
import torch
from tests.tasks.hand_series import series

from atento.data.series import Frequency, Past
from atento.errors import InputError
from atento.models import SeriesSizes
from atento.models.builders import build_forecaster
from atento.spec import ModelRecipe, TokensRecipe
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.rollout import forecasts
from atento.tasks.forecast.windows import WindowSpec

STEP, LOOK_BACK = 0.3, 5
SINE = np.sin(STEP * np.arange(200))


def codec_for(horizon, *, channels=1, covariates=0, look_back=LOOK_BACK):
    frame = WindowSpec(look_back, horizon, tuple("abc"[:channels]), tuple("kl"[:covariates]), Frequency(1, "h"), 1)
    chance = np.random.default_rng(0)
    values = np.stack([SINE] * channels, axis=1) + np.arange(channels)
    return SeriesCodec.learn(TokensRecipe(), [(series(values, "", chance.normal(size=(200, covariates))), frame)])


def sine_law(horizon):
    """x_{t+h} = (sin((h+1)ω) x_t − sin(hω) x_{t−1}) / sin ω: exact weights of a linear forecaster of a centred sine."""
    model = build_forecaster(ModelRecipe(name="linear", anchor="none"), SeriesSizes(1, 0, LOOK_BACK, horizon)).double()
    weights = torch.zeros(horizon, LOOK_BACK, dtype=torch.float64)
    for ahead in range(1, horizon + 1):
        weights[ahead - 1, -1] = math.sin((ahead + 1) * STEP) / math.sin(STEP)
        weights[ahead - 1, -2] = -math.sin(ahead * STEP) / math.sin(STEP)
    with torch.no_grad():
        model.network.linear.weight.copy_(weights)
        model.network.linear.bias.zero_()
    return model


@pytest.mark.spec("D04")
@pytest.mark.parametrize("horizon", [1, 7])
def test_a_sine_goes_on_by_its_own_law(horizon):
    """One step, seven at once, and 100 steps on its own output are all the sine, from any place of it."""
    model = sine_law(horizon)
    pasts = torch.stack([torch.from_numpy(SINE[at : at + LOOK_BACK]) for at in (0, 11, 31)]).unsqueeze(-1)
    for steps in (1, horizon, 100):
        found = model.rollout(pasts, torch.zeros(3, LOOK_BACK + steps, 0), steps).detach()
        assert found.shape == (3, steps, 1, 1)
        expected = [SINE[at + LOOK_BACK : at + LOOK_BACK + steps] for at in (0, 11, 31)]
        np.testing.assert_allclose(found[..., 0, 0], expected, atol=1e-9)


@pytest.mark.spec("D04")
@pytest.mark.parametrize("quantiles, levels", [("", 1), ("0.2,0.5,0.7", 3)])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 11])
def test_equal_to_a_loop_that_is_plain_to_see(steps, quantiles, levels):
    """Passes of three steps, each read from the medians before it; the last one begins early enough to end in time."""
    torch.manual_seed(0)
    codec = codec_for(3, channels=2, covariates=2)
    model = (
        build_forecaster(ModelRecipe(name="gru", hidden=7, quantiles=quantiles, channels="joint"), codec.sizes)
        .double()
        .eval()
    )
    past, known = torch.randn(5, LOOK_BACK, 2).double(), torch.randn(5, LOOK_BACK + max(3, steps), 2).double()
    path, found = past, []
    with torch.no_grad():
        while len(found) < steps:
            first = min(len(found), max(0, steps - 3))
            outputs = model(path[:, first : first + LOOK_BACK], known[:, first : first + LOOK_BACK + 3])
            new = outputs[:, len(found) - first :]
            found += list(new.unbind(dim=1))
            path = torch.cat([path, new[..., levels // 2]], dim=1)
    expected = torch.stack(found[:steps], dim=1)
    torch.testing.assert_close(model.rollout(past, known, steps), expected)


def test_less_than_a_pass_needs_no_covariates_beyond():
    torch.manual_seed(0)
    codec = codec_for(3, covariates=1)
    model = build_forecaster(ModelRecipe(name="linear"), codec.sizes)
    torch.nn.init.normal_(model.network.linear.weight)
    past, known = torch.randn(2, LOOK_BACK, 1), torch.randn(2, LOOK_BACK + 3, 1)
    assert torch.equal(model.rollout(past, known[:, :-1], 2), model.rollout(past, known, 3)[:, :2])


def test_forecasts_come_in_the_units_of_each_series():
    model, codec = sine_law(7), codec_for(7)
    scale = codec.scales
    loud = 1000 * (SINE[3 : 3 + LOOK_BACK] - scale.mean[0, 0]) / scale.std[0, 0]
    past = Past("", "", SINE[3 : 3 + LOOK_BACK, None], np.zeros((LOOK_BACK + 7, 0)))
    strange = Past("another", "", loud[:, None], np.zeros((LOOK_BACK + 7, 0)))
    one, other = forecasts(model, codec, [past, strange], 7)
    assert one.shape == (7, 1, 1) and one.dtype == np.float32
    centre = SINE[:200].mean()  # the law holds for a centred sine; here the mean is close to nought
    np.testing.assert_allclose(one[:, 0, 0], SINE[8:15], atol=abs(centre) * 5 + 1e-3)
    assert np.abs(other).max() > 300


def test_what_is_missing_is_named():
    codec = codec_for(3, covariates=2)
    model = build_forecaster(ModelRecipe(name="linear"), codec.sizes)
    short = Past("s", "noon", np.zeros((4, 1)), np.zeros((7, 2)))
    with pytest.raises(InputError, match="s until noon: this model reads 5 rows of 1 channels"):
        list(forecasts(model, codec, [short], 3))
    unknown = Past("s", "noon", np.zeros((5, 1)), np.zeros((7, 2)))
    with pytest.raises(InputError, match="needs the future covariates k, l of these steps") as caught:
        list(forecasts(model, codec, [unknown], 3))
    assert "2 rows" in caught.value.found and "decode.horizon" in caught.value.fix
    assert len(list(forecasts(model, codec, [unknown], 2))) == 1
    with pytest.raises(InputError, match="not from a text"):
        list(forecasts(model, codec, ["1 2 3"], 3))
