"""Linear baselines: a label by multinomial logistic regression over features, or, where there are too many labels for
that, by the nearest mean of a class.
"""

import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from atento.baselines.explanation import Explanation, largest
from atento.baselines.probabilities import LabelProbabilities
from atento.baselines.validation import require_fitted, require_pairs
from atento.errors import InputError

# Axes: N examples, F features, C classes.

MAX_STEPS = 1000
COPIES_OF_WEIGHTS = 25  # and ...
COPIES_OF_SCORES = 4  # ... that logistic regression holds (L-BFGS with ten earlier steps)
MOST_NUMBERS = 100_000_000  # that it may hold, 800 MB; with more the class means are taken
MANY_CLASSES, FEW_EXAMPLES = 100, 2  # more classes, with fewer examples each on average: class means as well
SCORES_AT_ONCE = 2**22  # of examples × classes: 32 MB
LEAST_SPREAD = 0.001  # of the squared length of an example lies within its class, at least

BY_MEANS = "by the nearest class mean, as there are too many classes for logistic regression"


class SparseWeights(NamedTuple):
    """A matrix (C, F) that is mostly 0, as arrays: the numbers of each row one after the other."""

    numbers: NDArray[np.float64]
    columns: NDArray[np.integer]
    ends: NDArray[np.integer]  # (C + 1,)
    features: int

    def matrix(self) -> Any:
        """As scipy has it."""
        from scipy.sparse import csr_array  # slow to load

        return csr_array((self.numbers, self.columns, self.ends), shape=(len(self.ends) - 1, self.features))


class LinearModel(NamedTuple):
    """p(c | x) = softmax(W x + b)_c."""

    classes: list[Any]
    weights: NDArray[np.float64] | SparseWeights  # (C, F)
    bias: NDArray[np.float64]  # (C,)

    @property
    def matrix(self) -> Any:
        """The weights (C, F), an array or a sparse matrix."""
        return self.weights.matrix() if isinstance(self.weights, SparseWeights) else self.weights

    def probabilities(self, features: Any) -> Iterator[NDArray[np.float64]]:
        """(N, C) of features (N, F), an array or a sparse matrix; some rows at a time."""
        transposed, at_once = self.matrix.T, max(1, SCORES_AT_ONCE // len(self.classes))
        for first in range(0, features.shape[0], at_once):
            scores = dense(features[first : first + at_once] @ transposed) + self.bias
            raised = np.exp(scores - scores.max(axis=1, keepdims=True))
            yield np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def contributions(self, features: Any, number: int) -> NDArray[np.float64]:
        """What each feature of one example (1, F) adds to the score of a class, beyond what it adds to the mean one."""
        row, own, mean = dense(features)[0], dense(self.matrix[[number]])[0], np.asarray(self.matrix.mean(axis=0))
        return np.asarray(row * (own - mean))


def dense(matrix: Any) -> NDArray[np.float64]:
    """A matrix, sparse or not, as an array."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


class Solver(Protocol):
    """Fits a linear model to features (N, F)."""

    def __call__(self, features: Any, targets: Sequence[Any], *, inverse_penalty: float) -> LinearModel | None:
        """The model; None where the labels cannot be told apart."""


class LinearClassifier(ABC):
    """One label per source by a linear model; leaves compute the features.

    Where there is one label only, or no feature, the most frequent label is predicted.
    """

    name: str
    summary: str
    state_types: ClassVar[tuple[type, ...]] = (LinearModel, SparseWeights)

    def __init__(self, *, inverse_penalty: float, solve: Solver | None = None) -> None:
        self.inverse_penalty = require_positive(inverse_penalty)
        self.solve: Solver = solve if solve is not None else linear_model
        self.summary = getattr(self, "summary", "")
        self.majority: str | None = None
        self.model: LinearModel | None = None  # None: the labels cannot be told apart

    def fit(self, sources: Sequence[Any], targets: Sequence[str]) -> Self:
        """Learn the features, then their weights."""
        require_pairs(self.name, sources, targets)
        self.majority = Counter(targets).most_common(1)[0][0]
        features = self.fit_features(sources)
        self.model = self.solve(features, targets, inverse_penalty=self.inverse_penalty)
        if self.model is not None and isinstance(self.model.weights, SparseWeights):
            self.summary = f"{self.summary}, {BY_MEANS}"
        return self

    def predict(self, sources: Sequence[Any]) -> list[str]:
        """The most probable label of each source."""
        require_fitted(self.name, self.majority)
        if self.model is None or not len(sources):
            return [str(self.majority)] * len(sources)
        rows = self.model.probabilities(self.features(sources))
        return [str(self.model.classes[number]) for some in rows for number in some.argmax(axis=1)]

    def probabilities(self, sources: Sequence[Any]) -> Sequence[Mapping[str, float]]:
        """The probability of each label, for each source."""
        majority = str(require_fitted(self.name, self.majority))
        if self.model is None or not len(sources):
            return [{majority: 1.0} for _ in sources]
        columns = {str(label): number for number, label in enumerate(self.model.classes)}
        rows = self.model.probabilities(self.features(sources))
        return [LabelProbabilities(columns, row) for some in rows for row in some.astype(np.float32)]

    def explain(self, source: Any) -> Explanation | None:
        """The features of a source that count most for its label; None where they have no names."""
        names = self.feature_names()
        if self.model is None or not names:
            return None
        features = self.features([source])
        number = int(next(self.model.probabilities(features))[0].argmax())
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


def linear_model(
    features: Any, targets: Sequence[Any], *, inverse_penalty: float, balanced: bool = False
) -> LinearModel | None:
    """The fitted model: logistic regression where its numbers fit into a bound and classes have examples enough, else
    class means. None where all targets are equal or there is no feature.
    """
    classes, (examples, width) = len(set(targets)), features.shape
    if classes == 1 or not width:
        return None
    held = classes * (COPIES_OF_WEIGHTS * width + COPIES_OF_SCORES * examples)
    if held > MOST_NUMBERS or least_examples(classes) * classes > examples:
        return class_means(features, targets)
    return logistic_regression(features, targets, inverse_penalty=inverse_penalty, balanced=balanced)


def least_examples(classes: int) -> int:
    """How many examples a class should have, so that weights are fitted for it; of few classes each has weights."""
    return FEW_EXAMPLES if classes > MANY_CLASSES else 1


def class_means(features: Any, targets: Sequence[Any]) -> LinearModel:
    """Classes as Gaussians around their means m_c, all of one variance: p(c | x) ∝ n_c exp(−|x − m_c|² / 2σ²).

    This is linear in x, and in closed form. σ² is the mean squared deviation of a number that is not 0 from the mean of
    its class: most numbers of a sparse example are 0 in every class.
    """
    from scipy.sparse import csr_array  # slow to load

    classes = sorted(set(targets))
    place = {label: number for number, label in enumerate(classes)}
    rows, of_row = csr_array(features), np.array([place[target] for target in targets])
    counts = np.bincount(of_row)
    average = csr_array((1 / counts[of_row], (of_row, np.arange(len(of_row)))), shape=(len(classes), len(of_row)))
    means = csr_array(average @ rows)  # (C, F)
    lengths, squares = np.asarray(means.multiply(means).sum(axis=1)), float(rows.multiply(rows).sum())
    within = max(  # the squared distance of an example from its mean
        (squares - float(counts @ lengths)) / max(1, len(of_row) - len(classes)), LEAST_SPREAD * squares / len(of_row)
    )
    variance = within * len(of_row) / max(1, rows.nnz) or 1.0
    weights = SparseWeights(means.data / variance, means.indices, means.indptr, means.shape[1])
    return LinearModel(list(classes), weights, np.log(counts / len(of_row)) - lengths / (2 * variance))


def logistic_regression(
    features: Any, targets: Sequence[Any], *, inverse_penalty: float, balanced: bool
) -> LinearModel:
    """The fitted model, by scikit-learn."""
    from sklearn.exceptions import ConvergenceWarning  # slow to load
    from sklearn.linear_model import LogisticRegression

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
