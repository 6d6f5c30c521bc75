"""Alignments that move forward, against scipy's Kendall and positions taken by hand."""

import numpy as np
import pytest
from scipy import stats

from atento.metrics.alignment import mean_positions, moves_forward

OUTPUTS, STEPS = 5, 11


def test_positions_are_weighted_means():
    weights = np.random.default_rng(0).random((OUTPUTS, STEPS))
    expected = [sum(n * weight for n, weight in enumerate(row)) / sum(row) for row in weights]
    np.testing.assert_allclose(mean_positions(weights), expected)
    assert mean_positions(np.zeros((1, STEPS))).tolist() == [0.0]


@pytest.mark.spec("K13")
@pytest.mark.parametrize("seed", range(5))
def test_order_is_kendall_s(seed):
    weights = np.random.default_rng(seed).random((OUTPUTS, STEPS)) ** 8
    weights[3] = weights[1]  # a tie
    found = moves_forward(weights)
    assert found.order == pytest.approx(stats.kendalltau(found.positions, np.arange(OUTPUTS)).statistic)
    assert found.share == pytest.approx(np.mean(np.diff(found.positions) >= 0))


def test_forward_backward_and_too_short_to_say():
    steps = np.eye(OUTPUTS)
    assert moves_forward(steps)[:2] == (1.0, 1.0)
    assert moves_forward(steps[::-1])[:2] == (0.0, -1.0)
    assert moves_forward(steps[:1])[:2] == (1.0, 1.0)
