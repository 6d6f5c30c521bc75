"""Linear baselines: a label by multinomial logistic regression over features."""

import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

from atento.baselines.validation import require_fitted, require_pairs
from atento.errors import InputError

# Axes: N examples, F features.

MAX_STEPS = 1000


class LinearClassifier(ABC):
    """One label per source by logistic regression; leaves compute the features.

    Where there is one label only, or no feature, the most frequent label is predicted.
    """

    name: str
    summary: str

    def __init__(self, *, inverse_penalty: float) -> None:
        self.inverse_penalty = require_positive(inverse_penalty)
        self.majority: str | None = None
        self.model: Any = None  # None: the labels cannot be told apart

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
        return [str(label) for label in self.model.predict(self.features(sources))]

    @abstractmethod
    def fit_features(self, sources: Sequence[Any]) -> Any:
        """Learn the features from the training sources, and return them (N, F)."""

    @abstractmethod
    def features(self, sources: Sequence[Any]) -> Any:
        """The features (N, F), an array or a sparse matrix."""


def logistic_regression(
    features: Any, targets: Sequence[Any], *, inverse_penalty: float, balanced: bool = False
) -> Any:
    """Scikit-learn's fitted model; None where all targets are equal or there is no feature."""
    from sklearn.exceptions import ConvergenceWarning  # slow to load
    from sklearn.linear_model import LogisticRegression

    if len(set(targets)) == 1 or not features.shape[1]:
        return None
    weights = "balanced" if balanced else None
    model = LogisticRegression(C=inverse_penalty, max_iter=MAX_STEPS, class_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # after so many steps it is near enough
        return model.fit(features, list(targets))


def require_positive(inverse_penalty: float) -> float:
    """Refuse an inverse penalty (scikit-learn's C) that is not above 0."""
    if not inverse_penalty > 0:
        raise InputError(
            "inverse_penalty must be more than 0.",
            found=f"inverse_penalty={inverse_penalty}",
            fix="inverse_penalty=1.0: the larger, the less weights are pulled to zero",
        )
    return inverse_penalty
