"""Estimates that need hardly any learning: the mean of the targets, and a line through means and last values."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.baselines.fitted import require_fitted, require_pairs

# Axes: N sequences, T time, C channels, F features.

Numbers = NDArray[np.float64]
Read = Callable[[str], Sequence[Sequence[float]] | Numbers]  # a text -> its steps (T, C)


class MeanTarget:
    """ŷ = ȳ, whatever the sequence: what any other model must beat."""

    name = "mean"
    summary = "always the mean of the training targets"

    def __init__(self) -> None:
        self.mean: float | None = None

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "MeanTarget":
        """The mean."""
        require_pairs(self.name, sources, targets)
        self.mean = float(np.mean([float(target) for target in targets]))
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """The same number for each."""
        require_fitted(self.name, self.mean)
        return [f"{self.mean:.6g}"] * len(sources)


class LinearOnMeans:
    """ŷ = w · x + b by least squares; x holds each channel's mean and last value, and how many steps there are."""

    name = "linear"
    summary = "a line through each channel's mean and last value"

    def __init__(self, read: Read) -> None:
        self.read = read
        self.weights: Any = None  # (F + 1,), the last is b

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "LinearOnMeans":
        """The line nearest to all targets; of several such the shortest."""
        require_pairs(self.name, sources, targets)
        truth = np.asarray([float(target) for target in targets])
        self.weights = np.linalg.lstsq(self.features(sources), truth, rcond=None)[0]
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """A place on the line for each."""
        require_fitted(self.name, self.weights)
        estimates = self.features(sources) @ self.weights if len(sources) else []
        return [f"{estimate:.6g}" for estimate in estimates]

    def features(self, sources: Sequence[str]) -> Numbers:
        """(N, F + 1), the last column ones."""
        steps = [np.asarray(self.read(source), dtype=np.float64) for source in sources]  # (T, C) each
        return np.stack([np.concatenate([one.mean(axis=0), one[-1], [len(one), 1.0]]) for one in steps])
