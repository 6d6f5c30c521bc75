"""NB-SVM: ratios by hand, rows of length one, a choice by folds, and the model that a run saves."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from atento.baselines.catalogue import find_baseline
from atento.baselines.log_count_ratios import log_count_ratios, ratio_model, solve, solve_best, unit_rows

HAS = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1], [1, 0, 0]])
TRUE = np.array([True, True, False, False, False])


def test_the_log_count_ratio_of_each_term_by_hand():
    """p = 1 + (2, 1, 1), q = 1 + (1, 1, 2), each over its sum 7."""
    found = log_count_ratios(csr_matrix(HAS), TRUE)
    assert found.tolist() == pytest.approx([math.log(3 / 2), 0.0, math.log(2 / 3)])
    assert log_count_ratios(csr_matrix(HAS / 7), TRUE).tolist() == found.tolist()  # presence counts, not its size


def test_rows_have_length_one_and_an_empty_one_stays_empty():
    rows = unit_rows(csr_matrix([[1, 1, 0], [0, 0, 0]]), np.array([3.0, 4.0, 5.0])).toarray()
    np.testing.assert_allclose(rows, [[0.6, 0.8, 0], [0, 0, 0]])


@pytest.mark.parametrize("scaling", ["idf", "ratio", "both"])
def test_the_solution_is_a_stationary_point_of_the_penalised_likelihood(scaling):
    """Of C Σ log(1 + exp(−y s)) + |v|² / 2 + b² / 2 with s = v · (x ∘ r) + b, as liblinear has it; w = v ∘ r."""
    presence, truth = csr_matrix(HAS), TRUE[:, None]
    weights, scales, bias = solve(presence, truth, scaling, 2.0)
    idf = np.log(6 / (1 + HAS.sum(axis=0))) + 1
    np.testing.assert_allclose(scales, np.ones(3) if scaling == "ratio" else idf)
    rows = unit_rows(presence, scales)
    ratios = np.ones(3) if scaling == "idf" else log_count_ratios(rows, TRUE)
    used = rows.toarray() * ratios
    own = np.divide(weights[:, 0], ratios, out=np.zeros(3), where=ratios != 0)
    errors = 1 / (1 + np.exp(-(used @ own + bias))) - TRUE
    np.testing.assert_allclose(2.0 * used.T @ errors + own, 0, atol=2e-2)
    np.testing.assert_allclose(2.0 * errors.sum() + bias, 0, atol=2e-2)


def test_a_label_that_is_always_or_never_true_has_a_bias_alone():
    found = solve(csr_matrix(HAS), np.stack([TRUE, TRUE | True, TRUE & False], axis=1), "idf", 1.0)
    assert not found.weights[:, 1:].any()
    assert found.bias[1:].tolist() == pytest.approx([math.log(6), -math.log(6)])


@pytest.mark.parametrize("scaling", ["idf", "ratio", "both"])
def test_of_two_labels_that_exclude_each_other_each_is_solved_as_if_alone(scaling):
    truth = np.stack([TRUE, ~TRUE], axis=1)
    both = solve(csr_matrix(HAS), truth, scaling, 2.0).scores(csr_matrix(HAS))
    alone = [solve(csr_matrix(HAS), one[:, None], scaling, 2.0).scores(csr_matrix(HAS)) for one in truth.T]
    np.testing.assert_allclose(both, np.concatenate(alone, axis=1), atol=2e-2)


@pytest.mark.parametrize("several", [False, True])
def test_folds_choose_a_penalty_that_lets_a_rule_be_learned(several):
    rng = np.random.default_rng(0)
    has = (rng.random((120, 7)) < 0.4).astype(float)
    truth = np.stack([has[:, 0] > 0, has[:, 0] == 0], axis=1)
    solution, chosen = solve_best(csr_matrix(has), truth, several=several)
    assert (solution.scores(csr_matrix(has)).argmax(axis=1) == truth.argmax(axis=1)).all()
    assert chosen.startswith("scaled by ")


def test_two_classes_and_three_give_each_class_a_score():
    assert ratio_model(csr_matrix(HAS), ["a"] * 5, inverse_penalty=1.0) is None
    one_each = np.concatenate([np.eye(3)] * 2)
    for has, targets in ((HAS, ["a", "a", "b", "b", "a"]), (one_each, ["a", "b", "c"] * 2)):
        model = ratio_model(csr_matrix(has), targets, inverse_penalty=100.0)
        assert model.classes == sorted(set(targets))
        (rows,) = model.probabilities(unit_rows(csr_matrix(has), np.ones(3)))
        assert [model.classes[best] for best in rows.argmax(axis=1)] == targets


def test_nb_svm_learns_which_words_tell():
    texts = ["good film", "very good", "good fun", "bad film", "very bad", "no good at all", "bad bad"]
    model = find_baseline("nb-svm").fit(texts, ["+", "+", "+", "-", "-", "-", "-"])
    assert model.predict(["a good one", "a bad one", "no good"]) == ["+", "-", "-"]
    assert model.explain("good")[1][0][0] == "good"
