"""Features of a sequence against numpy and scipy, and labels that they tell apart."""

import numpy as np
import pytest
from scipy import stats

from atento.baselines.sequences import LAGS, LEVELS, LinearOnShapes, shape_of
from atento.data.tables.number_lists import require_numbers

TIME, CHANNELS = 23, 3


def test_features_are_what_they_are_called():
    steps = np.random.default_rng(0).normal(size=(TIME, CHANNELS)).cumsum(axis=0)
    found = shape_of(steps)
    each = found[: -CHANNELS - 1].reshape(-1, CHANNELS)
    np.testing.assert_allclose(each[0], steps.mean(axis=0))
    np.testing.assert_allclose(each[1], steps.std(axis=0))
    place = np.linspace(-1, 1, TIME)
    np.testing.assert_allclose(each[2], [stats.linregress(place, channel).slope for channel in steps.T])
    np.testing.assert_allclose(each[7 : 7 + len(LEVELS)], np.quantile(steps, LEVELS, axis=0))
    centred = steps - steps.mean(axis=0)
    lagged = [(centred[lag:] * centred[:-lag]).sum(axis=0) / (centred**2).sum(axis=0) for lag in LAGS]
    np.testing.assert_allclose(each[-len(LAGS) :], lagged)
    np.testing.assert_allclose(found[-CHANNELS - 1 : -1], np.corrcoef(steps.T)[np.triu_indices(CHANNELS, 1)])
    assert found[-1] == np.log(TIME)


@pytest.mark.parametrize("steps", [[[1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]])
def test_short_and_constant_sequences_have_finite_features(steps):
    assert np.isfinite(shape_of(np.array(steps))).all()


@pytest.mark.spec("K02")
def test_slow_and_fast_waves_are_told_apart():
    chance = np.random.default_rng(1)
    rows = []
    for n in range(60):
        turns = (2, 5)[n % 2] * np.arange(int(chance.integers(30, 50))) / 10 + chance.uniform(0, 6)
        rows.append((" ".join(f"{number:.3f}" for number in np.sin(turns)), ("slow", "fast")[n % 2]))
    model = LinearOnShapes(require_numbers).fit(*zip(*rows[:40], strict=True))
    assert model.predict([source for source, _ in rows[40:]]) == [label for _, label in rows[40:]]
