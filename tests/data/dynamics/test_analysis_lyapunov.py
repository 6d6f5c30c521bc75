"""Exponents against those known in closed form and those published."""

import numpy as np
import pytest

from atento.data.dynamics import Lorenz, Rossler, lyapunov_exponent
from atento.errors import InputError


@pytest.mark.spec("D05")
def test_of_a_linear_system_it_is_the_largest_eigenvalue():
    matrix = np.array([[-0.3, 1.0], [0.0, -0.7]])
    found = lyapunov_exponent(lambda time, state: matrix @ state, (1.0, 1.0), time=60.0, settle=20.0, interval=1.0)
    assert abs(found - -0.3) < 1e-3


@pytest.mark.spec("D05")
@pytest.mark.parametrize(
    "flow, time, published, within", [(Lorenz(), 200.0, 0.9056, 0.07), (Rossler(), 900.0, 0.0714, 0.02)], ids=str
)
def test_published_exponents(flow, time, published, within):
    found = lyapunov_exponent(flow, (1.0, 1.0, 1.0), time=time, settle=30.0)
    assert abs(found - published) < within


def test_neighbours_on_a_circle_stay_neighbours():
    assert abs(lyapunov_exponent(lambda time, state: (-state[1], state[0]), (1.0, 0.0), time=50.0, settle=0.0)) < 1e-3


def test_a_trajectory_that_goes_to_infinity_is_named():
    with pytest.raises(InputError, match="goes to infinity"):
        lyapunov_exponent(lambda time, state: state**2, (1.0,), time=5.0, settle=0.0)
