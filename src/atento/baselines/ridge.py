"""Ridge regression in closed form: from sums over rows that come a few at a time, or from one matrix."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Axes: N rows, P inputs, O outputs.

Numbers = NDArray[np.float64]


class RegressionSums(NamedTuple):
    """All that linear regression needs of rows x (P,), y (O,), as sums over the rows."""

    rows: float  # Σ 1; where rows are weighed, all sums are
    inputs: Numbers  # (P,) Σ x
    outputs: Numbers  # (O,) Σ y
    gram: Numbers  # (P, P) Σ x xᵀ
    cross: Numbers  # (P, O) Σ x yᵀ
    squares: float  # Σ y²

    @classmethod
    def of_nothing(cls) -> "RegressionSums":
        """The sums over no rows."""
        return cls(0, *(np.zeros(0),) * 2, *(np.zeros((0, 0)),) * 2, 0.0)

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

    def solve(
        self, *ridges: float, centred: bool, priors: Sequence[Numbers] = (), penalties: Numbers | None = None
    ) -> list[tuple[Numbers, Numbers]]:
        """Weights (P, O) and bias (O,) for each prior w₀ (P, O), none: zero, and each ridge:
        (X̃ᵀX̃ + α K) (w − w₀) = X̃ᵀ(ỹ − X̃w₀), K the diagonal of the penalties (P,), none: ones.

        α is a share of the mean variance of the inputs x/√k. X̃ᵀX̃ of these is decomposed once, V D Vᵀ; then
        √K (w − w₀) = V (D + α)⁻¹ Vᵀ X̃ᵀ(ỹ − X̃w₀), without the directions of no variance.
        """
        count = self.rows or 1.0
        inputs, outputs = self.inputs / count, self.outputs / count
        if not centred:
            inputs, outputs = 0 * inputs, 0 * outputs
        gram, cross = self.gram - count * np.outer(inputs, inputs), self.cross - count * np.outer(inputs, outputs)
        scale = np.ones(len(gram)) if penalties is None else penalties**-0.5  # (P,)
        scaled = gram * np.outer(scale, scale)
        eigenvalues, directions = np.linalg.eigh(scaled)  # (P,), (P, P)
        found = []
        for prior in priors or [np.zeros_like(cross)]:
            rotated = directions.T @ (scale[:, None] * (cross - gram @ prior))
            for ridge in ridges:
                raised = eigenvalues + ridge * scaled.trace() / len(gram)
                kept = raised > np.finfo(np.float64).eps * len(gram) * max(raised[-1], 0.0)
                moved = directions @ (rotated * np.where(kept, 1 / np.where(kept, raised, 1.0), 0.0)[:, None])
                weights = prior + scale[:, None] * moved
                found.append((weights, outputs - inputs @ weights))
        return found

    def error_products(self, solved: Sequence[tuple[Numbers, Numbers]]) -> Numbers:
        """The mean of eᵢ eⱼ (K, K) over the rows and outputs, e = y − wᵀx − b the errors of each solution."""
        found = np.empty((len(solved), len(solved)))
        both = [float((weights * self.cross).sum() + self.outputs @ bias) for weights, bias in solved]  # Σ y ŷ
        for at, (weights, bias) in enumerate(solved):
            moved, sums = self.gram @ weights, self.inputs @ weights  # Σ x (wᵀx)ᵀ, Σ wᵀx
            for other, (their, theirs) in enumerate(solved[: at + 1]):
                predicted = float((their * moved).sum() + self.inputs @ their @ bias + sums @ theirs)
                predicted += self.rows * float(bias @ theirs)
                found[at, other] = found[other, at] = self.squares - both[at] - both[other] + predicted
        np.fill_diagonal(found, found.diagonal().clip(min=0.0))
        return found / ((self.rows or 1.0) * len(self.outputs))


def regression_sums(
    rows: Iterable[tuple[Numbers, Numbers]], weigh: Callable[[Numbers], Numbers] = lambda x: np.ones(len(x))
) -> RegressionSums:
    """The sums over batches of rows x (N, P), y (N, O), in one pass; `weigh(x)` (N,) is how much each row counts."""
    found: RegressionSums | None = None
    for x, y in rows:
        weights = weigh(x)
        weighed = x * weights[:, None]
        squares = float(weights @ np.square(y).sum(axis=1))
        more = RegressionSums(weights.sum(), weighed.sum(axis=0), weights @ y, weighed.T @ x, weighed.T @ y, squares)
        found = more if found is None else found.merged(more)
    return found if found is not None else RegressionSums.of_nothing()


def ridge_regression(features: Numbers, targets: Numbers, penalty: float) -> Numbers:
    """W = (XᵀX + α N I)⁻¹ Xᵀ Y, with X (N, P), Y (N, O) -> (P, O)."""
    gram = features.T @ features
    gram[np.diag_indices_from(gram)] += penalty * len(features)
    return np.asarray(np.linalg.solve(gram, features.T @ targets))
