"""The mean and least squares against closed forms; sequence statistics against numpy and scipy."""

import numpy as np
import pytest
from scipy import stats

from atento.baselines import LinearOnMeans, LinearOnStatistics, MeanTarget
from atento.baselines.sequences import LAGS, QUANTILES, sequence_statistics
from atento.data.tables.number_lists import require_numbers
from atento.errors import InputError


def read(text):
    return [[float(number) for number in step.split(",")] for step in text.split()]


def test_the_mean_whatever_the_sequence():
    model = MeanTarget().fit(["1 2", "3"], ["1", "4"])
    assert model.predict(["9", "8 7"]) == ["2.5", "2.5"]
    assert model.predict([]) == []


def test_a_line_is_found_exactly():
    """y = 2 · mean(x) − 3 · last(z) + 0.5 · steps + 7."""
    chance = np.random.default_rng(0)
    sources, targets = [], []
    for _ in range(40):
        steps = chance.normal(size=(int(chance.integers(2, 9)), 2))
        sources.append(" ".join(f"{x!r},{z!r}" for x, z in steps.tolist()))
        targets.append(repr(float(2 * steps[:, 0].mean() - 3 * steps[-1, 1] + 0.5 * len(steps) + 7)))
    model = LinearOnMeans(read).fit(sources[:30], targets[:30])
    found = [float(text) for text in model.predict(sources[30:])]
    assert found == pytest.approx([float(text) for text in targets[30:]], abs=1e-4)
    assert model.predict([]) == []


@pytest.mark.parametrize("make", [MeanTarget, lambda: LinearOnMeans(read)])
def test_nothing_to_learn_from(make):
    with pytest.raises(InputError, match="has not learned yet"):
        make().predict(["1"])
    with pytest.raises(InputError, match="at least one"):
        make().fit([], [])


TIME, CHANNELS = 23, 3


def test_features_are_what_they_are_called():
    steps = np.random.default_rng(0).normal(size=(TIME, CHANNELS)).cumsum(axis=0)
    found = sequence_statistics(steps)
    each = found[: -CHANNELS - 1].reshape(-1, CHANNELS)
    np.testing.assert_allclose(each[0], steps.mean(axis=0))
    np.testing.assert_allclose(each[1], steps.std(axis=0))
    place = np.linspace(-1, 1, TIME)
    np.testing.assert_allclose(each[2], [stats.linregress(place, channel).slope for channel in steps.T])
    np.testing.assert_allclose(each[7 : 7 + len(QUANTILES)], np.quantile(steps, QUANTILES, axis=0))
    centred = steps - steps.mean(axis=0)
    lagged = [(centred[lag:] * centred[:-lag]).sum(axis=0) / (centred**2).sum(axis=0) for lag in LAGS]
    np.testing.assert_allclose(each[-len(LAGS) :], lagged)
    np.testing.assert_allclose(found[-CHANNELS - 1 : -1], np.corrcoef(steps.T)[np.triu_indices(CHANNELS, 1)])
    assert found[-1] == np.log(TIME)


@pytest.mark.parametrize("steps", [[[1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]])
def test_short_and_constant_sequences_have_finite_features(steps):
    assert np.isfinite(sequence_statistics(np.array(steps))).all()


@pytest.mark.spec("K02")
def test_slow_and_fast_waves_are_told_apart():
    chance = np.random.default_rng(1)
    rows = []
    for n in range(60):
        turns = (2, 5)[n % 2] * np.arange(int(chance.integers(30, 50))) / 10 + chance.uniform(0, 6)
        rows.append((" ".join(f"{number:.3f}" for number in np.sin(turns)), ("slow", "fast")[n % 2]))
    model = LinearOnStatistics(require_numbers).fit(*zip(*rows[:40], strict=True))
    assert model.predict([source for source, _ in rows[40:]]) == [label for _, label in rows[40:]]
