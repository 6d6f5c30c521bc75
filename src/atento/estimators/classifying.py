"""Estimators of labels: one for each sequence, one for each pair of texts, any number for each text."""

from collections.abc import Sequence

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from atento.data.records import split_items
from atento.estimators.estimator import SequenceEstimator
from atento.estimators.frames import Rows, columns_of, like, require_rows, table_like
from atento.estimators.rows import holds_arrays, label_lists_of, pairs_of, sequences_of, texts_of
from atento.metrics.labels import MULTILABEL_MACRO_F1
from atento.tasks.reading.reader import compose
from atento.tasks.task import Answer


def known_classes(labels: list[object], rows: int) -> tuple[np.ndarray, dict[str, object]]:
    """The different labels in order, and which of them a text that a model says stands for."""
    require_rows(labels, rows, "y")
    truth = np.asarray(labels)
    if truth.dtype.kind == "f":
        assert_all_finite(truth, input_name="y")
    check_classification_targets(labels)
    classes = np.unique(truth)
    return classes, {compose(str(label)).strip(): label for label in classes}


def probabilities_of(answers: Sequence[Answer], names: Sequence[str]) -> np.ndarray:
    """The probability of each label in each answer (N, C)."""
    return np.array([[(answer.probabilities or {}).get(name, 0.0) for name in names] for answer in answers])


class ClassifierEstimator(ClassifierMixin, SequenceEstimator):
    """One label a sequence: of words, or of numbers, (N, T) or (N, T, C) or a list of arrays (T, C) of any lengths."""

    task = "classify"
    task_of_numbers = "classify-series"

    def fit(self, X: Rows, y: Rows) -> "ClassifierEstimator":
        """Learn from texts, or from sequences of numbers, and their labels."""
        sources = self.sources(X, reset=True)
        labels = labels_of(y)
        self.classes_, self.by_text_ = known_classes(labels, len(sources))
        rows = [{"text": source, "label": str(label)} for source, label in zip(sources, labels, strict=True)]
        if len(self.classes_) > 1:
            task = self.task if holds_text(X) else self.task_of_numbers
            self.learn(rows, {"source": "text", "label": "label"}, task=task)
        return self

    def predict(self, X: Rows) -> Rows:
        """The most probable label of each sequence."""
        check_is_fitted(self, "classes_")
        sources = self.sources(X)
        if len(self.classes_) == 1:
            return like(X, [self.classes_[0]] * len(sources))
        return like(X, [self.by_text_[answer.text] for answer in self.answers(sources)])

    def predict_proba(self, X: Rows) -> Rows:
        """The probability of each of `classes_`."""
        check_is_fitted(self, "classes_")
        sources = self.sources(X)
        probabilities = np.ones((len(sources), 1))
        if len(self.classes_) > 1:
            probabilities = probabilities_of(self.answers(sources), list(self.by_text_))
        return table_like(X, probabilities / probabilities.sum(axis=1, keepdims=True), self.classes_)

    def sources(self, X: Rows, *, reset: bool = False) -> list[str]:
        """Texts, sequences of numbers as texts; arrays are checked as scikit-learn checks them."""
        if holds_text(X):
            return texts_of(X)
        if holds_arrays(X):
            return sequences_of(X)
        return sequences_of(validate_data(self, X, reset=reset, allow_nd=True))

    def __sklearn_tags__(self) -> Tags:
        """Numbers will do, too."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class MatcherEstimator(ClassifierMixin, SequenceEstimator):
    """One label a pair of texts: X has two columns, or is a list of pairs."""

    task = "match"

    def fit(self, X: Rows, y: Rows) -> "MatcherEstimator":
        """Learn from pairs and their labels."""
        sources, labels = pairs_of(X), labels_of(y)
        self.classes_, self.by_text_ = known_classes(labels, len(sources))
        rows = [
            dict(zip(("first", "second", "label"), (*split_items(source), str(label)), strict=True))
            for source, label in zip(sources, labels, strict=True)
        ]
        self.learn(rows, {"source": "first", "target": "second", "label": "label"})
        return self

    def predict(self, X: Rows) -> Rows:
        """The most probable label of each pair."""
        return like(X, [self.by_text_[answer.text] for answer in self.answers(pairs_of(X))])

    def predict_proba(self, X: Rows) -> Rows:
        """The probability of each of `classes_`."""
        answers = self.answers(pairs_of(X))
        return table_like(X, probabilities_of(answers, list(self.by_text_)), self.classes_)


class LabelSetEstimator(SequenceEstimator):
    """Any number of labels a text: y is a list of lists of labels, or an array of 0 and 1."""

    task = "label"

    def fit(self, X: Rows, y: Rows) -> "LabelSetEstimator":
        """Learn from texts and their labels."""
        sources, labels = texts_of(X), label_lists_of(y)
        require_rows(labels, len(sources), "y")
        self.as_array_ = isinstance(y, np.ndarray) and y.ndim == 2
        width = y.shape[1] if self.as_array_ else 0
        names = [str(at) for at in range(width)] or sorted({label for some in labels for label in some})
        self.classes_ = np.array(names)
        rows = [{"text": source, "labels": some} for source, some in zip(sources, labels, strict=True)]
        self.learn(rows, {"source": "text", "label": "labels"})
        return self

    def predict(self, X: Rows) -> Rows:
        """The labels of each text, the most probable first; an array of 0 and 1 where y was one."""
        predicted = [answer.value[0] for answer in self.answers(texts_of(X))]
        if self.as_array_:
            return np.array([[int(name in some) for name in self.classes_] for some in predicted])
        return like(X, predicted)

    def predict_proba(self, X: Rows) -> Rows:
        """The probability of each of `classes_`, each by itself."""
        return table_like(X, probabilities_of(self.answers(texts_of(X)), list(self.classes_)), self.classes_)

    def score(self, X: Rows, y: Rows) -> float:
        """F1 of each label, averaged."""
        predicted = [answer.value[0] for answer in self.answers(texts_of(X))]
        return MULTILABEL_MACRO_F1.value(predicted, label_lists_of(y))


def holds_text(X: Rows) -> bool:
    """Whether the first cell is a text, or a list of words."""
    if isinstance(X, str) or not hasattr(X, "__len__") or hasattr(X, "toarray"):
        return False
    try:
        columns = columns_of(X) if len(X) else []
    except TypeError:
        return False
    first = columns[0][0] if columns and columns[0] else None
    words = isinstance(first, list | tuple) and len(first) > 0 and isinstance(first[0], str)
    return isinstance(first, str) or words


def labels_of(y: Rows) -> list[object]:
    """One label a row."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    columns = columns_of(y)
    if len(columns) > 1 or getattr(y, "ndim", 1) > 1:
        return list(column_or_1d(y, warn=True))
    return columns[0]
