"""Linear baselines of number sequences: a label from summary statistics, a number from means and last values."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.baselines.linear import LinearClassifier
from atento.baselines.validation import require_fitted, require_pairs

# Axes: N sequences, T time, C channels, F features.

Numbers = NDArray[np.float64]
Read = Callable[[str], Any]  # a text -> its steps (T, C)

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
LAGS = (1, 2, 4, 8, 16)
MAX_CORRELATED = 8  # channels whose correlations are features
INVERSE_PENALTY = 1.0


class LinearOnStatistics(LinearClassifier):
    """One label per sequence: logistic regression over summary statistics of each channel."""

    name = "shapes"
    summary = "linear model over means, standard deviations, trends, quantiles and autocorrelations"

    def __init__(self, read: Read) -> None:
        super().__init__(inverse_penalty=INVERSE_PENALTY)
        self.read = read
        self.scale: tuple[Numbers, Numbers] = (np.zeros(1), np.ones(1))  # mean and standard deviation (F,)

    def fit_features(self, sources: Sequence[str]) -> Numbers:
        """Learn the scale of each feature."""
        features = self.raw_features(sources)
        std = features.std(axis=0)
        self.scale = features.mean(axis=0), np.where(std > 1e-9, std, 1.0)
        return (features - self.scale[0]) / self.scale[1]

    def features(self, sources: Sequence[str]) -> Numbers:
        """(N, F), standardized."""
        return (self.raw_features(sources) - self.scale[0]) / self.scale[1]

    def raw_features(self, sources: Sequence[str]) -> Numbers:
        """(N, F)."""
        return np.stack([sequence_statistics(np.asarray(self.read(source), dtype=np.float64)) for source in sources])


def sequence_statistics(steps: Numbers) -> Numbers:
    """The features (F,) of one sequence (T, C): of each channel, correlations of channels, and the length."""
    centred = steps - steps.mean(axis=0)
    variance = np.maximum((centred**2).mean(axis=0), 1e-12)
    changes = np.diff(steps, axis=0) if len(steps) > 1 else np.zeros_like(steps)
    time = np.linspace(-1, 1, len(steps))[:, None]
    each = [
        steps.mean(axis=0),
        np.sqrt(variance),
        (time * steps).sum(axis=0) / max(1e-12, float((time**2).sum())),  # slope
        steps[-1] - steps[0],
        np.abs(changes).mean(axis=0),
        np.abs(changes).max(axis=0),
        (np.signbit(centred[1:]) != np.signbit(centred[:-1])).sum(axis=0) / len(steps),  # crossings of the mean
        *np.quantile(steps, QUANTILES, axis=0),
        *(autocovariance(centred, lag) / variance for lag in LAGS),
    ]
    first = centred[:, :MAX_CORRELATED] / np.sqrt(variance[:MAX_CORRELATED])
    correlations = (first.T @ first / len(steps))[np.triu_indices(first.shape[1], k=1)]
    return np.concatenate([*each, correlations, [np.log(len(steps))]])


def autocovariance(centred: Numbers, lag: int) -> Numbers:
    """Σ x_t x_{t+lag} / T of each channel; 0 where there are too few steps."""
    return (centred[lag:] * centred[:-lag]).sum(axis=0) / len(centred)


class MeanTarget:
    """ŷ = ȳ, whatever the sequence."""

    name = "mean"
    summary = "always the mean of the training targets"

    def __init__(self) -> None:
        self.mean: float | None = None

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "MeanTarget":
        """Take the mean of the targets; the sources are not used."""
        require_pairs(self.name, sources, targets)
        self.mean = float(np.mean([float(target) for target in targets]))
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """The same number for every source."""
        require_fitted(self.name, self.mean)
        return [f"{self.mean:.6g}"] * len(sources)


class LinearOnMeans:
    """ŷ = w · x + b by least squares; x holds each channel's mean and last value, and the number of steps."""

    name = "linear"
    summary = "linear regression on each channel's mean and last value"

    def __init__(self, read: Read) -> None:
        self.read = read
        self.weights: Any = None  # (F + 1,), the last is b

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "LinearOnMeans":
        """Solve for the weights; of several solutions the shortest."""
        require_pairs(self.name, sources, targets)
        truth = np.asarray([float(target) for target in targets])
        self.weights = np.linalg.lstsq(self.features(sources), truth, rcond=None)[0]
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """A number for every source, as text."""
        require_fitted(self.name, self.weights)
        estimates = self.features(sources) @ self.weights if len(sources) else []
        return [f"{estimate:.6g}" for estimate in estimates]

    def features(self, sources: Sequence[str]) -> Numbers:
        """(N, F + 1), the last column ones."""
        steps = [np.asarray(self.read(source), dtype=np.float64) for source in sources]  # (T, C) each
        return np.stack([np.concatenate([one.mean(axis=0), one[-1], [len(one), 1.0]]) for one in steps])
