"""Linear models of the n-grams that a text has: one logistic regression for each label, over presence times inverse
document frequency, or over presence times the log-count ratio of naive Bayes (NB-SVM, Wang & Manning, 2012).

Solved in a second or so for thousands of texts, so that folds of the training part can choose between them.
"""

import warnings
from collections.abc import Sequence
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.baselines.linear import LinearModel

# Axes: N texts, F terms, C labels.

Scaling = Literal["idf", "ratio", "both"]
SMOOTHING = 1.0  # α of the counts
FOLDS = 4
SCALINGS: dict[Scaling, str] = {
    "idf": "inverse document frequency",
    "ratio": "log-count ratios of naive Bayes",
    "both": "inverse document frequency and log-count ratios of naive Bayes",
}
INVERSE_PENALTIES = (1.0, 10.0, 100.0, 1000.0)
MOST_CHOSEN_BY, LABELS_CHOSEN_BY = 6_000, 6  # texts and labels by which folds choose; all of them are then fitted
MAX_STEPS = 200

Presence = Any  # (N, F) of 0 and 1, as scipy.sparse has it
Matrix = NDArray[np.float64]


class LinearSolution(NamedTuple):
    """scores = W x + b of rows x_t = s_t / √Σ s² over the terms that a text has."""

    weights: Matrix  # (F, C)
    scales: Matrix  # (F,) s
    bias: Matrix  # (C,)

    def scores(self, presence: Presence) -> Matrix:
        """(N, C)."""
        return np.asarray(unit_rows(presence, self.scales) @ self.weights + self.bias)


def log_count_ratios(features: Presence, truth: NDArray[np.bool_]) -> Matrix:
    """r = log((p / |p|₁) / (q / |q|₁)), p = α + the true rows that have a term, q = α + the others that have it.

    (Eq. 1 of the paper, with counts that are binarised.)
    """
    true = SMOOTHING + np.asarray((features[truth] > 0).sum(axis=0)).ravel()
    false = SMOOTHING + np.asarray((features[~truth] > 0).sum(axis=0)).ravel()
    return np.asarray(np.log(true / true.sum()) - np.log(false / false.sum()))


def unit_rows(presence: Presence, scales: Matrix) -> Any:
    """Presence (N, F) times a scale of each term, rows of length one."""
    from scipy.sparse import csr_matrix  # slow to load

    rows = csr_matrix(presence, dtype=np.float64)
    numbers = rows.data * scales[rows.indices]
    lengths = np.sqrt(csr_matrix((numbers**2, rows.indices, rows.indptr), shape=rows.shape).sum(axis=1)).A1
    numbers /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(rows.indptr))
    return csr_matrix((numbers, rows.indices, rows.indptr), shape=rows.shape)


def solve(presence: Presence, truth: NDArray[np.bool_], scaling: Scaling, inverse_penalty: float) -> LinearSolution:
    """One logistic regression for each label of truth (N, C); of two that exclude each other the second is the first
    with its sign turned.
    """
    examples, terms = presence.shape
    counts = np.asarray(presence.sum(axis=0)).ravel()
    scales = np.ones(terms) if scaling == "ratio" else np.log((1 + examples) / (1 + counts)) + 1
    rows = unit_rows(presence, scales)
    weights, bias = np.zeros((terms, truth.shape[1])), np.zeros(truth.shape[1])
    opposed = truth.shape[1] == 2 and bool((truth[:, 0] != truth[:, 1]).all())
    for label, true in enumerate(truth.T):
        if opposed and label == 1:
            weights[:, 1], bias[1] = -weights[:, 0], -bias[0]
            continue
        if true.all() or not true.any():
            bias[label] = np.log((true.sum() + SMOOTHING) / ((~true).sum() + SMOOTHING))
            continue
        ratios = np.ones(terms) if scaling == "idf" else log_count_ratios(rows, true)
        weights[:, label], bias[label] = logistic(rows, true, ratios, inverse_penalty)
    return LinearSolution(weights, scales, bias)


def logistic(rows: Any, true: NDArray[np.bool_], ratios: Matrix, inverse_penalty: float) -> tuple[Matrix, float]:
    """Weights (F,) of the rows and the bias, fitted to rows whose columns are scaled by the ratios."""
    from scipy.sparse import csr_matrix  # slow to load
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=inverse_penalty, solver="liblinear", max_iter=MAX_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # after so many steps it is near enough
        model.fit(csr_matrix((rows.data * ratios[rows.indices], rows.indices, rows.indptr), shape=rows.shape), true)
    return np.asarray(model.coef_[0]) * ratios, float(model.intercept_[0])


def solve_best(presence: Presence, truth: NDArray[np.bool_], *, several: bool) -> tuple[LinearSolution, str]:
    """The solution whose scaling and penalty folds of these texts choose, and what they chose in words.

    One label for each text: by the share of texts whose label does not have the largest score. Several: by the
    cross-entropy of each label.
    """
    choices = list(product(SCALINGS, INVERSE_PENALTIES))
    scaling, penalty = choices[0]
    order = np.random.default_rng(0).permutation(presence.shape[0])[:MOST_CHOSEN_BY]
    if len(order) >= FOLDS:
        some, true = presence[order], truth[order]
        if several:
            true = true[:, np.argsort(-true.sum(axis=0), kind="stable")[:LABELS_CHOSEN_BY]]
        costs = [fold_cost(some, true, *choice, several=several) for choice in choices]
        scaling, penalty = choices[int(np.argmin(costs))]
    return solve(presence, truth, scaling, penalty), f"scaled by {SCALINGS[scaling]}, C = {penalty:g}"


def fold_cost(
    presence: Presence, truth: NDArray[np.bool_], scaling: Scaling, inverse_penalty: float, *, several: bool
) -> float:
    """The mean cost of held-out texts; every fourth is held out of one fit."""
    fold, costs = np.arange(presence.shape[0]) % FOLDS, []
    for held in range(FOLDS):
        scores = solve(presence[fold != held], truth[fold != held], scaling, inverse_penalty).scores(
            presence[fold == held]
        )
        true = truth[fold == held]
        if several:
            costs.append(float(np.logaddexp(0.0, np.where(true, -scores, scores)).mean()))
        else:
            costs.append(float((scores.argmax(axis=1) != true.argmax(axis=1)).mean()))
    return float(np.mean(costs))


def ratio_model(features: Presence, targets: Sequence[Any], *, inverse_penalty: float) -> LinearModel | None:
    """NB-SVM as a model of one label for each text; None where all targets are equal or there is no feature."""
    classes = sorted(set(targets))
    if len(classes) == 1 or not features.shape[1]:
        return None
    truth = np.array([[target == one for one in classes] for target in targets])
    if len(classes) > 2:
        found = solve(features, truth, "ratio", inverse_penalty)
        return LinearModel(classes, found.weights.T, found.bias)
    second = solve(features, truth[:, 1:], "ratio", inverse_penalty)  # softmax(−s / 2, s / 2) = sigmoid(s)
    half, bias = second.weights.T / 2, second.bias / 2
    return LinearModel(classes, np.concatenate([-half, half]), np.concatenate([-bias, bias]))
