"""Valid prediction times against a loop written from the definition, and against what can be worked out by hand."""

import numpy as np
import pytest

from atento.errors import InputError
from atento.metrics.dynamics import valid_times

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
    assert found.to_the_end == 1
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
