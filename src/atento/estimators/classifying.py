"""Estimators of labels: one for each sequence, one for each pair of texts, any number for each text."""

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from atento.data.records import split_items
from atento.data.sources.in_memory import is_missing
from atento.errors import InputError
from atento.estimators.estimator import SequenceEstimator
from atento.estimators.frames import Rows, columns_of, require_present, require_rows
from atento.estimators.rows import holds_arrays, label_lists_of, pairs_of, sequences_of
from atento.metrics.labels import MULTILABEL_MACRO_F1
from atento.tasks.reading.reader import compose
from atento.tasks.task import Answer


def known_classes(labels: list[object], rows: int) -> tuple[np.ndarray, dict[str, object]]:
    """The different labels in order, and which of them a text that a model says stands for."""
    require_rows(labels, rows, "y")
    kinds = {isinstance(label, str) for label in labels}
    if len(kinds) > 1:
        raise InputError(
            "y holds texts and other labels.",
            found=", ".join(sorted({type(label).__name__ for label in labels})),
            fix="give labels of one type, e.g. [str(label) for label in y]",
        )
    truth = np.asarray(labels)
    if truth.dtype.kind == "f":
        assert_all_finite(truth, input_name="y")
    check_classification_targets(labels)
    classes = np.unique(truth)
    if len(classes) < 2:
        raise InputError(
            "y has one class, and two are needed to learn.", found=repr(classes[:1].tolist()[0]), fix="add other rows"
        )
    return classes, {compose(str(label)).strip(): label for label in classes}


def probabilities_of(answers: Sequence[Answer], names: Sequence[str]) -> np.ndarray:
    """The probability of each label in each answer (N, C)."""
    rows = ((answer.probabilities or {}).get(name, 0.0) for answer in answers for name in names)
    return np.fromiter(rows, np.float64, len(answers) * len(names)).reshape(len(answers), len(names))


class LabelMixin(ClassifierMixin):
    """Accuracy with labels read as `fit` reads them."""

    def score(self, X: Rows, y: Rows, sample_weight: Rows = None) -> float:
        """The share of rows that get their label.

        X: as for `predict`.
        y: the right labels.
        sample_weight: how much each row counts.
        """
        truth, rows = labels_of(y), listed(X)
        return float(accuracy_score(truth, labels_of(self.predict(rows)), sample_weight=sample_weight))


class ClassifierEstimator(LabelMixin, SequenceEstimator):
    """One label per sequence: of words, or of numbers, (N, T) or (N, T, C) or a list of arrays (T, C) of any length."""

    task = "classify"
    task_of_numbers = "classify-series"

    def fit(self, X: Rows, y: Rows) -> "ClassifierEstimator":
        """Learn from sequences and their labels.

        X: texts, or sequences of numbers.
        y: one label for each; blanks at the ends of labels that are texts are removed, as in files.
        """
        rows = listed(X)
        sources = self.sources(rows, reset=True)
        labels = labels_of(y)
        self.classes_, self.by_text_ = known_classes(labels, len(sources))
        examples = [{"text": source, "label": str(label)} for source, label in zip(sources, labels, strict=True)]
        task = self.task if holds_text(rows) else self.task_of_numbers
        self.learn(examples, {"source": "text", "label": "label"}, task=task)
        return self

    def predict(self, X: Rows) -> Rows:
        """The most probable label of each sequence.

        X: as for `fit`.
        """
        check_is_fitted(self, "classes_")
        rows = listed(X)
        return self.like(rows, [self.by_text_[answer.text] for answer in self.answers(self.sources(rows))])

    def predict_proba(self, X: Rows) -> Rows:
        """The probability of each of `classes_`.

        X: as for `fit`.
        """
        check_is_fitted(self, "classes_")
        rows = listed(X)
        probabilities = probabilities_of(self.answers(self.sources(rows)), list(self.by_text_))
        return self.table_like(rows, probabilities / probabilities.sum(axis=1, keepdims=True), self.classes_)

    def sources(self, X: Rows, *, reset: bool = False) -> list[str]:
        """Texts, sequences of numbers as texts; arrays are checked as scikit-learn checks them.

        X: the rows.
        reset: whether these are the rows it is fitted on.
        """
        if holds_text(X):
            return super().sources(X, reset=reset)
        if holds_arrays(X):
            return sequences_of(X)
        return sequences_of(validate_data(self, X, reset=reset, allow_nd=True))

    def __sklearn_tags__(self) -> Tags:
        """Numbers will do, too."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class MatcherEstimator(LabelMixin, SequenceEstimator):
    """One label per pair of texts: X has two columns, or is a list of pairs."""

    task = "match"
    reads = staticmethod(pairs_of)

    def fit(self, X: Rows, y: Rows) -> "MatcherEstimator":
        """Learn from pairs and their labels.

        X: two columns, or a list of pairs.
        y: one label for each; blanks at the ends of labels that are texts are removed, as in files.
        """
        sources, labels = self.sources(X, reset=True), labels_of(y)
        self.classes_, self.by_text_ = known_classes(labels, len(sources))
        rows = [
            dict(zip(("first", "second", "label"), (*split_items(source), str(label)), strict=True))
            for source, label in zip(sources, labels, strict=True)
        ]
        self.learn(rows, {"source": "first", "target": "second", "label": "label"})
        return self

    def predict(self, X: Rows) -> Rows:
        """The most probable label of each pair.

        X: as for `fit`.
        """
        check_is_fitted(self, "classes_")
        return self.like(X, [self.by_text_[answer.text] for answer in self.answers(self.sources(X))])

    def predict_proba(self, X: Rows) -> Rows:
        """The probability of each of `classes_`.

        X: as for `fit`.
        """
        check_is_fitted(self, "classes_")
        answers = self.answers(self.sources(X))
        return self.table_like(X, probabilities_of(answers, list(self.by_text_)), self.classes_)


class LabelSetEstimator(SequenceEstimator):
    """Any number of labels a text: y is a list of lists of labels, or an array of 0 and 1."""

    task = "label"

    def fit(self, X: Rows, y: Rows) -> "LabelSetEstimator":
        """Learn from texts and their labels.

        X: texts.
        y: a list of labels for each, or an array of 0 and 1.
        """
        sources, labels = self.sources(X, reset=True), label_lists_of(y)
        require_rows(labels, len(sources), "y")
        self.as_array_ = isinstance(y, np.ndarray) and y.ndim == 2
        width = y.shape[1] if self.as_array_ else 0
        names = [str(at) for at in range(width)] or sorted({label for some in labels for label in some})
        self.classes_ = np.array(names)
        rows = [{"text": source, "labels": some} for source, some in zip(sources, labels, strict=True)]
        self.learn(rows, {"source": "text", "label": "labels"})
        return self

    def predict(self, X: Rows) -> Rows:
        """The labels of each text, the most probable first; an array of 0 and 1 where y was one.

        X: as for `fit`.
        """
        predicted = [answer.value[0] for answer in self.answers(self.sources(X))]
        if self.as_array_:
            return np.array([[int(name in some) for name in self.classes_] for some in predicted])
        return self.like(X, predicted)

    def predict_proba(self, X: Rows) -> Rows:
        """The probability of each of `classes_`, each by itself.

        X: as for `fit`.
        """
        answers = self.answers(self.sources(X))
        return self.table_like(X, probabilities_of(answers, list(self.classes_)), self.classes_)

    def score(self, X: Rows, y: Rows) -> float:
        """F1 of each label, averaged.

        X: as for `fit`.
        y: the right labels.
        """
        predicted = [answer.value[0] for answer in self.answers(self.sources(X))]
        return MULTILABEL_MACRO_F1.value(predicted, label_lists_of(y))


def listed(X: Rows) -> Rows:
    """Rows that come one by one, as a generator gives them, as a list; all others as they are."""
    return list(X) if isinstance(X, Iterator) else X


def holds_text(X: Rows) -> bool:
    """Whether the first cell that is there is a text, or a list of words; rows of which none is there are no numbers
    either.
    """
    if isinstance(X, str | bytes) or (isinstance(X, list | tuple) and not X):
        return True
    if not hasattr(X, "__len__") or hasattr(X, "toarray"):
        return False
    try:
        columns = columns_of(X) if len(X) else []
    except TypeError:
        return False
    cells = columns[0] if columns else []
    first = next((cell for cell in cells if not is_missing(cell)), None)
    words = isinstance(first, list | tuple) and len(first) > 0 and isinstance(first[0], str)
    return isinstance(first, str | bytes) or words or (len(cells) > 0 and all(cell is None for cell in cells))


def labels_of(y: Rows) -> list[object]:
    """One label per row; of texts the blanks at both ends are removed, as readers of files do."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    columns = columns_of(listed(y))
    cells = columns[0]
    if len(columns) > 1 or getattr(y, "ndim", 1) > 1:
        cells = list(column_or_1d(y, warn=True))
    cells = [cell.decode(errors="replace") if isinstance(cell, bytes) else cell for cell in cells]
    require_present(cells, "y", blank=True)
    return [compose(cell).strip() if isinstance(cell, str) else cell for cell in cells]
