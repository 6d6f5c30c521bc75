"""Metrics of several labels a case: against scikit-learn on random cases, precision at k by hand."""

import random

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from atento.errors import InputError
from atento.metrics.bootstrap import interval
from atento.metrics.labels import (
    LABELS_MACRO_F1,
    LABELS_MICRO_F1,
    WHOLE_SETS,
    count_known,
    hamming,
    of_answers,
    precision_at,
)

LABELS = ["anger", "joy", "love", "fear", "grief"]


def random_case(seed):
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
        (WHOLE_SETS, accuracy_score),
        (LABELS_MACRO_F1, lambda truth, said: f1_score(truth, said, average="macro")),
        (LABELS_MICRO_F1, lambda truth, said: f1_score(truth, said, average="micro")),
        (hamming(LABELS), lambda truth, said: 1 - hamming_loss(truth, said)),
    ],
    ids=lambda part: getattr(part, "name", ""),
)
def test_equal_to_scikit_learn(metric, theirs):
    for seed in range(40):
        said, true = random_case(seed)
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
    assert LABELS_MICRO_F1.value(said, true) == pytest.approx(18 / 19)
    assert LABELS_MACRO_F1.value(said, true) == 0.5


def test_no_labels_at_all():
    assert WHOLE_SETS.value([[], []], [[], []]) == 1.0
    assert LABELS_MACRO_F1.value([[], []], [[], []]) == 0.0
    assert LABELS_MICRO_F1.value([[], []], [[], []]) == 0.0
    assert hamming(LABELS).value([[]], [["joy"]]) == pytest.approx(4 / 5)
    assert precision_at(2).value([[]], [["joy"]]) == 0.0


def test_they_have_intervals_as_every_metric():
    said, true = random_case(0)
    for metric in (WHOLE_SETS, LABELS_MACRO_F1, LABELS_MICRO_F1, hamming(LABELS), precision_at(2)):
        value, low, high = interval(metric, said, true)
        assert 0.0 <= low < value < high <= 1.0


def test_what_has_no_meaning_is_refused():
    with pytest.raises(InputError, match="k=0"):
        precision_at(0)
    with pytest.raises(InputError, match=r"labels=\[\]"):
        hamming([])
    with pytest.raises(InputError, match="did you mean 'joy'"):
        hamming(LABELS).value([["yoy"]], [["joy"]])


def test_where_no_label_is_said_or_true():
    for metric in (LABELS_MACRO_F1, LABELS_MICRO_F1):
        assert metric.value([[], []], [[], []]) == 0
    assert WHOLE_SETS.value([[], []], [[], []]) == 1


def test_one_part_of_an_answer():
    answers = [[["a"], ["b", "a"]], [[], ["a", "b"]]]
    true = [["a"], ["b"]]
    assert of_answers(LABELS_MICRO_F1, 0).value(answers, true) == LABELS_MICRO_F1.value([["a"], []], true)
    assert of_answers(precision_at(1), 1).value(answers, true) == precision_at(1).value([["b"], ["a"]], true) == 0
    assert of_answers(precision_at(2), 1).value(answers, true) == 0.5


def test_a_label_that_was_never_met_is_a_miss():
    assert count_known([["a"]], [["new"]], labels=["a", "b"]).tolist() == [[1, 3]]


def test_an_interval_where_there_is_no_label():
    assert tuple(interval(LABELS_MACRO_F1, [[], []], [[], []])) == (0, 0, 0)
