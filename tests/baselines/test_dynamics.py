"""Polynomials of delays: maps that are such polynomials are learned exactly; against scikit-learn."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import PolynomialFeatures

from atento.baselines.dynamics import Polynomial, delayed
from atento.data.dynamics import lorenz
from atento.errors import InputError
from atento.metrics.dynamics import valid_times


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
    model = Polynomial(degree=2, delays=1, penalty=0.0).learn_from([states[:307]])
    run = model.extend(states[None, 300:307], 20)[0]
    np.testing.assert_allclose(run, states[307:327], atol=1e-6)


def test_delays_stand_in_for_what_is_not_seen():
    states = henon(411)[:, :1]  # x' = 1 − 1.4 x² + 0.3 x one step earlier
    model = Polynomial(degree=2, delays=2, penalty=0.0).learn_from([states[:307]])
    np.testing.assert_allclose(model.extend(states[None, 305:307], 20)[0], states[307:327], atol=1e-6)
    blind = Polynomial(degree=2, delays=1, penalty=0.0).learn_from([states[:307]])
    assert np.abs(blind.extend(states[None, 305:307], 20)[0] - states[307:327]).max() > 0.1


def test_one_step_is_the_ridge_regression_of_scikit_learn():
    states = lorenz(211)
    model = Polynomial(degree=3, delays=2, penalty=1e-4).learn_from([states])
    scaled = (states - states.mean(axis=0)) / states.std(axis=0)
    features = PolynomialFeatures(3, include_bias=True).fit_transform(delayed(scaled[:-1], 2))
    theirs = Ridge(alpha=1e-4 * len(features), fit_intercept=False).fit(features, np.diff(scaled, axis=0)[1:])
    ahead = scaled[1:-1] + theirs.predict(features)
    pasts = np.stack([states[at : at + 2] for at in range(len(states) - 2)])
    np.testing.assert_allclose(
        model.extend(pasts, 1)[:, 0], ahead * states.std(axis=0) + states.mean(axis=0), rtol=1e-6, atol=1e-6
    )


def test_lorenz_is_forecast_for_many_lyapunov_times():
    states = lorenz(4000, seed=0)
    others = np.stack([lorenz(402, seed=seed) for seed in (1, 2, 3)])
    reached = {}
    for degree in (2, 3):
        runs = Polynomial(degree=degree, delays=2).learn_from([states]).extend(others[:, :2], 400)
        reached[degree] = valid_times(runs, others[:, 2:], states.var(axis=0), step=0.02, exponent=0.9056).median
    assert reached[2] > 4
    assert reached[3] > reached[2]


def test_sources_are_series_and_pasts():
    states = henon(307)
    model = Polynomial(degree=2, delays=2).fit([SimpleNamespace(values=states)], [""])
    pasts = [SimpleNamespace(values=states[:at], known=np.zeros((at + ahead, 0))) for at, ahead in ((5, 3), (7, 2))]
    assert [run.shape for run in model.predict(pasts)] == [(3, 2), (2, 2)]
    np.testing.assert_allclose(model.predict(pasts)[1], states[7:9], atol=1e-3)


def test_what_it_cannot_do_is_named():
    with pytest.raises(InputError, match="degree and delays"):
        Polynomial(degree=0)
    with pytest.raises(InputError, match="more than 3 rows"):
        Polynomial().learn_from([np.zeros((3, 2))])
    with pytest.raises(InputError, match="fit"):
        Polynomial().extend(np.zeros((1, 5, 2)), 3)
    with pytest.raises(InputError, match="2 rows at least, of 2 channels"):
        Polynomial().learn_from([henon(20)]).extend(np.zeros((1, 1, 2)), 3)
