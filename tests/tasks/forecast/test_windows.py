"""Which series are a flow: systems given by equations are, measurements are not."""

from types import SimpleNamespace

import numpy as np
import pytest

from atento.data.dynamics import Lorenz, lorenz, rossler, trajectory
from atento.tasks.forecast.windows import is_dynamical_system, unexplained


def one(values):
    return [SimpleNamespace(values=np.asarray(values))]


def walk():
    return np.cumsum(np.random.default_rng(0).normal(size=(1200, 2)), axis=0)


def season():
    chance = np.random.default_rng(0)
    return (np.sin(2 * np.pi * np.arange(1200) / 24) + 0.3 * chance.normal(size=1200))[:, None]


@pytest.mark.parametrize("values", [lorenz(1200), rossler(1200), 100 + 1e-3 * lorenz(1200, seed=1)], ids=range(3))
def test_the_whole_state_of_a_system_is_a_flow(values):
    assert is_dynamical_system(one(values))
    assert unexplained(values) < 0.01


@pytest.mark.parametrize(
    "values",
    [
        walk(),
        season(),
        lorenz(1200)[:, :1],
        lorenz(1200) + np.random.default_rng(0).normal(size=(1200, 3)),
        lorenz(300),
    ],
    ids=["a random walk", "a season in noise", "one coordinate", "much noise", "too few rows"],
)
def test_other_series_are_not(values):
    assert not is_dynamical_system(one(values))


def test_what_never_changes_is_not_and_every_series_must_be():
    assert not is_dynamical_system(one(np.ones((1200, 2))))
    assert not is_dynamical_system([])
    assert not is_dynamical_system([*one(lorenz(1200)), *one(walk())])


def test_the_second_half_says_nothing():
    values = lorenz(1200)
    values[700:] = np.random.default_rng(0).normal(size=(500, 3))
    assert is_dynamical_system(one(values))


def test_another_system_of_equations_is_one():
    def hunters(time, state):
        hares, foxes = state
        return 1.1 * hares - 0.4 * hares * foxes, 0.1 * hares * foxes - 0.4 * foxes

    assert is_dynamical_system(one(trajectory(hunters, (10.0, 5.0), step=0.1, steps=1000)))
    assert is_dynamical_system(one(trajectory(Lorenz(rho=99.0), (1.0, 1.0, 50.0), step=0.01, steps=1200, settle=5.0)))
