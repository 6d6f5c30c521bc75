"""Per-class scores, confusion matrix and calibration by hand, and against scikit-learn."""

import json
import random

import pytest
from sklearn.metrics import confusion_matrix as sklearn_matrix
from sklearn.metrics import precision_recall_fscore_support

from atento.metrics import calibration, class_scores, confusion_matrix
from atento.metrics.classes import one_label_report, span_scores


def test_by_hand():
    """Two of three a found, one b called a; c is predicted once and never true."""
    report = one_label_report(["a", "a", "c", "a", "b"], [["a"], ["a"], ["a"], ["b"], ["b"]], [0.9] * 5)
    a, b, c = report["classes"]
    assert a == {"label": "a", "precision": 2 / 3, "recall": 2 / 3, "f1": 4 / 6, "support": 3, "predicted": 3}
    assert b == {"label": "b", "precision": 1.0, "recall": 0.5, "f1": 2 / 3, "support": 2, "predicted": 1}
    assert c == {"label": "c", "precision": 0.0, "recall": None, "f1": 0.0, "support": 0, "predicted": 1}
    assert report["confusion"] == {"labels": ["a", "b", "c"], "counts": [[2, 0, 1], [1, 1, 0], [0, 0, 0]]}
    (bin_,) = report["calibration"]["bins"]
    assert bin_ == {"low": 0.8, "high": 0.9, "count": 5, "confidence": pytest.approx(0.9), "accuracy": 0.6}
    assert report["calibration"]["error"] == pytest.approx(0.3)
    assert json.loads(json.dumps(report)) == report
    assert one_label_report(["x", "y"], [["y", "x"], ["z", "w"]])["confusion"]["labels"] == ["x", "z", "y"]


def test_as_scikit_learn_says():
    chance, labels = random.Random(7), ["p", "q", "r", "s"]
    true, predicted = chance.choices(labels, [8, 4, 2, 1], k=211), chance.choices(labels, k=211)
    found = {one["label"]: one for one in class_scores([[one] for one in predicted], [[one] for one in true])}
    theirs = precision_recall_fscore_support(true, predicted, labels=labels)
    for label, precision, recall, f1, support in zip(labels, *theirs, strict=True):
        mine = found[label]
        assert (mine["precision"], mine["recall"], mine["f1"]) == pytest.approx((precision, recall, f1))
        assert mine["support"] == support
    assert (
        confusion_matrix(predicted, true, labels)["counts"] == sklearn_matrix(true, predicted, labels=labels).tolist()
    )


def test_calibration_by_hand():
    """0.1 belongs to the first bin, as does 0.05; a gap counts by how many examples its bin has."""
    found = calibration([0.05, 0.1, 0.85, 0.95, 1.0], [False, False, True, True, False])
    assert [(one["low"], one["count"]) for one in found["bins"]] == [(0.0, 2), (0.8, 1), (0.9, 2)]
    assert found["error"] == pytest.approx((2 * 0.075 + 1 * 0.15 + 2 * (0.975 - 0.5)) / 5)
    assert calibration([], []) is None


def test_spans_by_type():
    """A span with a wrong end is a miss of its type and a false one; a right one in another sentence counts."""
    pairs = [(["B-per", "I-per", "O"], ["B-per", "O", "O"]), (["B-loc", "O"], ["B-loc", "O"])]
    loc, per = sorted(span_scores(pairs), key=lambda one: one["label"])
    assert (loc["precision"], loc["recall"], loc["support"]) == (1.0, 1.0, 1)
    assert (per["precision"], per["recall"], per["support"], per["predicted"]) == (0.0, 0.0, 1, 1)
