"""Whether a latent path recreates a flow: its next step, and the true state, are predictable from its position.

Both are measured on the last part of the time, by a model of the time before.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atento.errors import InputError

# Axes: T time, Z latent, D state, M landmarks, K neighbours.

Numbers = NDArray[np.float64]

HELD_OUT = 0.3  # the last share of the time
LANDMARKS = 400
RIDGE = 1e-4
TINY = 1e-13  # of the largest eigenvalue: smaller ones are rounding


class StepErrors(NamedTuple):
    """The prediction errors of the steps of held-out paths, one path after the other."""

    squared_errors: Numbers  # of step − predicted step
    squared_deviations: Numbers  # of step − mean step

    @property
    def r2(self) -> float:
        """1 − Σ squared errors / Σ squared deviations."""
        return r_squared(float(self.squared_errors.sum()), float(self.squared_deviations.sum()))


def next_step_r2(latents: ArrayLike, *, neighbours: int = 10, held_out: float = HELD_OUT) -> float:
    """1 − Σ‖Δ − Δ̂‖² / Σ‖Δ − Δ̄‖² of the steps Δ_t = z_{t+1} − z_t of a path (T, Z).

    The step is predicted, not the position: a slow path always stays near. For a path that never moves it is 0.
    """
    before, after = split_path(as_path("latents", latents), held_out)
    return predict_steps([before], [after], neighbours=neighbours).r2


def split_path(path: Numbers, held_out: float = HELD_OUT) -> tuple[Numbers, Numbers]:
    """A path (T, Z) cut in two at a position that both parts share: every step is in exactly one part."""
    cut = held_out_start(len(path) - 1, held_out)
    return path[: cut + 1], path[cut:]


def predict_steps(before: Sequence[Numbers], after: Sequence[Numbers], *, neighbours: int = 10) -> StepErrors:
    """Predict each step of the later paths (T, Z) as the mean step of the nearest positions of the earlier ones.

    (Lorenz, 1969: analogues.)
    """
    known = sum(len(path) - 1 for path in before)
    if not 1 <= neighbours <= known:
        raise InputError(
            "a step is predicted from neighbours among the earlier steps.",
            found=f"neighbours={neighbours}, {known} steps before the held-out time",
            fix=f"a longer path, or neighbours from 1 to {known}",
        )
    positions, queries = (np.concatenate([path[:-1] for path in paths]) for paths in (before, after))
    steps, targets = (np.concatenate([np.diff(path, axis=0) for path in paths]) for paths in (before, after))
    predicted = steps[nearest_indices(positions, queries, neighbours)].mean(axis=1)  # (T', K, Z) -> (T', Z)
    deviations = np.square(targets - targets.mean(axis=0)).sum(axis=1)
    return StepErrors(np.square(targets - predicted).sum(axis=1), deviations)


def nearest_indices(positions: Numbers, queries: Numbers, neighbours: int) -> NDArray[np.intp]:
    """The indices (T', K) of the positions nearest to each query."""
    from sklearn.neighbors import NearestNeighbors  # slow to load

    found = NearestNeighbors(n_neighbors=neighbours).fit(positions).kneighbors(queries, return_distance=False)
    return np.asarray(found, dtype=np.intp)


def smooth_map_r2(
    latents: ArrayLike, states: ArrayLike, *, held_out: float = HELD_OUT, landmarks: int = LANDMARKS
) -> float:
    """The mean R² over the coordinates of the state (T, D) of a smooth map from the latent path (T, Z)."""
    return float(smooth_map_r2_each(latents, states, held_out=held_out, landmarks=landmarks).mean())


def smooth_map_r2_each(
    latents: ArrayLike, states: ArrayLike, *, held_out: float = HELD_OUT, landmarks: int = LANDMARKS
) -> Numbers:
    """R² (D,) of each coordinate of the state; the map is kernel ridge regression on landmarks along the path.

    min ‖y − K_tm β‖² + α βᵀK_mm β (Rasmussen & Williams, 2006, eq. 8.14), K Gaussian, as wide as the path.
    """
    path, truth = as_path("latents", latents), as_path("states", states)
    if len(path) != len(truth):
        raise InputError(
            "latents and states must have the same length.",
            found=f"{len(path)} latents, {len(truth)} states",
            fix="cut both to the same times",
        )
    cut = held_out_start(len(path), held_out)
    path = path / (path[:cut].std(axis=0).mean() or 1.0)
    chosen = path[:cut][np.unique(np.linspace(0, cut - 1, landmarks).astype(np.intp))]  # (M, Z)
    means = truth[:cut].mean(axis=0)
    weights = ridge_on_landmarks(path[:cut], truth[:cut] - means, chosen)  # (M, D)
    predicted, targets = means + gaussian(path[cut:], chosen) @ weights, truth[cut:]
    errors, deviations = (np.square(targets - other).sum(axis=0) for other in (predicted, targets.mean(axis=0)))
    return np.asarray([r_squared(*sums) for sums in zip(errors, deviations, strict=True)])


def ridge_on_landmarks(path: Numbers, truth: Numbers, chosen: Numbers) -> Numbers:
    """The weights β (M, D) of the landmarks' kernels; K_mm = U Λ Uᵀ, and β = U Λ^−½ w by ridge regression for w."""
    values, vectors = np.linalg.eigh(gaussian(chosen, chosen))
    kept = values > TINY * values[-1]
    whitening = vectors[:, kept] / np.sqrt(values[kept])  # (M, R)
    features = gaussian(path, chosen) @ whitening
    gram = features.T @ features + RIDGE * np.eye(features.shape[1])
    return np.asarray(whitening @ np.linalg.solve(gram, features.T @ truth), dtype=np.float64)


def gaussian(left: Numbers, right: Numbers) -> Numbers:
    """exp(−‖a − b‖² / 2Z), (T, M): positions are about √(2Z) apart where each coordinate has unit variance."""
    squares = np.square(left).sum(axis=1)[:, None] + np.square(right).sum(axis=1) - 2 * left @ right.T
    return np.asarray(np.exp(-np.maximum(squares, 0.0) / (2 * left.shape[1])))


def r_squared(error: float, deviation: float) -> float:
    """1 − error / deviation; 0 for a constant."""
    return 1 - error / deviation if deviation > 0 else 0.0


def held_out_start(length: int, held_out: float) -> int:
    """The index at which the held-out time begins."""
    cut = round(length * (1 - held_out))
    if not 2 <= cut <= length - 2:
        raise InputError(
            "a path needs at least two steps before and in the held-out time.",
            found=f"held_out={held_out} of {length} steps",
            fix="a share between 0 and 1, and a longer path",
        )
    return cut


def as_path(name: str, given: ArrayLike) -> Numbers:
    """An array (T, Z) of finite numbers."""
    path = np.asarray(given, dtype=np.float64)
    if path.ndim != 2 or not path.size or not np.isfinite(path).all():
        raise InputError(
            f"{name} must be finite numbers of shape (times, coordinates).",
            found=f"shape {path.shape}" if np.isfinite(path).all() else "a gap or an infinite number",
            fix="give an array with one row for each time",
        )
    return path
