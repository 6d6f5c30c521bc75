"""Ties between validations, and what must be exceeded to leave a closed form."""

import math

import pytest

from atento.metrics.estimates import MSE
from atento.training.learner import Progress
from atento.training.validation import errors_to_exceed, is_gain, is_tie_of_lower_loss, note_best


@pytest.mark.parametrize(
    "best, score, gain, tie",
    [
        (0.3, 0.1 + 0.2, False, True),  # 0.30000000000000004: sums in another order
        (0.1 + 0.2, 0.3, False, True),
        (0.0, 0.0, False, True),
        (-0.25, -0.25, False, True),
        (0.3, 0.3 + 1e-6, True, False),  # one example of a million
        (0.3, 0.3 - 1e-6, False, False),
        (0.0, 1e-9, True, False),
        (-math.inf, 0.3, True, False),
        (0.3, math.nan, False, False),
    ],
)
def test_what_differs_by_rounding_alone_is_a_tie(best, score, gain, tie):
    progress = Progress(best=best, best_loss=0.5)
    assert is_gain(progress, score) is gain
    assert is_tie_of_lower_loss(progress, score, 0.4) is tie
    assert not is_tie_of_lower_loss(progress, score, 0.5)


@pytest.mark.parametrize("before, now", [(None, 0.4), (0.5, None), (None, None)])
def test_where_a_loss_is_not_known_the_earlier_weights_stay(before, now):
    assert not is_tie_of_lower_loss(Progress(best=0.3, best_loss=before), 0.3, now)


def test_many_ties_within_rounding_do_not_lower_the_best():
    progress = Progress(best=0.3, best_loss=0.5, step=7)
    note_best(progress, 0.3 - 1e-11, 0.4, gain=False)
    assert (progress.best, progress.best_loss, progress.best_step, progress.gain_step) == (0.3, 0.4, 7, 0)


@pytest.mark.spec("B04")
@pytest.mark.parametrize(
    "rows, independent, expected",
    [
        (500, None, 1.0),  # examples that do not overlap: a standard error
        (30, 30.0, 1.0176),  # t of 29 degrees of freedom at Φ(1)
        (8, 4.0, 1.1969 * 2**0.5),  # blocks of half a horizon: t of 3, and the error of 4
        (3, 4.0, 1.1969),  # blocks as long as a horizon
        (8, 1.9, math.inf),  # less than two horizons have no error
    ],
)
def test_a_gain_over_the_closed_form_exceeds_the_error_of_what_is_independent(rows, independent, expected):
    metric = MSE._replace(independent=independent)
    assert errors_to_exceed(metric, rows) == pytest.approx(expected, rel=1e-4)
