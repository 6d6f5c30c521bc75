"""Errors of estimated numbers: by hand, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import mean_squared_error, r2_score

from atento.metrics import MSE, R2, bootstrap_interval, tied


def test_by_hand():
    outputs, references = ["1", "2.5", "-1"], [["1"], ["2"], ["1"]]
    assert MSE.value(outputs, references) == pytest.approx((0 + 0.25 + 4) / 3)
    assert R2.value(outputs, references) == pytest.approx(1 - 4.25 / (2 / 3))
    assert MSE.value(["3"], [["1", "2.5"]]) == 0.25  # the nearest of several truths


def test_against_scikit_learn():
    chance = np.random.default_rng(0)
    truth, said = chance.normal(size=53), chance.normal(size=53)
    outputs, references = [repr(number) for number in said.tolist()], [[repr(number)] for number in truth.tolist()]
    assert MSE.value(outputs, references) == pytest.approx(mean_squared_error(truth, said))
    assert R2.value(outputs, references) == pytest.approx(r2_score(truth, said))
    value, low, high = bootstrap_interval(R2, [outputs], references)
    assert low < value < high


def test_a_truth_that_never_changes():
    assert R2.value(["2", "2"], [["2"], ["2"]]) == 1
    assert R2.value(["2", "3"], [["2"], ["2"]]) == 0


def test_a_smaller_error_is_the_better_one():
    assert MSE.smaller_is_better and not R2.smaller_is_better
    assert MSE.to_maximize(0.1) > MSE.to_maximize(0.2)
    assert R2.to_maximize(0.2) > R2.to_maximize(0.1)
    near, far, truth = ["1.0"] * 50, ["2.0"] * 50, [["1.1"]] * 50
    assert not tied(MSE, [near], [far], truth)
    assert tied(MSE, [near], [near], truth)
