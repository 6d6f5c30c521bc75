"""Metrics of one label a case, against scikit-learn on random cases."""

import random

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from atento.metrics.bootstrap import interval, resampled, tied
from atento.metrics.labels import ACCURACY, MACRO_F1, count_one_label, micro_f1
from atento.metrics.metric import Metric

MICRO_F1 = Metric("micro_f1", "", count_one_label, micro_f1)  # the same as accuracy, where there is one label a case

THEIRS = [
    (ACCURACY, accuracy_score),
    (MACRO_F1, lambda truth, said: f1_score(truth, said, average="macro")),
    (MICRO_F1, lambda truth, said: f1_score(truth, said, average="micro")),
]
against_theirs = pytest.mark.parametrize("metric, theirs", THEIRS, ids=["accuracy", "macro_f1", "micro_f1"])


def random_case(seed, count=31):
    """Labels of very unequal frequency; some are only said, some only true."""
    chance = random.Random(seed)
    truth = chance.choices("abcd", weights=[20, 5, 2, 1], k=count)
    said = [label if chance.random() < 0.6 else chance.choice("abce") for label in truth]
    return said, truth


@pytest.mark.spec("L02")
@against_theirs
def test_equal_to_scikit_learn(metric, theirs):
    for seed in range(40):
        said, truth = random_case(seed, count=(1, 2, 31)[seed % 3])
        assert metric.value(said, [[label] for label in truth]) == pytest.approx(theirs(truth, said), abs=1e-12)


@pytest.mark.spec("L02")
@against_theirs
def test_a_resample_is_scored_as_if_it_were_the_set(metric, theirs):
    """Labels that a resample misses are left out of it, as scikit-learn leaves them out."""
    said, truth = random_case(0)
    statistics = metric.statistics(said, [[label] for label in truth])
    draws = np.random.default_rng(0).multinomial(len(said), np.full(len(said), 1 / len(said)), size=7)
    expected = [theirs(np.repeat(truth, draw), np.repeat(said, draw)) for draw in draws]
    np.testing.assert_allclose(resampled(metric, statistics, seed=0, resamples=7), expected, atol=1e-12)


def test_macro_f1_by_hand():
    """a: 3 hits, 4 said, 3 true; b: 0 hits, 0 said, 1 true. A model that only ever says a is right 3 times in 4."""
    said, truth = ["a", "a", "a", "a"], [["a"], ["a"], ["a"], ["b"]]
    assert ACCURACY.value(said, truth) == 0.75
    assert MACRO_F1.value(said, truth) == pytest.approx((6 / 7 + 0) / 2)


def test_any_of_several_right_labels_is_right():
    assert MACRO_F1.value(["a", "b"], [["b", "a"], ["b"]]) == 1.0
    assert ACCURACY.value(["a", "b"], [["b", "a"], ["b"]]) == 1.0
    assert MACRO_F1.value(["c"], [["b", "a"]]) == 0.0


def test_they_have_intervals_and_ties_as_every_metric():
    said, truth = random_case(2)
    references = [[label] for label in truth]
    low, high = interval(MACRO_F1, said, references)[1:]
    assert 0.0 <= low < MACRO_F1.value(said, references) < high <= 1.0
    assert tied(MACRO_F1, said, said, references)
    assert not tied(MACRO_F1, said * 9, truth * 9, references * 9)


def test_nothing_said():
    assert MACRO_F1.value([], []) == ACCURACY.value([], []) == 0.0
