"""Errors of numbers by hand and against scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics

from atento.errors import InputError
from atento.metrics.forecasts import mean_absolute_error, mean_squared_error


def test_by_hand():
    said, came = [[1, 2], [3, 4]], [[1, 0], [4, 1.5]]
    assert mean_squared_error(said, came) == (0 + 4 + 1 + 6.25) / 4
    assert mean_absolute_error(said, came) == (0 + 2 + 1 + 2.5) / 4


def test_equal_to_scikit_learn():
    chance = np.random.default_rng(0)
    said, came = chance.normal(size=(2, 13, 5))
    assert mean_squared_error(said, came) == pytest.approx(metrics.mean_squared_error(came, said), rel=1e-12)
    assert mean_absolute_error(said, came) == pytest.approx(metrics.mean_absolute_error(came, said), rel=1e-12)


@pytest.mark.parametrize("said, came", [([1, 2], [[1], [2]]), ([1], [1, 2]), ([], [])])
def test_nothing_is_broadcast(said, came):
    for error in (mean_squared_error, mean_absolute_error):
        with pytest.raises(InputError, match="same shape"):
            error(said, came)
