"""A forecaster that is too sure of itself, calibrated by the validation part of a file."""

import numpy as np
import pytest
import torch

from atento.models.builders import build_forecaster
from atento.spec import Recipe
from atento.tasks.encoding import learn_codec
from atento.tasks.forecast.conformal import conformalize
from atento.tasks.forecast.forecast import FORECAST
from atento.tasks.forecast.rollout import forecasts

HORIZON = 5


@pytest.fixture
def reading(tmp_path):
    """Noise that is larger in the second of two channels, and larger still after the training part."""
    chance = np.random.default_rng(0)
    values = chance.normal(size=(1100, 2)) * [1.0, 10.0]
    values[700:] *= 1.5
    path = tmp_path / "noise.csv"
    path.write_text("t,a,b\n" + "".join(f"{at},{a:.6f},{b:.6f}\n" for at, (a, b) in enumerate(values)))
    recipe = Recipe().with_values(
        {"task": "forecast", "data.train": str(path), "data.split": "700/200/200", "data.horizon": HORIZON}
        | {"data.look_back": 7, "model.name": "linear", "model.anchor": "none", "model.quantiles": "0.1,0.5,0.9"}
    )
    return recipe, FORECAST.reading.read(recipe.data, 0)


def covered(module, codec, questions):
    found = np.stack(list(forecasts(module, codec, [one.source for one in questions], HORIZON)))
    true = np.stack([one.references[0] for one in questions])
    return ((found[..., 0] <= true) & (true <= found[..., -1])).mean()


@pytest.mark.parametrize("strategy", ["direct", "recursive"])
def test_what_the_levels_promise_is_covered_later(reading, strategy):
    recipe, parts = reading
    recipe = recipe.with_values({"model.strategy": strategy})
    codec = learn_codec(FORECAST, recipe, parts.train)
    module = FORECAST.learning.build(recipe.model, codec).eval()  # zeros for every level: nothing is ever covered
    assert covered(module, codec, parts.test) == 0
    note = conformalize(module, codec, parts)
    # half the weight has the noise of the training part, half that of the validation part
    assert 0.65 < covered(module, codec, parts.test) < 0.8
    assert module.conformal.offsets.shape == (HORIZON, 2, 3)
    offsets = module.conformal.offsets[..., 2]
    assert torch.equal(module.conformal.offsets[..., 0], -offsets) and not module.conformal.offsets[..., 1].any()
    assert (offsets > 1.2).all() and (offsets < 2.2).all()  # P(|z| ≤ s) + P(|z| ≤ s / 1.5) = 1.6 at s = 1.6
    assert "one for each step and channel, by 196 forecasts of the validation part (40 apart)" in note
    assert "80% promised, 0% of the validation part covered before, " in note
    # calibrated once more it is the same, and without a validation part as it was learned
    again = module.conformal.offsets.clone()
    conformalize(module, codec, parts)
    assert torch.equal(module.conformal.offsets, again)
    assert "no validation part" in conformalize(module, codec, parts._replace(valid=()))
    assert not module.conformal.offsets.any()


def test_a_point_forecast_has_nothing_to_calibrate(reading):
    recipe, parts = reading
    recipe = recipe.with_values({"model.quantiles": ""})
    codec = learn_codec(FORECAST, recipe, parts.train)
    module = build_forecaster(recipe.model, codec.sizes)
    assert module.conformal is None and conformalize(module, codec, parts) == ""
