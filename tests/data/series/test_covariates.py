"""A covariate that tells the future is found with its shift; an honest one never is."""

import numpy as np
import pytest

from atento.data import Series
from atento.data.series.covariates import ShiftedTarget, absolute_correlation, shifted_targets

ROWS, HORIZON = 211, 7


@pytest.fixture
def walk() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(ROWS + 2 * HORIZON + 40, 1)).cumsum(axis=0)


def series_with(walk: np.ndarray, ahead: int, *, scale: float = 1.0, noise: float = 0.0) -> Series:
    """A series whose one covariate is what the target is `ahead` rows later."""
    middle = slice(HORIZON + 20, HORIZON + 20 + ROWS)
    moved = slice(middle.start + ahead, middle.stop + ahead)
    rough = noise * np.random.default_rng(5).normal(size=(ROWS, 1))
    return Series("", walk[middle], scale * walk[moved] + rough)


@pytest.mark.spec("X04")
@pytest.mark.parametrize("ahead", [1 - HORIZON, -3, -1, 0, 1, 5, HORIZON])
def test_a_covariate_that_is_the_target_shifted_is_caught(walk, ahead):
    for scale in (1.0, -2.5):
        assert shifted_targets([series_with(walk, ahead, scale=scale)], HORIZON) == [ShiftedTarget(0, 0, ahead)], scale


@pytest.mark.spec("X04")
def test_what_is_a_horizon_old_is_no_leak(walk):
    assert shifted_targets([series_with(walk, -HORIZON)], HORIZON) == []


def test_a_rough_guess_of_the_future_is_no_leak(walk):
    assert shifted_targets([series_with(walk, 1, noise=1.0)], HORIZON) == []


def test_two_trends_are_not_one():
    time = np.linspace(0.0, 1.0, ROWS)[:, None]
    rough = np.random.default_rng(7).normal(scale=1e-3, size=(ROWS, 2))
    assert shifted_targets([Series("", time + rough[:, :1], 3 * time + rough[:, 1:])], HORIZON) == []


def test_a_covariate_that_never_changes_is_no_leak(walk):
    assert shifted_targets([Series("", walk, np.ones_like(walk))], HORIZON) == []


def test_the_channel_is_named(walk):
    other = np.random.default_rng(11).normal(size=walk.shape)
    known = np.concatenate([other, np.roll(walk, -2)], axis=1)
    found = shifted_targets([Series("", np.concatenate([other[::-1], walk], axis=1)[:ROWS], known[:ROWS])], HORIZON)
    assert found == [ShiftedTarget(1, 1, 2)]


def test_correlation_is_numpys(walk):
    one, other = walk[:ROWS, 0], walk[40 : ROWS + 40, 0]
    assert absolute_correlation(one, other) == pytest.approx(abs(np.corrcoef(one, other)[0, 1]), rel=1e-12)
