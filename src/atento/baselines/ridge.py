"""Ridge regression in closed form: from sums over rows that come a few at a time, or from one matrix."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Axes: N rows, P inputs, O outputs.

Numbers = NDArray[np.float64]


class RegressionSums(NamedTuple):
    """All that linear regression needs of rows x (P,), y (O,), as sums over the rows."""

    rows: int
    inputs: Numbers  # (P,) Σ x
    outputs: Numbers  # (O,) Σ y
    gram: Numbers  # (P, P) Σ x xᵀ
    cross: Numbers  # (P, O) Σ x yᵀ
    squares: float  # Σ y²

    def merged(self, other: "RegressionSums") -> "RegressionSums":
        """The sums over the rows of both."""
        return RegressionSums(
            self.rows + other.rows,
            self.inputs + other.inputs,
            self.outputs + other.outputs,
            self.gram + other.gram,
            self.cross + other.cross,
            self.squares + other.squares,
        )

    def solve(self, *ridges: float, centred: bool) -> list[tuple[Numbers, Numbers]]:
        """Weights (P, O) and bias (O,) for each ridge: (X̃ᵀX̃ + α I) w = X̃ᵀỹ, α a share of the mean variance.

        X̃ᵀX̃ is decomposed once, V D Vᵀ; then w = V (D + α)⁻¹ Vᵀ X̃ᵀỹ, without the directions of no variance.
        """
        count = max(1, self.rows)
        inputs, outputs = self.inputs / count, self.outputs / count
        if not centred:
            inputs, outputs = 0 * inputs, 0 * outputs
        gram, cross = self.gram - count * np.outer(inputs, inputs), self.cross - count * np.outer(inputs, outputs)
        eigenvalues, directions = np.linalg.eigh(gram)  # (P,), (P, P)
        rotated = directions.T @ cross
        found = []
        for ridge in ridges:
            raised = eigenvalues + ridge * gram.trace() / len(gram)
            kept = raised > np.finfo(np.float64).eps * len(gram) * max(raised[-1], 0.0)
            weights = directions @ (rotated * np.where(kept, 1 / np.where(kept, raised, 1.0), 0.0)[:, None])
            found.append((weights, outputs - inputs @ weights))
        return found

    def mean_squared_error(self, weights: Numbers, bias: Numbers) -> float:
        """The mean of (y − wᵀx − b)² over the rows and outputs."""
        predicted = np.einsum("ph,pq,qh->", weights, self.gram, weights, optimize=True)
        predicted += 2 * float(self.inputs @ weights @ bias) + self.rows * float(bias @ bias)
        both = float((weights * self.cross).sum() + self.outputs @ bias)
        return max(0.0, (self.squares - 2 * both + float(predicted)) / max(1, self.rows * len(bias)))


def regression_sums(rows: Iterable[tuple[Numbers, Numbers]]) -> RegressionSums:
    """The sums over batches of rows x (N, P), y (N, O), in one pass."""
    found: RegressionSums | None = None
    for x, y in rows:
        more = RegressionSums(len(x), x.sum(axis=0), y.sum(axis=0), x.T @ x, x.T @ y, float(np.square(y).sum()))
        found = more if found is None else found.merged(more)
    return found if found is not None else RegressionSums(0, *(np.zeros(0),) * 2, *(np.zeros((0, 0)),) * 2, 0.0)


def ridge_regression(features: Numbers, targets: Numbers, penalty: float) -> Numbers:
    """W = (XᵀX + α N I)⁻¹ Xᵀ Y, with X (N, P), Y (N, O) -> (P, O)."""
    gram = features.T @ features
    gram[np.diag_indices_from(gram)] += penalty * len(features)
    return np.asarray(np.linalg.solve(gram, features.T @ targets))
