"""The best threshold of each label, against every threshold tried by scikit-learn's F1."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from atento.metrics.labels import GRID, best_thresholds, f1_above, middle_of_best

EXAMPLES, LABELS = 211, 5


def some_cases(seed=0):
    chance = np.random.default_rng(seed)
    truth = chance.random((EXAMPLES, LABELS)) < np.array([0.5, 0.2, 0.1, 0.3, 0.02])
    chances = np.clip(0.3 * truth + chance.beta(1.5, 4, (EXAMPLES, LABELS)), 0, 1)
    return chances, truth


@pytest.mark.spec("K03")
def test_f1_of_each_label_is_scikit_learn_s():
    chances, truth = some_cases()
    for threshold in (0.1, 0.37, 0.9, 1.1):
        theirs = f1_score(truth, chances > threshold, average=None, zero_division=0)
        np.testing.assert_allclose(f1_above(chances, truth, threshold), theirs)


@pytest.mark.spec("K03")
def test_no_other_threshold_is_better():
    chances, truth = some_cases()
    found = best_thresholds(chances, truth)
    for label in range(LABELS - 1):
        best = max(f1_score(truth[:, label], chances[:, label] > threshold) for threshold in GRID)
        assert f1_score(truth[:, label], chances[:, label] > found[label]) == pytest.approx(best)
    assert f1_above(chances, truth, 0.5).mean() < f1_above_each(chances, truth, found).mean()


def f1_above_each(chances, truth, thresholds):
    return f1_score(truth, chances > thresholds, average=None, zero_division=0)


def test_a_label_with_few_examples_takes_the_common_threshold():
    chances, truth = some_cases()
    assert truth[:, 4].sum() < 10
    common = max(GRID, key=lambda threshold: f1_above(chances, truth, threshold).mean())
    assert best_thresholds(chances, truth)[4] == pytest.approx(common)


def test_with_nothing_to_learn_from_it_is_one_half():
    assert best_thresholds(np.zeros((0, 3)), np.zeros((0, 3), dtype=bool)).tolist() == [0.5] * 3
    assert best_thresholds(np.ones((4, 2)), np.zeros((4, 2), dtype=bool)).tolist() == [0.5] * 2


def test_the_middle_of_equally_good_ones():
    assert middle_of_best(np.array([0.1, 0.7, 0.7, 0.7, 0.2])) == 2
    assert middle_of_best(np.array([0.7, 0.1, 0.7])) == 0
