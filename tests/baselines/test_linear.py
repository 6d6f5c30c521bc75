"""Class means by their formula; thousands of classes within a bound of memory, saved and restored."""

import math
import tracemalloc

import numpy as np
import pytest

from atento.baselines import linear
from atento.baselines.catalogue import find_baseline
from atento.baselines.linear import BY_MEANS, SparseWeights, class_means, linear_model
from atento.baselines.state import restore, state_of

CLASSES = 1499
MEGABYTE = 2**20


def test_class_means_by_the_formula():
    """p(c | x) ∝ n_c exp(−|x − m_c|² / 2σ²), with σ² the mean squared deviation of a number that is not 0."""
    chance = np.random.default_rng(0)
    features = chance.normal(size=(11, 5)) + 3.0
    features[chance.random(features.shape) < 0.4] = 0.0
    targets = ["b", "a", "c", "a", "b", "a", "c", "c", "a", "b", "b"]
    means = {label: features[[one == label for one in targets]].mean(axis=0) for label in "abc"}
    within = sum(float(np.square(row - means[one]).sum()) for row, one in zip(features, targets, strict=True)) / (
        11 - 3
    )
    variance = within / (np.count_nonzero(features) / 11)
    asked = chance.normal(size=(2, 5))
    (found,) = class_means(features, targets).probabilities(asked)
    for row, probabilities in zip(asked, found, strict=True):
        shares = [
            targets.count(label) * math.exp(-float(np.square(row - means[label]).sum()) / (2 * variance))
            for label in "abc"
        ]
        np.testing.assert_allclose(probabilities, np.array(shares) / sum(shares), rtol=1e-9)


@pytest.mark.parametrize("features", [np.zeros((4, 3)), np.ones((4, 3)), np.eye(4)], ids=["zeros", "equal", "alone"])
def test_means_of_examples_without_spread_give_finite_probabilities(features):
    (found,) = class_means(features, ["a", "b", "c", "d"]).probabilities(features)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert features[0, 1] or features[0, 0] == 0 or found.argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_few_classes_and_classes_with_examples_enough_are_fitted_by_logistic_regression(monkeypatch):
    features, targets = np.eye(12), list("abcd" * 3)
    assert not isinstance(linear_model(features, targets, inverse_penalty=1.0).weights, SparseWeights)
    monkeypatch.setattr(linear, "MANY_CLASSES", 3)
    assert not isinstance(linear_model(features, targets, inverse_penalty=1.0).weights, SparseWeights)
    assert isinstance(linear_model(features[:7], targets[:7], inverse_penalty=1.0).weights, SparseWeights)
    monkeypatch.setattr(linear, "MOST_NUMBERS", 100)
    assert isinstance(linear_model(features, targets, inverse_penalty=1.0).weights, SparseWeights)


@pytest.mark.parametrize("name", ["bag-of-words", "tf-idf"])
def test_thousands_of_classes_within_a_bound_of_memory(name):
    """Logistic regression would hold 25 copies of 1499 × 4497 weights, 1.3 GB."""
    texts = [f"own{number} a{number} also{number * 7 % CLASSES}" for number in range(CLASSES)]
    labels = [f"class {number}" for number in range(CLASSES)]
    texts, labels = texts + texts[:701], labels + labels[:701]
    find_baseline(name).fit(texts[:9], labels[:9])  # what is imported does not count
    tracemalloc.start()
    fitted = find_baseline(name).fit(texts, labels)
    asked = [f"own{number} of" for number in range(0, CLASSES, 5)]
    answers, given = fitted.predict(asked), fitted.probabilities(asked)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * MEGABYTE
    assert fitted.summary.endswith(BY_MEANS)
    assert answers == [f"class {number}" for number in range(0, CLASSES, 5)]
    assert len(given[0]) == CLASSES and sum(given[0].values()) == pytest.approx(1.0, abs=1e-5)
    assert max(given[3], key=given[3].__getitem__) == answers[3] and answers[3] in repr(given[3])
    again = find_baseline(name)
    restore(again, state_of(fitted))
    assert again.predict(asked) == answers and again.explain(asked[1]) == fitted.explain(asked[1])
    assert again.explain(asked[1]).items[0][0] == "own5"
