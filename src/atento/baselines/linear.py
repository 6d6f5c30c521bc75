"""Linear baselines: a label by multinomial logistic regression over features."""

import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from atento.baselines.explanation import Explanation, largest
from atento.baselines.validation import require_fitted, require_pairs
from atento.errors import InputError

# Axes: N examples, F features, C classes.

MAX_STEPS = 1000


class LinearModel(NamedTuple):
    """p(c | x) = softmax(W x + b)_c."""

    classes: list[Any]
    weights: NDArray[np.float64]  # (C, F)
    bias: NDArray[np.float64]  # (C,)

    def probabilities(self, features: Any) -> NDArray[np.float64]:
        """(N, C) of features (N, F), an array or a sparse matrix."""
        scores = np.asarray(features @ self.weights.T) + self.bias
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def contributions(self, features: Any, number: int) -> NDArray[np.float64]:
        """What each feature of one example (1, F) adds to the score of a class, beyond what it adds to the mean one."""
        row = features.toarray()[0] if hasattr(features, "toarray") else np.asarray(features)[0]
        return np.asarray(row * (self.weights[number] - self.weights.mean(axis=0)))


class LinearClassifier(ABC):
    """One label per source by logistic regression; leaves compute the features.

    Where there is one label only, or no feature, the most frequent label is predicted.
    """

    name: str
    summary: str
    state_types: ClassVar[tuple[type, ...]] = (LinearModel,)

    def __init__(self, *, inverse_penalty: float) -> None:
        self.inverse_penalty = require_positive(inverse_penalty)
        self.majority: str | None = None
        self.model: LinearModel | None = None  # None: the labels cannot be told apart

    def fit(self, sources: Sequence[Any], targets: Sequence[str]) -> Self:
        """Learn the features, then their weights."""
        require_pairs(self.name, sources, targets)
        self.majority = Counter(targets).most_common(1)[0][0]
        features = self.fit_features(sources)
        self.model = logistic_regression(features, targets, inverse_penalty=self.inverse_penalty)
        return self

    def predict(self, sources: Sequence[Any]) -> list[str]:
        """The most probable label of each source."""
        require_fitted(self.name, self.majority)
        if self.model is None or not len(sources):
            return [str(self.majority)] * len(sources)
        best = self.model.probabilities(self.features(sources)).argmax(axis=1)
        return [str(self.model.classes[number]) for number in best]

    def probabilities(self, sources: Sequence[Any]) -> list[dict[str, float]]:
        """The probability of each label, for each source."""
        majority = str(require_fitted(self.name, self.majority))
        if self.model is None or not len(sources):
            return [{majority: 1.0} for _ in sources]
        rows = self.model.probabilities(self.features(sources)).tolist()
        return [dict(zip(map(str, self.model.classes), row, strict=True)) for row in rows]

    def explain(self, source: Any) -> Explanation | None:
        """The features of a source that count most for its label; None where they have no names."""
        names = self.feature_names()
        if self.model is None or not names:
            return None
        features = self.features([source])
        number = int(self.model.probabilities(features)[0].argmax())
        what = f"what adds to the score of {self.model.classes[number]}, and what takes away"
        return Explanation(what, largest(names, self.model.contributions(features, number)))

    def feature_names(self) -> list[str]:
        """What each feature is called; nothing where they have no names that a person reads."""
        return []

    @abstractmethod
    def fit_features(self, sources: Sequence[Any]) -> Any:
        """Learn the features from the training sources, and return them (N, F)."""

    @abstractmethod
    def features(self, sources: Sequence[Any]) -> Any:
        """The features (N, F), an array or a sparse matrix."""


def logistic_regression(
    features: Any, targets: Sequence[Any], *, inverse_penalty: float, balanced: bool = False
) -> LinearModel | None:
    """The fitted model, by scikit-learn; None where all targets are equal or there is no feature."""
    from sklearn.exceptions import ConvergenceWarning  # slow to load
    from sklearn.linear_model import LogisticRegression

    if len(set(targets)) == 1 or not features.shape[1]:
        return None
    model = LogisticRegression(C=inverse_penalty, max_iter=MAX_STEPS, class_weight="balanced" if balanced else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # after so many steps it is near enough
        model.fit(features, list(targets))
    weights, bias = np.asarray(model.coef_, dtype=np.float64), np.asarray(model.intercept_, dtype=np.float64)
    if len(weights) == 1:  # of two classes the score of the second alone: softmax(−s / 2, s / 2) = sigmoid(s)
        weights, bias = (np.concatenate([-half, half]) for half in (weights / 2, bias / 2))
    return LinearModel(model.classes_.tolist(), weights, bias)


def require_positive(inverse_penalty: float) -> float:
    """Refuse an inverse penalty (scikit-learn's C) that is not above 0."""
    if not inverse_penalty > 0:
        raise InputError(
            "inverse_penalty must be more than 0.",
            found=f"inverse_penalty={inverse_penalty}",
            fix="inverse_penalty=1.0: the larger, the less weights are pulled to zero",
        )
    return inverse_penalty
