"""Statistics of long runs: of waves whose climate is known, of a system against itself, of runs that go wrong."""

import numpy as np
import pytest
from scipy import signal

from atento.data.dynamics import lorenz
from atento.errors import InputError
from atento.metrics.dynamics import (
    climate,
    histogram_distance,
    maxima,
    power_spectrum,
    return_distance,
    return_map,
    spectrum_distance,
)


@pytest.fixture(scope="module")
def truth():
    return lorenz(3000, seed=1)


@pytest.mark.spec("D05")
def test_another_stretch_of_the_same_system_has_its_climate(truth):
    same = climate(lorenz(3000, seed=2), truth)
    assert same.stays
    assert (same.histogram < 0.2).all()
    assert (same.mean < 0.3).all()
    assert (np.abs(same.spread - 1) < 0.1).all()
    assert same.spectrum[2] < 0.35
    assert same.returns[2] < 0.07
    slow = climate(np.repeat(truth, 2, axis=0)[:3000], truth)  # the same places at half the speed
    assert (slow.spectrum > same.spectrum).all()
    shuffled = climate(np.random.default_rng(0).permutation(truth), truth)
    assert (shuffled.histogram < 1e-9).all()
    assert shuffled.returns[2] > 3 * same.returns[2]


@pytest.mark.spec("D05")
def test_a_run_that_leaves_or_stops_is_named(truth):
    assert climate(truth, truth).fate == "stays on the attractor"
    away = truth.copy()
    away[40:] += 100.0
    assert climate(away, truth).fate == "leaves the attractor at step 41"
    away[50:] = np.nan
    assert climate(away, truth).fate == "leaves the attractor at step 41 and goes to infinity"
    still = truth.copy()
    still[100:] = truth[100]
    assert climate(still, truth).fate == "stops moving at step 101"
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


def test_what_cannot_be_compared_is_named(truth):
    with pytest.raises(InputError, match="8 steps"):
        climate(truth[:5], truth)
    with pytest.raises(InputError, match="same coordinates"):
        climate(truth[:, :2], truth)
