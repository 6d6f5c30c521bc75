"""A reservoir step by step against its formula, and on a system it should foresee."""

import numpy as np
import pytest

from atento.baselines.dynamics import Reservoir
from atento.data.dynamics import lorenz
from atento.errors import InputError
from atento.metrics.dynamics import valid_times

UNITS, CHANNELS = 11, 3


@pytest.fixture(scope="module")
def states():
    return lorenz(3000, seed=0)


def by_the_formula(model, past, steps):
    """Unit by unit, on the scale of the training part."""
    values = [(row - model.mean) / model.spread for row in past]
    state = [0.0] * model.units
    for time in range(len(past) + steps):
        if time >= len(values):
            said = [*state, *(h * h for h in state), 1.0]
            change = [sum(f * w for f, w in zip(said, model.outward[:, c], strict=True)) for c in range(CHANNELS)]
            values.append(values[-1] + np.array(change))
        summed = [
            sum(model.inner[other, unit] * state[other] for other in range(model.units))
            + sum(model.inward[c, unit] * values[time][c] for c in range(CHANNELS))
            + model.offset[unit]
            for unit in range(model.units)
        ]
        state = [(1 - model.leak) * old + model.leak * np.tanh(total) for old, total in zip(state, summed, strict=True)]
    return np.array(values[len(past) :]) * model.spread + model.mean


def test_every_unit_follows_the_formula(states):
    model = Reservoir(units=UNITS, links=5, leak=0.7, settle=7, penalty=1e-6).learn_from([states[:301]])
    past = states[400:413]
    np.testing.assert_allclose(model.extend(past[None], 5)[0], by_the_formula(model, past, 5), rtol=1e-9)


def test_the_net_is_as_it_was_asked_for():
    model = Reservoir(units=53, links=7, radius=0.6, reading=0.2, bias=0.3)
    model.draw(CHANNELS)
    assert abs(np.abs(np.linalg.eigvals(model.inner)).max() - 0.6) < 1e-9
    assert ((model.inner != 0).sum(axis=0) == 7).all()
    assert 0.15 < np.abs(model.inward).max() <= 0.2
    assert 0.2 < np.abs(model.offset).max() <= 0.3


def test_the_read_out_is_a_ridge_regression(states):
    model = Reservoir(units=UNITS, links=3, settle=5, penalty=1e-3).learn_from([states[:211]])
    scaled = (states[:211] - states[:211].mean(axis=0)) / states[:211].std(axis=0)
    walked = model.walk(scaled[None, :-1])[0][4:]
    features = np.concatenate([walked, walked**2, np.ones((len(walked), 1))], axis=1)
    left = features.T @ (np.diff(scaled, axis=0)[4:] - features @ model.outward)
    np.testing.assert_allclose(left, 1e-3 * len(features) * model.outward, atol=1e-9)  # the gradient is zero


@pytest.mark.spec("D05")
def test_lorenz_is_foreseen_for_several_lyapunov_times(states):
    model = Reservoir(units=120).learn_from([states])
    others = np.stack([lorenz(450, seed=seed) for seed in (1, 2, 3, 4, 5)])
    runs = model.extend(others[:, :50], 400)
    reached = valid_times(runs, others[:, 50:], states.var(axis=0), step=0.02, exponent=0.9056)
    still = valid_times(
        np.repeat(others[:, 49:50], 400, axis=1), others[:, 50:], states.var(axis=0), step=0.02, exponent=0.9056
    )
    assert reached.median > 3
    assert still.median < 0.2


def test_what_it_cannot_be_is_named():
    with pytest.raises(InputError, match="links among them"):
        Reservoir(units=3, links=5)
