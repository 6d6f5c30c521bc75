"""Two attractors by what is published of them."""

import numpy as np
import pytest

from atento.data.dynamics import Rossler, lorenz, rossler


def period_of(values, step):
    """The mean time between upward crossings of the mean."""
    above = values > values.mean()
    crossings = np.flatnonzero(~above[:-1] & above[1:])
    return np.diff(crossings).mean() * step


@pytest.mark.spec("D01")
def test_rossler_turns_once_in_six_units_of_time():
    states = rossler(3000)
    assert states.shape == (3000, 3)
    assert 5.8 < period_of(states[:, 0], 0.1) < 6.1
    low, high = states.min(axis=0), states.max(axis=0)
    assert (low > (-9.8, -11.5, 0.0)).all() and (low < (-8.0, -9.5, 0.05)).all()
    assert (high > (10.0, 6.5, 17.0)).all() and (high < (12.2, 8.5, 24.0)).all()


@pytest.mark.spec("D01")
def test_lorenz_has_two_wings_of_the_known_extent():
    states = lorenz(4000)
    low, high = states.min(axis=0), states.max(axis=0)
    assert (low > (-20.5, -27.5, 0.5)).all() and (low < (-16.0, -21.0, 6.0)).all()
    assert (high > (16.0, 21.0, 42.0)).all() and (high < (20.5, 27.5, 49.0)).all()
    assert 0.3 < (states[:, 0] > 0).mean() < 0.7  # both wings
    assert abs(states[:, 2].mean() - 23.55) < 0.8  # 23.55 in the long run
    x, z = states[:, 0], states[:, 2]
    assert abs((np.square(x)).mean() / (8 / 3 * z.mean()) - 1) < 0.05  # <xy> = <x²> = β <z>, as nothing drifts


def test_a_seed_is_a_stretch():
    assert (rossler(50, seed=3) == rossler(50, seed=3)).all()
    assert not np.allclose(rossler(50, seed=3), rossler(50, seed=4))


def test_other_parameters_another_motion():
    circle = rossler(400, system=Rossler(c=2.3))  # one loop, again and again
    tops = circle[1:-1, 0][(circle[1:-1, 0] > circle[:-2, 0]) & (circle[1:-1, 0] > circle[2:, 0])]
    assert tops.std() < 0.1
