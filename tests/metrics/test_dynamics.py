"""Valid prediction times by a plain loop and by hand; climate statistics of signals whose climate is known."""

import numpy as np
import pytest
from scipy import signal

from atento.data.dynamics import lorenz
from atento.errors import InputError
from atento.metrics import climate, valid_times
from atento.metrics.dynamics import (
    histogram_distance,
    maxima,
    power_spectrum,
    return_distance,
    return_map,
    spectrum_distance,
)

RUNS, STEPS, COORDINATES = 5, 17, 3


def by_the_definition(runs, truth, variance, *, step, exponent):
    """Row by row."""
    found = []
    for run, wanted in zip(runs, truth, strict=True):
        valid = STEPS * step * exponent
        for number in range(STEPS):
            error = sum((run[number][c] - wanted[number][c]) ** 2 / variance[c] for c in range(COORDINATES))
            if (error / COORDINATES) ** 0.5 > 0.4:
                valid = number * step * exponent
                break
        found.append(valid)
    return found


@pytest.mark.spec("D05")
def test_the_definition():
    chance = np.random.default_rng(0)
    truth = chance.normal(size=(RUNS, STEPS, COORDINATES)) * (1.0, 10.0, 0.1)
    growing = np.exp(np.linspace(-4, 1, STEPS))[:, None] * chance.uniform(0.1, 3.0, (RUNS, 1, 1))
    runs = truth + growing * (1.0, 10.0, 0.1) * chance.normal(size=truth.shape)
    variance = np.array([1.0, 100.0, 0.01])
    found = valid_times(runs, truth, variance, step=0.02, exponent=0.9056)
    expected = by_the_definition(runs, truth, variance, step=0.02, exponent=0.9056)
    np.testing.assert_allclose(found.times, expected)
    assert len(set(expected)) > 2
    assert found.median == np.median(expected)


@pytest.mark.spec("D05")
def test_by_hand():
    truth = np.zeros((3, 4, 2))
    runs = truth.copy()
    runs[0, 2] = (2.0, 0.0)  # √((4/16 + 0)/2) = 0.354: still valid
    runs[0, 3] = (2.4, 0.0)  # √((5.76/16)/2) = 0.424: three steps were valid
    runs[1, 1, 0] = np.nan  # one was
    found = valid_times(runs, truth, (16.0, 1.0), step=0.5, exponent=2.0)
    assert found.times.tolist() == [3.0, 1.0, 4.0]
    assert found.valid_to_end == 1
    assert str(found) == "3.00 Lyapunov times (quartiles 2.00 to 3.50 of 3, 1 to their end)"


@pytest.mark.parametrize(
    "runs, variance, problem",
    [
        (np.zeros((2, 3, 4)), np.ones(4), "same shape"),
        (np.zeros((2, 3, 2)), np.ones(3), "same shape"),
        (np.zeros((2, 3, 2)), (1.0, 0.0), "never changes"),
    ],
)
def test_what_cannot_be_compared_is_named(runs, variance, problem):
    with pytest.raises(InputError, match=problem):
        valid_times(runs, np.zeros((2, 3, 2)), variance, step=0.1, exponent=1.0)


@pytest.fixture(scope="module")
def truth():
    return lorenz(3000, seed=1)


@pytest.mark.spec("D05")
def test_another_stretch_of_the_same_system_has_its_climate(truth):
    same = climate(lorenz(3000, seed=2), truth)
    assert same.stays
    assert (same.histogram < 0.2).all()
    assert (same.mean < 0.3).all()
    assert (np.abs(same.std_ratio - 1) < 0.1).all()
    assert same.spectrum[2] < 0.35
    assert same.return_map[2] < 0.07
    slow = climate(np.repeat(truth, 2, axis=0)[:3000], truth)  # the same places at half the speed
    assert (slow.spectrum > same.spectrum).all()
    shuffled = climate(np.random.default_rng(0).permutation(truth), truth)
    assert (shuffled.histogram < 1e-9).all()
    assert shuffled.return_map[2] > 3 * same.return_map[2]


@pytest.mark.spec("D05")
def test_a_run_that_leaves_or_stops_is_named(truth):
    assert climate(truth, truth).outcome == "stays on the attractor"
    away = truth.copy()
    away[40:] += 100.0
    assert climate(away, truth).outcome == "leaves the attractor at step 41"
    away[50:] = np.nan
    assert climate(away, truth).outcome == "leaves the attractor at step 41 and goes to infinity"
    still = truth.copy()
    still[100:] = truth[100]
    assert climate(still, truth).outcome == "stops moving at step 101"
    assert not climate(still, truth).stays
    gone = climate(np.full((20, 3), np.inf), truth)
    assert gone.histogram.tolist() == [1.0, 1.0, 1.0]


def test_histograms_by_hand():
    truth = np.array([0.0, 1.0, 2.0, 50.0])
    assert histogram_distance(truth, truth) == 0
    assert histogram_distance(truth + 1000, truth) == 1
    assert histogram_distance(np.array([0.0, 1.0, 2.0, 99.0]), truth) == 0.25


def test_spectra_find_the_frequency_and_match_scipy():
    times = np.arange(512)
    wave = np.sin(2 * np.pi * times * 37 / 512)
    power = power_spectrum(wave)
    assert abs(power.sum() - 1) < 1e-12
    assert abs(power.argmax() + 1 - 37) <= 2
    _, density = signal.periodogram(wave, window=np.hanning(514)[1:-1], detrend="constant")
    raw = density[1:]
    raw[-1] *= 2  # scipy counts the last frequency once, the others twice
    theirs = np.convolve(raw, np.ones(5), mode="same")
    np.testing.assert_allclose(power, theirs / theirs.sum(), atol=1e-9)
    assert spectrum_distance(wave, 3 * wave + 5) < 1e-6
    assert spectrum_distance(wave, np.sin(2 * np.pi * times * 90 / 512)) > 0.99


def test_maxima_lie_between_the_samples():
    times = 0.3 * np.arange(500)
    heights = maxima(np.sin(times) * np.exp(-0.01 * times))
    tops = np.arctan(1 / 0.01) + 2 * np.pi * np.arange(len(heights))  # where the derivative is zero
    np.testing.assert_allclose(heights, np.sin(tops) * np.exp(-0.01 * tops), atol=5e-4)


@pytest.mark.spec("D05")
def test_the_map_of_maxima_is_lorenz_tent(truth):
    pairs = return_map(truth[:, 2])
    low, high = pairs[pairs[:, 0] < 38], pairs[pairs[:, 0] > 39.5]
    assert np.corrcoef(low.T)[0, 1] > 0.9  # up to the cusp at about 38.6, and down again
    assert np.corrcoef(high.T)[0, 1] < -0.9
    wanted = truth[:, 2]
    brute = np.mean([min(np.hypot(*(pair + 0.1 - other)) for other in pairs) for pair in pairs]) / pairs.std()
    assert return_distance(wanted, wanted) == 0
    assert abs(return_distance(wanted + 0.1, wanted) - brute) < 1e-9
    assert return_distance(np.arange(20.0), wanted) == np.inf


def test_climates_that_cannot_be_compared_are_refused(truth):
    with pytest.raises(InputError, match="8 steps"):
        climate(truth[:5], truth)
    with pytest.raises(InputError, match="same coordinates"):
        climate(truth[:, :2], truth)
