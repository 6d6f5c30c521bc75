"""Polynomial maps are learned exactly, against scikit-learn; a reservoir against its formula; both on Lorenz."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import PolynomialFeatures

from atento.baselines import Polynomial, Reservoir
from atento.baselines.dynamics import delayed_rows
from atento.data.dynamics import lorenz
from atento.errors import InputError
from atento.metrics import valid_times


def henon(steps, x=0.1, y=0.1):
    """x' = 1 − 1.4 x² + y, y' = 0.3 x  (Hénon, 1976)."""
    states = []
    for _ in range(steps):
        x, y = 1 - 1.4 * x * x + y, 0.3 * x
        states.append((x, y))
    return np.array(states)


@pytest.mark.spec("D04")
def test_a_quadratic_map_is_learned_and_runs_free():
    states = henon(411)
    model = Polynomial(degree=2, delays=1, penalty=0.0).fit([states[:307]])
    run = model.rollout(states[None, 300:307], 20)[0]
    np.testing.assert_allclose(run, states[307:327], atol=1e-6)


def test_delays_stand_in_for_what_is_not_seen():
    states = henon(411)[:, :1]  # x' = 1 − 1.4 x² + 0.3 x one step earlier
    model = Polynomial(degree=2, delays=2, penalty=0.0).fit([states[:307]])
    np.testing.assert_allclose(model.rollout(states[None, 305:307], 20)[0], states[307:327], atol=1e-6)
    blind = Polynomial(degree=2, delays=1, penalty=0.0).fit([states[:307]])
    assert np.abs(blind.rollout(states[None, 305:307], 20)[0] - states[307:327]).max() > 0.1


def test_one_step_is_the_ridge_regression_of_scikit_learn():
    states = lorenz(211)
    model = Polynomial(degree=3, delays=2, penalty=1e-4).fit([states])
    scaled = (states - states.mean(axis=0)) / states.std(axis=0)
    features = PolynomialFeatures(3, include_bias=True).fit_transform(delayed_rows(scaled[:-1], 2))
    theirs = Ridge(alpha=1e-4 * len(features), fit_intercept=False).fit(features, np.diff(scaled, axis=0)[1:])
    ahead = scaled[1:-1] + theirs.predict(features)
    pasts = np.stack([states[at : at + 2] for at in range(len(states) - 2)])
    np.testing.assert_allclose(
        model.rollout(pasts, 1)[:, 0], ahead * states.std(axis=0) + states.mean(axis=0), rtol=1e-6, atol=1e-6
    )


def test_lorenz_is_forecast_for_many_lyapunov_times():
    states = lorenz(4000, seed=0)
    others = np.stack([lorenz(402, seed=seed) for seed in (1, 2, 3)])
    reached = {}
    for degree in (2, 3):
        runs = Polynomial(degree=degree, delays=2).fit([states]).rollout(others[:, :2], 400)
        reached[degree] = valid_times(runs, others[:, 2:], states.var(axis=0), step=0.02, exponent=0.9056).median
    assert reached[2] > 4
    assert reached[3] > reached[2]


def test_what_it_cannot_do_is_named():
    with pytest.raises(InputError, match="degree and delays"):
        Polynomial(degree=0)
    with pytest.raises(InputError, match="more than 3 rows"):
        Polynomial().fit([np.zeros((3, 2))])
    with pytest.raises(InputError, match="fit"):
        Polynomial().rollout(np.zeros((1, 5, 2)), 3)
    with pytest.raises(InputError, match="at least 2 rows of 2 channels"):
        Polynomial().fit([henon(20)]).rollout(np.zeros((1, 1, 2)), 3)


UNITS, CHANNELS = 11, 3


@pytest.fixture(scope="module")
def states():
    return lorenz(3000, seed=0)


def by_the_formula(model, past, steps):
    """Unit by unit, on the scale of the training part."""
    values = [(row - model.mean) / model.std for row in past]
    state = [0.0] * model.units
    for time in range(len(past) + steps):
        if time >= len(values):
            said = [*state, *(h * h for h in state), 1.0]
            change = [
                sum(f * w for f, w in zip(said, model.output_weights[:, c], strict=True)) for c in range(CHANNELS)
            ]
            values.append(values[-1] + np.array(change))
        summed = [
            sum(model.recurrent_weights[other, unit] * state[other] for other in range(model.units))
            + sum(model.input_weights[c, unit] * values[time][c] for c in range(CHANNELS))
            + model.bias[unit]
            for unit in range(model.units)
        ]
        state = [(1 - model.leak) * old + model.leak * np.tanh(total) for old, total in zip(state, summed, strict=True)]
    return np.array(values[len(past) :]) * model.std + model.mean


def test_every_unit_follows_the_formula(states):
    model = Reservoir(units=UNITS, connections=5, leak=0.7, washout=7, penalty=1e-6).fit([states[:301]])
    past = states[400:413]
    np.testing.assert_allclose(model.rollout(past[None], 5)[0], by_the_formula(model, past, 5), rtol=1e-9)


def test_the_net_is_as_it_was_asked_for():
    model = Reservoir(units=53, connections=7, spectral_radius=0.6, input_scale=0.2, bias_scale=0.3)
    model.draw_weights(CHANNELS)
    assert abs(np.abs(np.linalg.eigvals(model.recurrent_weights)).max() - 0.6) < 1e-9
    assert ((model.recurrent_weights != 0).sum(axis=0) == 7).all()
    assert 0.15 < np.abs(model.input_weights).max() <= 0.2
    assert 0.2 < np.abs(model.bias).max() <= 0.3


def test_the_read_out_is_a_ridge_regression(states):
    model = Reservoir(units=UNITS, connections=3, washout=5, penalty=1e-3).fit([states[:211]])
    scaled = (states[:211] - states[:211].mean(axis=0)) / states[:211].std(axis=0)
    walked = model.run(scaled[None, :-1])[0][4:]
    features = np.concatenate([walked, walked**2, np.ones((len(walked), 1))], axis=1)
    left = features.T @ (np.diff(scaled, axis=0)[4:] - features @ model.output_weights)
    np.testing.assert_allclose(left, 1e-3 * len(features) * model.output_weights, atol=1e-9)  # the gradient is zero


@pytest.mark.spec("D05")
def test_lorenz_is_foreseen_for_several_lyapunov_times(states):
    model = Reservoir(units=120).fit([states])
    others = np.stack([lorenz(450, seed=seed) for seed in (1, 2, 3, 4, 5)])
    runs = model.rollout(others[:, :50], 400)
    reached = valid_times(runs, others[:, 50:], states.var(axis=0), step=0.02, exponent=0.9056)
    still = valid_times(
        np.repeat(others[:, 49:50], 400, axis=1), others[:, 50:], states.var(axis=0), step=0.02, exponent=0.9056
    )
    assert reached.median > 3
    assert still.median < 0.2


def test_what_it_cannot_be_is_named():
    with pytest.raises(InputError, match="connection per unit"):
        Reservoir(units=3, connections=5)
