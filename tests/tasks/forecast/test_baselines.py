"""Simple forecasters of whole series: by hand, against a stacked ridge of their windows, and against one another."""

import itertools

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from tests.tasks.hand_series import series

from atento.baselines.ridge import regression_sums
from atento.data.series import Frequency, Past
from atento.errors import InputError
from atento.tasks.forecast import baselines
from atento.tasks.forecast.baselines import (
    BASELINES,
    SeriesRegression,
    autoregression,
    drift,
    last_value,
    ridge,
    seasonal,
)
from atento.tasks.forecast.stacked_ridge import SPANS, SpanSums, stacked_ridge
from atento.tasks.forecast.windows import WindowSpec

FRAME = WindowSpec(4, 3, ("a", "b"), (), Frequency(1, "h"), 2)


def past(values, name=""):
    values = np.asarray(values, dtype=np.float64)
    return Past(name, "", values, np.zeros((len(values) + 3, 0)))


@pytest.mark.spec("B04")
@pytest.mark.parametrize(
    "make, expected",
    [(last_value, [7, 7, 7]), (seasonal, [2, 7, 2]), (drift, [9, 11, 13])],
    ids=["last value", "seasonal", "drift"],
)
def test_by_hand_whatever_the_scale(make, expected):
    """After 1 4 2 7, with a season of two; the second channel is a thousand times as loud and turned round."""
    window = np.array([1.0, 4, 2, 7])
    model = make().fit([series(np.random.default_rng(0).normal(size=(30, 2)), "s")], [FRAME])
    for name in ("s", "never seen"):
        (found,) = model.predict([past(np.stack([window, 50 - 1000 * window], axis=1), name)])
        assert found.shape == (3, 2, 1)
        np.testing.assert_allclose(found[:, 0, 0], expected, rtol=1e-5)
        np.testing.assert_allclose(found[:, 1, 0], 50 - 1000 * np.array(expected), rtol=1e-5)


def rows_of(values, frame, *, anchored, joint):
    windows = sliding_window_view(values, frame.window, axis=0).swapaxes(1, 2)  # (N, W, C)
    level = windows[:, frame.look_back - 1 : frame.look_back] if anchored else 0.0
    moved = windows - level
    x, y = moved[:, : frame.look_back], moved[:, frame.look_back :]
    if joint:
        return x.reshape(len(x), -1), y.reshape(len(y), -1)
    return (np.concatenate([part[:, :, channel] for channel in range(2)]) for part in (x, y))


@pytest.mark.spec("B04")
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("anchored", [False, True])
def test_weights_are_a_stacked_ridge_on_the_windows(monkeypatch, anchored, joint):
    """Ten spans of windows, two priors and growing penalties, all by hand; rows come a few at a time."""
    monkeypatch.setattr(baselines, "AT_ONCE", 100)
    chance = np.random.default_rng(1)
    values = np.sin(np.pi * np.arange(97) / 1.0 + 0.5)[:, None] + chance.normal(size=(97, 2)).cumsum(axis=0) / 5
    model = SeriesRegression(anchored=anchored, joint=joint).fit([series(values)], [FRAME])
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    x, y = rows_of(scaled, FRAME, anchored=anchored, joint=joint)
    each = 1 if joint else 2  # rows of a window: one, or one of each channel, which follow one another here
    starts = np.concatenate([np.arange(len(x) // each)] * each)
    cuts = [round(share * (len(values) - FRAME.window + 1)) for share in np.linspace(0, 1, SPANS + 1)]
    inside = [(first <= starts) & (starts < last) for first, last in itertools.pairwise(cuts)]
    calm = 1 / (x.var(axis=1) + 0.01)
    spans = [
        SpanSums(
            regression_sums([(x[some], y[some])], weigh=lambda _, some=some: calm[some]),
            regression_sums([(x[some], y[some])]),
        )
        for some in inside
    ]
    season = np.array([[0.5, 0, 0.5], [0, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0]])  # the mean of two seasons of two steps
    penalties = np.array([4.0, 3, 2, 1]) ** 2  # (1 + 4 l / L)² of the lags l = 3 … 0
    if joint:
        season, penalties = np.kron(season, np.eye(2)), np.repeat(penalties, 2)
    weights, bias = stacked_ridge(spans, [0 * season, season], penalties, gap=0, centred=not anchored)
    assert np.abs(weights).max() > 0.1
    np.testing.assert_allclose(model.weights, weights, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.bias, bias, rtol=1e-6, atol=1e-8)
    asked = values[20:24]
    window = (asked - values.mean(axis=0)) / values.std(axis=0)
    level = window[-1:] if anchored else 0.0
    moved = window - level
    said = (moved.reshape(1, -1) @ weights + bias).reshape(3, 2) if joint else (moved.T @ weights + bias).T
    expected = (said + level) * values.std(axis=0) + values.mean(axis=0)
    np.testing.assert_allclose(model.predict([past(asked)])[0][..., 0], expected, rtol=1e-4, atol=1e-5)


def test_a_season_that_returns_is_forecast_by_its_mean():
    """Sixteen noisy years of the same twelve months: better than each year alone, and than the last one."""
    chance = np.random.default_rng(0)
    months = np.tile(3 * chance.normal(size=12), 16)
    values = (months + chance.normal(size=192))[:, None]
    frame = WindowSpec(60, 12, ("a",), (), Frequency(1, "M"), 12)
    (found,) = ridge().fit([series(values)], [frame]).predict([Past("", "", values[-60:], np.zeros((72, 0)))])
    assert np.square(found[:, 0, 0] - months[:12]).mean() < 0.5
    assert np.square(found[:, 0, 0] - months[:12]).mean() < 0.5 * np.square(values[-12:, 0] - months[:12]).mean()


def test_a_sine_is_forecast_by_weighted_sums():
    values = 5 + np.sin(0.3 * np.arange(300))[:, None]
    frame = WindowSpec(8, 20, ("a",), (), Frequency(1, "h"), 1)
    for make in (ridge, autoregression):
        model = make().fit([series(values[:200])], [frame])
        (found,) = model.predict([Past("", "", values[240:248], np.zeros((28, 0)))])
        np.testing.assert_allclose(found[:, 0, 0], values[248:268, 0], atol=2e-3)


def test_series_of_any_scale_teach_one_another():
    """Two series of one law, one a thousand times as loud: as good on either as on its own."""
    chance = np.random.default_rng(0)
    quiet = np.sin(0.4 * np.arange(60)) + 0.01 * chance.normal(size=60)
    loud = 1000 * np.sin(0.4 * np.arange(60) + 1) + 7
    frame = WindowSpec(6, 3, ("a",), (), Frequency(1, "h"), 1)
    model = ridge().fit([series(quiet, "q"), series(loud, "l")], [frame, frame])
    for name, truth in (("q", quiet), ("l", loud)):
        (found,) = model.predict([Past(name, "", truth[30:36, None], np.zeros((9, 0)))])
        assert np.abs(found[:, 0, 0] - truth[36:39]).max() < 0.1 * truth.std()


@pytest.mark.spec("B04")
def test_where_weights_mislead_the_last_value_is_repeated():
    """Changes that go on in the first four fifths of a series and turn back in the last: no weights are left."""
    chance, changes = np.random.default_rng(0), [0.0]
    for step in range(999):
        changes.append((0.5 if step < 800 else -0.5) * changes[-1] + chance.normal())
    values = np.cumsum(changes)[:, None]
    frame = WindowSpec(12, 5, ("a",), (), Frequency(1, "h"), 1)
    (found,) = ridge().fit([series(values)], [frame]).predict([Past("", "", values[100:112], np.zeros((17, 0)))])
    np.testing.assert_allclose(found[:, 0, 0], values[111, 0], rtol=1e-5)


def test_many_windows_cost_no_more_than_a_bound(monkeypatch):
    monkeypatch.setattr(baselines, "PRODUCTS", 16 * 2 * 50)
    model = SeriesRegression()
    parts = [np.random.default_rng(0).normal(size=(1000, 2))]
    assert sum(len(x) for x, _ in model.rows(parts, FRAME)) <= 2 * 56


def test_what_cannot_be_done_is_said():
    for make in BASELINES:
        with pytest.raises(InputError, match="has not learned yet"):
            make().predict([past(np.zeros((4, 2)))])
        model = make().fit([series(np.random.default_rng(0).normal(size=(9, 2)))], [FRAME])
        assert model.predict([]) == []
        assert np.isfinite(model.predict([past(np.ones((4, 2)))])[0]).all()
    long = seasonal().fit([series(np.zeros((30, 2)))], [FRAME._replace(season=9)])
    with pytest.raises(InputError, match="a whole season in each window"):
        long.predict([past(np.zeros((4, 2)))])
