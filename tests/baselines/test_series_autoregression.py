"""Linear autoregression: series whose law is known, the closed form against scikit-learn's."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from atento.baselines import series
from atento.baselines.series import Autoregression
from atento.errors import InputError
from atento.metrics.forecasts import mean_squared_error


def cut(series, past, ahead):
    places = range(len(series) - past - ahead + 1)
    return [series[at : at + past] for at in places], [series[at + past : at + past + ahead] for at in places]


@pytest.mark.spec("B04")
def test_fibonacci_by_hand():
    """x_t = x_{t−1} + x_{t−2}: weights 1, 1; two steps ahead 1, 2; three ahead 2, 3."""
    series = np.array([1.0, 1, 2, 3, 5, 8, 13, 21, 34, 55])
    model = Autoregression(order=2, ridge=0).fit(*cut(series, 4, 3))
    np.testing.assert_allclose(model.weights.T, [[1, 1], [1, 2], [2, 3]], atol=1e-9)
    np.testing.assert_allclose(model.bias, 0, atol=1e-7)
    np.testing.assert_allclose(model.predict([[0, 0, 3, 4], [10.0, 20.0]]), [[7, 11, 18], [30, 50, 80]], atol=1e-6)


def test_a_sine_follows_its_own_law():
    """sin(t + h) is a weighted sum of any two values: forecast to the digits of float64, far ahead."""
    series = 3 + np.sin(0.3 * np.arange(200))
    windows, ends = cut(series, 5, 17)
    forecasts = Autoregression().fit(windows[:100], ends[:100]).predict(windows[100:])
    assert mean_squared_error(forecasts, ends[100:]) < 1e-12


@pytest.mark.spec("B04")
@pytest.mark.parametrize("rows", [3, 1024])
@pytest.mark.parametrize("ridge", [0.0, 0.1, 10.0])
def test_equal_to_scikit_learn(monkeypatch, ridge, rows):
    """Every feature is a row; α is the ridge times the mean variance of a column, times the rows."""
    monkeypatch.setattr(series, "ROWS", rows)
    chance = np.random.default_rng(0)
    windows, ends = 5 + chance.normal(size=(31, 7, 2)).cumsum(axis=1), chance.normal(size=(31, 3, 2))
    ours = Autoregression(order=5, ridge=ridge).fit(windows, ends)
    past, future = (np.concatenate([part[:, :, feature] for feature in range(2)]) for part in (windows[:, -5:], ends))
    alpha = ridge * past.var(axis=0).mean() * len(past)
    theirs = (Ridge(alpha=alpha) if ridge else LinearRegression()).fit(past, future)
    np.testing.assert_allclose(ours.weights.T, theirs.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.bias, theirs.intercept_, rtol=1e-8, atol=1e-10)
    expected = np.stack([theirs.predict(windows[:, -5:, feature]) for feature in range(2)], axis=-1)
    np.testing.assert_allclose(ours.predict(windows), expected, rtol=1e-8, atol=1e-10)


def test_anchored_forecasts_move_with_the_level_and_shrink_to_the_last_value():
    chance = np.random.default_rng(0)
    windows, ends = cut(chance.normal(size=60).cumsum(), 7, 3)
    model = Autoregression(anchored=True).fit(windows, ends)
    expected = np.stack(model.predict(windows)) + 100
    np.testing.assert_allclose(model.predict([window + 100 for window in windows]), expected, rtol=1e-12)
    far = Autoregression(anchored=True, ridge=1e12).fit(windows, ends)
    np.testing.assert_allclose(far.predict(windows), [[window[-1]] * 3 for window in windows], atol=1e-9)
    relative = np.stack(windows) - np.stack(windows)[:, -1:]
    theirs = Ridge(alpha=0.5 * np.square(relative).sum() / 7, fit_intercept=False)
    theirs.fit(relative, np.stack(ends) - np.stack(windows)[:, -1:])
    halved = Autoregression(anchored=True, ridge=0.5).fit(windows, ends)
    np.testing.assert_allclose(halved.weights.T, theirs.coef_, rtol=1e-8, atol=1e-12)


def test_fewer_windows_than_weights_still_give_finite_ones():
    model = Autoregression().fit([[1.0, 2.0, 3.0, 4.0]], [[5.0]])
    assert model.predict([[1.0, 2.0, 3.0, 4.0]])[0].tolist() == pytest.approx([5.0])
    constant = Autoregression().fit([[2.0, 2.0]] * 3, [[2.0]] * 3)
    assert constant.predict([[2.0, 2.0]])[0].tolist() == [2.0]


def test_without_an_order_the_shortest_window_is_read():
    model = Autoregression().fit([[9.0, 1.0, 2.0], [2.0, 4.0], [1.0, 3.0]], [[2.0], [4.0], [3.0]])
    assert model.weights.shape == (2, 1)
    assert model.predict([[7.0, 0.0, 5.0]])[0].tolist() == pytest.approx([5.0], abs=1e-6)


def test_what_cannot_be_read_is_refused():
    with pytest.raises(InputError, match="order=-1"):
        Autoregression(order=-1)
    with pytest.raises(InputError, match="ridge=nan"):
        Autoregression(ridge=float("nan"))
    with pytest.raises(InputError, match="a window of 2"):
        Autoregression(order=3).fit([[1.0, 2.0]], [[3.0]])
    with pytest.raises(InputError, match="reads 3 values"):
        Autoregression(order=3).fit([[1.0, 2.0, 3.0]], [[3.0]]).predict([[1.0, 2.0]])
