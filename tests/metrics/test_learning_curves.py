"""How learning curves go on: power laws that are known, noise, and what cannot be said."""

import numpy as np
import pytest

from atento.metrics.learning_curves import COVERAGE, DRAWS, Extrapolation, Laws, LearningCurve, extrapolate, passing

SECONDS = np.linspace(5, 100, 17)


def curve(floor, scale, exponent, *, noise=0.0, seed=0):
    """e(t) = c + a t^−b at 17 validations, each off by a relative noise."""
    errors = floor + scale * SECONDS**-exponent
    return errors * np.exp(noise * np.random.default_rng(seed).standard_normal(len(SECONDS)))


def read(errors, smaller_is_better=True):
    values = errors if smaller_is_better else 1 - errors
    return LearningCurve.of(list(SECONDS), list(values), smaller_is_better=smaller_is_better)


@pytest.mark.parametrize("smaller_is_better", [True, False])
@pytest.mark.parametrize("floor, scale, exponent", [(0.0, 0.9, 0.5), (0.1, 0.8, 0.7), (0.3, 2.0, 1.3)])
def test_a_power_law_is_followed(floor, scale, exponent, smaller_is_better):
    ahead = extrapolate(read(curve(floor, scale, exponent), smaller_is_better))
    for factor, off in ((2, 0.2), (10, 0.5)):
        truth = floor + scale * (100 * factor) ** -exponent
        middle, low, high = ahead.interval(100 * factor)
        assert low <= truth <= high
        assert middle == pytest.approx(truth, rel=off)


def test_intervals_hold_what_they_promise():
    """Of 200 noisy curves, about as many ends lie in their intervals as promised, and not by being wide."""
    random, hits, widths = np.random.default_rng(0), [], []
    for seed in range(200):
        floor, scale, exponent = random.uniform(0, 0.3), random.uniform(0.5, 2), random.uniform(0.2, 1.2)
        found = read(curve(floor, scale, exponent, noise=0.03, seed=seed))
        _, low, high = extrapolate(found).interval(200)
        truth = floor + scale * 200**-exponent
        hits.append(low <= truth <= high)
        widths.append((high - low) / truth)
    assert np.mean(hits) >= COVERAGE - 0.1
    assert np.median(widths) < 0.6


def test_the_best_value_so_far_is_the_curve():
    """A validation without a value is left out, and those after it count."""
    found = LearningCurve.of([1, 2, 3, 4, 5], [0.2, 0.5, 0.4, float("nan"), 0.7], smaller_is_better=False)
    np.testing.assert_allclose(found.seconds, [1, 2, 3, 5])
    np.testing.assert_allclose(found.errors, [0.8, 0.5, 0.5, 0.3])


def test_more_time_never_makes_the_kept_weights_worse():
    ahead = extrapolate(read(curve(0.2, 1.0, 0.4, noise=0.1)))
    assert ahead.at(np.array([100.0, 150.0, 1000.0])).max() <= ahead.error


@pytest.mark.parametrize("errors", [[0.5, 0.4, 0.3], [0.5] * 17, [0.5, 0.3, 0.1, 0.0, 0.0], [float("nan")] * 17])
def test_a_curve_that_says_nothing_is_not_extrapolated(errors):
    seconds = list(SECONDS[: len(errors)])
    assert extrapolate(LearningCurve.of(seconds, errors, smaller_is_better=True)) is None


def test_the_steeper_of_two_curves_passes():
    """0.9 t^−0.2 and 12 t^−0.7 meet where t^0.5 = 12 / 0.9: after 178 seconds."""
    slow, steep = extrapolate(read(curve(0.0, 0.9, 0.2))), extrapolate(read(curve(0.0, 12.0, 0.7)))
    probability, seconds = passing(steep, slow, until=1000)
    assert probability > 0.55
    assert seconds == pytest.approx(178, rel=0.4)
    assert passing(slow, steep, until=1000)[0] < 0.45


def test_a_level_is_passed_or_not():
    steep = extrapolate(read(curve(0.0, 12.0, 0.7)))
    assert passing(steep, Extrapolation.level(0.9 * steep.error, 100), until=1000)[0] > 0.9
    assert passing(steep, Extrapolation.level(0.01 * steep.error, 100), until=1000)[0] < 0.05


def test_a_task_that_is_suddenly_understood_is_followed():
    """Odds e / (1 − e) = 0.9 (t / 60)^−3: wrong at first, then right within a doubling of the time."""
    odds = 0.9 * (SECONDS / 60) ** -3.0
    ahead = extrapolate(read(odds / (1 + odds), smaller_is_better=False))
    for factor in (2, 10):
        later = 0.9 * (100 * factor / 60) ** -3.0
        middle, low, high = ahead.interval(100 * factor)
        assert low <= later / (1 + later) <= high
        assert middle < ahead.error / 2


@pytest.mark.parametrize("is_share", [True, False])
def test_a_measurement_of_a_known_law_has_the_noise_of_a_validation(is_share):
    """e(3 T) by hand, and 90 % of a normal distribution about it: 300 examples, or 3 % of the error."""
    laws = Laws(np.full(DRAWS, 1.3), np.full(DRAWS, 0.2), np.full(DRAWS, is_share))
    middle, low, high = Extrapolation(7.0, 0.4, laws, np.zeros(DRAWS), is_share).interval(21.0)
    odds = 0.4 / 0.6 * 3**-1.3
    error = odds / (1 + odds) if is_share else 0.4 * (0.2 + 0.8 * 3**-1.3)
    spread = np.sqrt(error * (1 - error) / 300) if is_share else 0.03 * error
    assert middle == pytest.approx(error, abs=0.1 * spread)
    assert (low, high) == pytest.approx((error - 1.645 * spread, error + 1.645 * spread), abs=0.2 * spread)


def test_a_curve_that_is_still_asleep_may_wake_up():
    """Nine answers in ten are wrong, and little has changed: other tasks are understood within a few doublings."""
    ahead = extrapolate(read(np.linspace(0.92, 0.9, len(SECONDS)), smaller_is_better=False))
    _, low, high = ahead.interval(1000)
    assert low < 0.3 and high > 0.85
