"""Metrics of labels and label sets against scikit-learn on random cases; precision at k by hand; thresholds by F1."""

import random

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from atento.errors import InputError
from atento.metrics import (
    ACCURACY,
    MACRO_F1,
    MULTILABEL_MACRO_F1,
    MULTILABEL_MICRO_F1,
    SUBSET_ACCURACY,
    Metric,
    best_thresholds,
    bootstrap_interval,
    hamming,
    precision_at,
    tied,
)
from atento.metrics.bootstrap import bootstrap_values
from atento.metrics.labels import (
    THRESHOLDS,
    count_one_label,
    f1_at_threshold,
    micro_f1,
    middle_of_maximum,
    of_answer_part,
)

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
    np.testing.assert_allclose(bootstrap_values(metric, [statistics], seed=0, resamples=7), expected, atol=1e-12)


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
    low, high = bootstrap_interval(MACRO_F1, [said], references)[1:]
    assert 0.0 <= low < MACRO_F1.value(said, references) < high <= 1.0
    assert tied(MACRO_F1, [said], [said], references)
    assert not tied(MACRO_F1, [said * 9], [truth * 9], references * 9)


def test_nothing_said():
    assert np.isnan([MACRO_F1.value([], []), ACCURACY.value([], [])]).all()


LABELS = ["anger", "joy", "love", "fear", "grief"]


def random_sets(seed):
    chance = random.Random(seed)
    true = [[label for label in LABELS if chance.random() < 0.4] for _ in range(31)]
    said = [[label for label in LABELS if chance.random() < (0.7 if label in case else 0.2)] for case in true]
    return said, true


def indicators(cases):
    return np.array([[label in case for label in LABELS] for case in cases], dtype=int)


@pytest.mark.spec("L04")
@pytest.mark.parametrize(
    "metric, theirs",
    [
        (SUBSET_ACCURACY, accuracy_score),
        (MULTILABEL_MACRO_F1, lambda truth, said: f1_score(truth, said, average="macro")),
        (MULTILABEL_MICRO_F1, lambda truth, said: f1_score(truth, said, average="micro")),
        (hamming(LABELS), lambda truth, said: 1 - hamming_loss(truth, said)),
    ],
    ids=lambda part: getattr(part, "name", ""),
)
def test_of_sets_equal_to_scikit_learn(metric, theirs):
    for seed in range(40):
        said, true = random_sets(seed)
        expected = theirs(indicators(true), indicators(said))
        assert metric.value(said, true) == pytest.approx(expected, abs=1e-12)


@pytest.mark.spec("L04")
@pytest.mark.parametrize("k, expected", [(1, 2 / 3), (2, 3 / 6), (3, 4 / 9), (5, 4 / 15)])
def test_precision_at_k_by_hand(k, expected):
    """Likeliest first; what was never said is a miss, so k of 5 divides by 5."""
    said = [["joy", "love", "fear"], ["anger", "grief", "joy"], ["fear"]]
    true = [["joy", "fear", "grief"], ["grief"], ["fear", "love"]]
    assert precision_at(k).value(said, true) == pytest.approx(expected)


def test_a_rare_label_counts_as_much_as_a_common_one_only_in_macro_f1():
    true = [["joy"]] * 9 + [["grief"]]
    said = [["joy"]] * 9 + [[]]
    assert MULTILABEL_MICRO_F1.value(said, true) == pytest.approx(18 / 19)
    assert MULTILABEL_MACRO_F1.value(said, true) == 0.5


def test_no_labels_at_all():
    assert SUBSET_ACCURACY.value([[], []], [[], []]) == 1.0
    assert MULTILABEL_MACRO_F1.value([[], []], [[], []]) == 0.0
    assert MULTILABEL_MICRO_F1.value([[], []], [[], []]) == 0.0
    assert hamming(LABELS).value([[]], [["joy"]]) == pytest.approx(4 / 5)
    assert precision_at(2).value([[]], [["joy"]]) == 0.0


def test_they_have_intervals_as_every_metric():
    said, true = random_sets(0)
    for metric in (SUBSET_ACCURACY, MULTILABEL_MACRO_F1, MULTILABEL_MICRO_F1, hamming(LABELS), precision_at(2)):
        value, low, high = bootstrap_interval(metric, [said], true)
        assert 0.0 <= low < value < high <= 1.0


def test_what_has_no_meaning_is_refused():
    with pytest.raises(InputError, match="k=0"):
        precision_at(0)
    with pytest.raises(InputError, match=r"labels=\[\]"):
        hamming([])


def test_where_no_label_is_said_or_true():
    for metric in (MULTILABEL_MACRO_F1, MULTILABEL_MICRO_F1):
        assert metric.value([[], []], [[], []]) == 0
    assert SUBSET_ACCURACY.value([[], []], [[], []]) == 1


def test_one_part_of_an_answer():
    answers = [[["a"], ["b", "a"]], [[], ["a", "b"]]]
    true = [["a"], ["b"]]
    assert of_answer_part(MULTILABEL_MICRO_F1, 0).value(answers, true) == MULTILABEL_MICRO_F1.value([["a"], []], true)
    assert of_answer_part(precision_at(1), 1).value(answers, true) == precision_at(1).value([["b"], ["a"]], true) == 0
    assert of_answer_part(precision_at(2), 1).value(answers, true) == 0.5


def test_a_label_that_was_never_met_is_a_miss():
    assert hamming(["a", "b"]).statistics([["a"]], [["new"]]).tolist() == [[1, 3]]


def test_an_interval_where_there_is_no_label():
    assert tuple(bootstrap_interval(MULTILABEL_MACRO_F1, [[[], []]], [[], []])) == (0, 0, 0)


EXAMPLES, LABEL_COUNT = 211, 5


def some_cases(seed=0):
    chance = np.random.default_rng(seed)
    truth = chance.random((EXAMPLES, LABEL_COUNT)) < np.array([0.5, 0.2, 0.1, 0.3, 0.02])
    chances = np.clip(0.3 * truth + chance.beta(1.5, 4, (EXAMPLES, LABEL_COUNT)), 0, 1)
    return chances, truth


@pytest.mark.spec("K03")
def test_f1_of_each_label_is_scikit_learn_s():
    chances, truth = some_cases()
    for threshold in (0.1, 0.37, 0.9, 1.1):
        theirs = f1_score(truth, chances > threshold, average=None, zero_division=0)
        np.testing.assert_allclose(f1_at_threshold(chances, truth, threshold), theirs)


@pytest.mark.spec("K03")
def test_no_other_threshold_is_better():
    chances, truth = some_cases()
    found = best_thresholds(chances, truth)
    for label in range(LABEL_COUNT - 1):
        best = max(f1_score(truth[:, label], chances[:, label] > threshold) for threshold in THRESHOLDS)
        assert f1_score(truth[:, label], chances[:, label] > found[label]) == pytest.approx(best)
    assert f1_at_threshold(chances, truth, 0.5).mean() < f1_above_each(chances, truth, found).mean()


def f1_above_each(chances, truth, thresholds):
    return f1_score(truth, chances > thresholds, average=None, zero_division=0)


def test_a_label_with_few_examples_takes_the_common_threshold():
    chances, truth = some_cases()
    assert truth[:, 4].sum() < 10
    common = max(THRESHOLDS, key=lambda threshold: f1_at_threshold(chances, truth, threshold).mean())
    assert best_thresholds(chances, truth)[4] == pytest.approx(common)


def test_with_nothing_to_learn_from_it_is_one_half():
    assert best_thresholds(np.zeros((0, 3)), np.zeros((0, 3), dtype=bool)).tolist() == [0.5] * 3
    assert best_thresholds(np.ones((4, 2)), np.zeros((4, 2), dtype=bool)).tolist() == [0.5] * 2


def test_the_middle_of_equally_good_ones():
    assert middle_of_maximum(np.array([0.1, 0.7, 0.7, 0.7, 0.2])) == 2
    assert middle_of_maximum(np.array([0.7, 0.1, 0.7])) == 0
