"""A net that says how a state changes begins with a product solved in closed form."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

import atento.tasks.forecast.closed_form as readout
from atento.data import Series
from atento.data.series import Frequency
from atento.metrics import valid_times
from atento.spec import Recipe, TokensRecipe
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.forecast import FORECAST, build
from atento.tasks.forecast.windows import WindowSpec

ROWS, HORIZON, UNITS = 997, 31, 67
FLOW = {
    "model.strategy": "recursive",
    "model.channels": "joint",
    "model.anchor": "change",
    "model.linear_skip": False,
    "model.dropout": 0.0,
}


def swings(rows, place=(1.0, 0.0)):
    """Van der Pol's oscillator in small steps: the change is a cubic of the state."""
    found = np.empty((rows, 2))
    for row in range(rows):
        found[row] = place
        for _ in range(10):
            x, v = place
            place = (x + 0.005 * v, v + 0.005 * ((1 - x * x) * v - x))
    return found


@pytest.fixture(scope="module")
def pairs():
    frame = WindowSpec(1, HORIZON, ("x", "v"), (), Frequency(1, "row"), 1)
    return [(Series("", swings(ROWS) * np.array([3.0, 0.2]) + 5.0, np.zeros((ROWS, 0))), frame)]


def built(name, pairs, **choices):
    torch.manual_seed(0)
    recipe = Recipe().with_values({"model.name": name, "model.hidden": UNITS, **FLOW, **choices})
    codec = SeriesCodec.learn(TokensRecipe(), pairs).suited(recipe)
    return build(recipe.model, codec), codec


def states_of(module, codec, pairs):
    """What the units say of each row but the last, and the change to the next, in float64."""
    values = torch.from_numpy(pairs[0][0].values)
    scaled = (values - values.mean(dim=0)) / values.std(dim=0, correction=0)
    stack = module.network.stack.double()
    said = stack(scaled[:-1, None]).outputs[:, -1]
    module.float()
    change = scaled.diff(dim=0)
    return said.detach().numpy(), (change / module.step_scale.double()).numpy()


@pytest.mark.spec("D04")
@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
def test_the_product_is_the_one_of_scikit_learn(name, pairs, monkeypatch):
    """Whatever units were drawn, the product is ridge regression on what they say, of the strength that runs best."""
    monkeypatch.setattr(readout, "RIDGES", (1e-7, 1e3))
    module, codec = built(name, pairs)
    assert "67 units begins as ridge regression" in FORECAST.learning.closed_form(module, codec, pairs)
    states, changes = states_of(module, codec, pairs)
    alpha = 1e-7 * np.square(states - states.mean(axis=0)).sum() / UNITS
    theirs = Ridge(alpha=alpha, solver="svd").fit(states, changes)
    weights, bias = (part.detach().numpy() for part in (module.network.write.weight, module.network.write.bias))
    assert states @ weights.T + bias == pytest.approx(theirs.predict(states), abs=2e-4)
    assert np.abs(states @ weights.T + bias - changes).max() < 0.02


@pytest.mark.spec("D04", "D05")
def test_it_foresees_an_oscillator_it_has_not_seen(pairs):
    module, codec = built("rnn", pairs)
    FORECAST.learning.closed_form(module, codec, pairs)
    truth = swings(400, place=(0.3, -1.1)) * np.array([3.0, 0.2]) + 5.0
    scales = codec.scales_of([pairs[0][0]])
    given = torch.tensor(scales.to(truth[None])[:, :1], dtype=torch.float32)
    with torch.no_grad():
        outputs = module.rollout(given, torch.zeros(1, 400, 0), 399)
    said = scales.back(outputs.double().numpy())[..., 0]
    variance = pairs[0][0].values.var(axis=0)
    assert valid_times(said, truth[None, 1:], variance, step=0.05, exponent=1.0).median > 0.99 * 399 * 0.05


def test_draws_that_run_away_are_not_taken(pairs, monkeypatch):
    """The draw whose free runs err least is kept, not the last one."""
    drawn = []

    def draw(stack, real=readout.draw_units):
        real(stack)
        drawn.append({name: weight.clone() for name, weight in stack.state_dict().items()})

    errors = iter([-3.0, -4.0, -9.0, -1.0])
    monkeypatch.setattr(readout, "RIDGES", (1e-6,))
    monkeypatch.setattr(readout, "draw_units", draw)
    monkeypatch.setattr(readout, "free_error", lambda *given: next(errors))
    module, codec = built("rnn", pairs)
    FORECAST.learning.closed_form(module, codec, pairs)
    kept = module.network.stack.state_dict()
    assert [all(torch.equal(kept[name], one[name]) for name in kept) for one in drawn] == [False, False, True, False]


def test_held_out_rows_choose_and_are_then_learned_from(pairs, monkeypatch):
    asked, ran = [], []

    def rows_of(forecaster, network, batch, real=readout.rows_of):
        asked.append(batch.past)
        return real(forecaster, network, batch)

    def free_error(forecaster, runs, real=readout.free_error):
        ran.append(runs.past)
        return real(forecaster, runs)

    monkeypatch.setattr(readout, "rows_of", rows_of)
    monkeypatch.setattr(readout, "free_error", free_error)
    FORECAST.learning.closed_form(*built("rnn", pairs), pairs)
    assert [len(past) for past in asked] == [round(0.8 * (ROWS - 1))] * readout.DRAWS + [ROWS - 1]
    seen = {tuple(row) for row in asked[0].flatten(1).tolist()}
    assert not seen & {tuple(row) for row in ran[0].flatten(1).tolist()}


def test_one_window_is_enough(pairs, monkeypatch):
    """It is learned from and run from, for nothing can be held out of it."""
    ran = []

    def free_error(forecaster, runs, real=readout.free_error):
        ran.append(len(runs.past))
        return real(forecaster, runs)

    monkeypatch.setattr(readout, "free_error", free_error)
    ((series, frame),) = pairs
    short = [(Series("", series.values[: HORIZON + 1], np.zeros((HORIZON + 1, 0))), frame)]
    module, codec = built("rnn", short)
    assert "ridge regression" in FORECAST.learning.closed_form(module, codec, short)
    assert set(ran) == {1}


def test_a_run_to_infinity_is_the_worst_error(pairs):
    module, codec = built("rnn", pairs)
    batch = readout.TrainingWindows([codec.encode(pair) for pair in pairs], codec.frame, steps=HORIZON).gather([0, 7])
    torch.nn.init.constant_(module.network.write.bias, float("nan"))
    assert readout.free_error(module, batch) == pytest.approx(np.log(readout.LARGEST))
    torch.nn.init.zeros_(module.network.write.bias)
    said = batch.past.expand(-1, HORIZON, -1)  # nothing changes
    far = np.sqrt(np.square((said - batch.target).double().numpy()).mean(axis=-1))
    assert readout.free_error(module, batch) == pytest.approx(np.log(far).mean(), abs=1e-5)


@pytest.mark.parametrize(
    "choices",
    [
        {"model.quantiles": "0.1,0.5,0.9"},
        {"model.channels": "each"},
        {"model.anchor": "last"},
        {"model.linear_skip": True},
        {"model.name": "transformer", "model.heads": 1},
    ],
)
def test_other_nets_begin_as_before(choices, pairs):
    module, codec = built("rnn", pairs, **choices)
    assert "units" not in FORECAST.learning.closed_form(module, codec, pairs)
