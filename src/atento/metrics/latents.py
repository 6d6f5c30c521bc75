"""Whether a latent path recreates a flow: its next step follows from where it is, and the true state from it too.

Both are judged on the last part of the time, by what the time before it teaches."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atento.errors import InputError

# Axes: T time, Z latent, D state, M landmarks, K neighbours.

Numbers = NDArray[np.float64]

HELD = 0.3  # the last share of the time is what is judged
LANDMARKS = 400
RIDGE = 1e-4
TINY = 1e-13  # of the largest eigenvalue: below it there is only rounding


class Steps(NamedTuple):
    """The steps of held-out paths, one path after the other: how far each was from what was foretold, and from their
    mean.
    """

    errors: Numbers  # squared lengths of step − foretold
    spreads: Numbers  # squared lengths of step − mean step

    @property
    def r2(self) -> float:
        """1 − Σ errors / Σ spreads."""
        return share_explained(float(self.errors.sum()), float(self.spreads.sum()))


def next_step_r2(latents: ArrayLike, *, neighbours: int = 10, held: float = HELD) -> float:
    """1 − Σ‖Δ − Δ̂‖² / Σ‖Δ − Δ̄‖² of the steps Δ_t = z_{t+1} − z_t of a path (T, Z).

    The step, not the place, is foretold: a slow path is always near where it was. A path that never moves explains 0.
    """
    before, after = parted(as_path("latents", latents), held)
    return foretell_steps([before], [after], neighbours=neighbours).r2


def parted(path: Numbers, held: float = HELD) -> tuple[Numbers, Numbers]:
    """A path (T, Z) and its held-out end, which begins where the other ends: no step is lost, none is in both."""
    cut = cut_at(len(path) - 1, held)
    return path[: cut + 1], path[cut:]


def foretell_steps(before: Sequence[Numbers], after: Sequence[Numbers], *, neighbours: int = 10) -> Steps:
    """Each step of the later paths (T, Z) by the mean step of the nearest places of the earlier ones.

    (Lorenz, 1969: analogues.)
    """
    known = sum(len(path) - 1 for path in before)
    if not 1 <= neighbours <= known:
        raise InputError(
            "a step is foretold from neighbours in the time before it.",
            found=f"neighbours={neighbours}, {known} steps before the held-out time",
            fix=f"a longer path, or neighbours from 1 to {known}",
        )
    places, asked = (np.concatenate([path[:-1] for path in paths]) for paths in (before, after))
    steps, came = (np.concatenate([np.diff(path, axis=0) for path in paths]) for paths in (before, after))
    foretold = steps[nearest_places(places, asked, neighbours)].mean(axis=1)  # (T', K, Z) -> (T', Z)
    return Steps(np.square(came - foretold).sum(axis=1), np.square(came - came.mean(axis=0)).sum(axis=1))


def nearest_places(known: Numbers, asked: Numbers, neighbours: int) -> NDArray[np.intp]:
    """Numbers (T', K) of the known places nearest to each that is asked."""
    from sklearn.neighbors import NearestNeighbors  # slow to load

    found = NearestNeighbors(n_neighbors=neighbours).fit(known).kneighbors(asked, return_distance=False)
    return np.asarray(found, dtype=np.intp)


def smooth_map_r2(latents: ArrayLike, states: ArrayLike, *, held: float = HELD, landmarks: int = LANDMARKS) -> float:
    """The mean share of the variance of each coordinate of the state (T, D) that a smooth map of the path explains."""
    return float(smooth_map_shares(latents, states, held=held, landmarks=landmarks).mean())


def smooth_map_shares(
    latents: ArrayLike, states: ArrayLike, *, held: float = HELD, landmarks: int = LANDMARKS
) -> Numbers:
    """The same of each coordinate (D,); by kernel ridge regression on at most so many landmarks along the path.

    min ‖y − K_tm β‖² + α βᵀK_mm β (Rasmussen & Williams, 2006, eq. 8.14), K Gaussian and as wide as the path.
    """
    path, truth = as_path("latents", latents), as_path("states", states)
    if len(path) != len(truth):
        raise InputError(
            "each place of a latent path belongs to one state.",
            found=f"{len(path)} places, {len(truth)} states",
            fix="cut both to the same times",
        )
    cut = cut_at(len(path), held)
    path = path / (path[:cut].std(axis=0).mean() or 1.0)
    chosen = path[:cut][np.unique(np.linspace(0, cut - 1, landmarks).astype(np.intp))]  # (M, Z)
    means = truth[:cut].mean(axis=0)
    weights = ridge_on_landmarks(path[:cut], truth[:cut] - means, chosen)  # (M, D)
    foretold = means + gaussian(path[cut:], chosen) @ weights
    came = truth[cut:]
    errors, spreads = np.square(came - foretold).sum(axis=0), np.square(came - came.mean(axis=0)).sum(axis=0)
    return np.asarray([share_explained(error, spread) for error, spread in zip(errors, spreads, strict=True)])


def ridge_on_landmarks(path: Numbers, truth: Numbers, chosen: Numbers) -> Numbers:
    """The weights (M, D) of the landmarks' kernels; K_mm = U Λ Uᵀ, and β = U Λ^−½ w by ridge regression for w."""
    values, vectors = np.linalg.eigh(gaussian(chosen, chosen))
    kept = values > TINY * values[-1]
    turned = vectors[:, kept] / np.sqrt(values[kept])  # (M, R)
    features = gaussian(path, chosen) @ turned
    gram = features.T @ features + RIDGE * np.eye(features.shape[1])
    return np.asarray(turned @ np.linalg.solve(gram, features.T @ truth), dtype=np.float64)


def gaussian(left: Numbers, right: Numbers) -> Numbers:
    """exp(−‖a − b‖² / 2Z), (T, M): places are about √(2Z) from each other where each coordinate's spread is 1."""
    squares = np.square(left).sum(axis=1)[:, None] + np.square(right).sum(axis=1) - 2 * left @ right.T
    return np.asarray(np.exp(-np.maximum(squares, 0.0) / (2 * left.shape[1])))


def share_explained(error: float, spread: float) -> float:
    """1 − error / spread; of what never changes nothing is explained."""
    return 1 - error / spread if spread > 0 else 0.0


def cut_at(length: int, held: float) -> int:
    """Where the held-out time begins."""
    cut = round(length * (1 - held))
    if not 2 <= cut <= length - 2:
        raise InputError(
            "a path is judged on a share of its time that it was not fitted on.",
            found=f"held={held} of {length} steps",
            fix="a share between 0 and 1, and a longer path",
        )
    return cut


def as_path(name: str, given: ArrayLike) -> Numbers:
    """Finite numbers (T, Z)."""
    path = np.asarray(given, dtype=np.float64)
    if path.ndim != 2 or not path.size or not np.isfinite(path).all():
        raise InputError(
            f"{name} are finite numbers, one row a time.",
            found=f"shape {path.shape}" if np.isfinite(path).all() else "a gap or an infinite number",
            fix="give an array of times × coordinates",
        )
    return path
