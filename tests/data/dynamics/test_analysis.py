"""Delays instead of coordinates."""

import numpy as np
import pytest

from atento.data.dynamics import decorrelation_lag, delay_embedding, rossler
from atento.errors import InputError


def test_rows_are_now_and_before():
    found = delay_embedding(np.arange(11.0), delays=3, lag=4)
    assert found.tolist() == [[8, 4, 0], [9, 5, 1], [10, 6, 2]]


def test_the_lag_is_where_the_autocorrelation_falls():
    times = np.arange(5000)
    wave = np.cos(2 * np.pi * times / 100)
    assert abs(decorrelation_lag(wave) - 100 * np.arccos(1 / np.e) / (2 * np.pi)) < 2
    values = rossler(900)[:, 0]
    moved = values - values.mean()
    brute = next(lag for lag in range(1, 225) if (moved[lag:] * moved[:-lag]).sum() / (moved * moved).sum() < 1 / np.e)
    assert decorrelation_lag(values) == brute
    assert decorrelation_lag(np.ones(50)) == 1


@pytest.mark.spec("D06")
def test_one_coordinate_of_rossler_tells_the_others():
    """The delayed copies of x decide y: neighbours in the embedding have nearly the same y (Takens)."""
    states = rossler(3000)
    lag = decorrelation_lag(states[:, 0])
    seen = delay_embedding(states[:, 0], delays=3, lag=lag)
    hidden = states[2 * lag :, 1]
    learned, asked = seen[:2000], seen[2000::7]
    nearest = [np.square(learned - one).sum(axis=1).argmin() for one in asked]
    left = np.square(hidden[:2000][nearest] - hidden[2000::7]).mean() / hidden.var()
    alone = [np.abs(learned[:, 0] - one[0]).argmin() for one in asked]
    blind = np.square(hidden[:2000][alone] - hidden[2000::7]).mean() / hidden.var()
    assert left < 0.01
    assert blind > 0.3


def test_what_cannot_be_embedded_is_named():
    with pytest.raises(InputError, match="longer than its delays"):
        delay_embedding(np.arange(8.0), delays=3, lag=4)
    with pytest.raises(InputError, match="one coordinate"):
        delay_embedding(np.zeros((8, 2)))
