"""A linear model over what a sequence looks like in a few numbers: level, spread, trend, how it swings.

Estimates that need hardly any learning: the mean of the targets, and a line through means and last values.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.baselines.fitted import require_fitted, require_pairs
from atento.baselines.text_labels import logistic_regression

# Axes: N sequences, T time, C channels, F features.

Numbers = NDArray[np.float64]
Read = Callable[[str], Any]  # a text -> its steps (T, C)

LEVELS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)  # of the numbers of a channel, this share lies below
LAGS = (1, 2, 4, 8, 16)
TOGETHER = 8  # channels whose correlations are taken
FREEDOM = 1.0


class LinearOnShapes:
    """One label a sequence: multinomial logistic regression over summaries of each channel."""

    name = "shapes"
    summary = "linear model over means, spreads, trends, quantiles and autocorrelations"

    def __init__(self, read: Read) -> None:
        self.read = read
        self.usual: str | None = None
        self.model: Any = None  # None: there is nothing to tell labels apart by
        self.scale: tuple[Numbers, Numbers] = (np.zeros(1), np.ones(1))

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "LinearOnShapes":
        """Weigh the features, each on one scale."""
        require_pairs(self.name, sources, targets)
        features = self.features(sources)
        spread = features.std(axis=0)
        self.scale = features.mean(axis=0), np.where(spread > 1e-9, spread, 1.0)
        self.usual = Counter(targets).most_common(1)[0][0]
        self.model = logistic_regression(self.scaled(features), targets, freedom=FREEDOM)
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """The likeliest label of each."""
        require_fitted(self.name, self.usual)
        if self.model is None or not len(sources):
            return [str(self.usual)] * len(sources)
        return [str(label) for label in self.model.predict(self.scaled(self.features(sources)))]

    def scaled(self, features: Numbers) -> Numbers:
        """Mean 0 and spread 1 over the training part."""
        return (features - self.scale[0]) / self.scale[1]

    def features(self, sources: Sequence[str]) -> Numbers:
        """(N, F)."""
        return np.stack([shape_of(np.asarray(self.read(source), dtype=np.float64)) for source in sources])


def shape_of(steps: Numbers) -> Numbers:
    """The features (F,) of one sequence (T, C): of each channel, of channels together, and its length."""
    centred = steps - steps.mean(axis=0)
    power = np.maximum((centred**2).mean(axis=0), 1e-12)
    turns = np.diff(steps, axis=0) if len(steps) > 1 else np.zeros_like(steps)
    place = np.linspace(-1, 1, len(steps))[:, None]
    each = [
        steps.mean(axis=0),
        np.sqrt(power),
        (place * steps).sum(axis=0) / max(1e-12, float((place**2).sum())),
        steps[-1] - steps[0],
        np.abs(turns).mean(axis=0),
        np.abs(turns).max(axis=0),
        (np.signbit(centred[1:]) != np.signbit(centred[:-1])).sum(axis=0) / len(steps),
        *np.quantile(steps, LEVELS, axis=0),
        *(lagged(centred, lag) / power for lag in LAGS),
    ]
    first = centred[:, :TOGETHER] / np.sqrt(power[:TOGETHER])
    together = (first.T @ first / len(steps))[np.triu_indices(first.shape[1], k=1)]
    return np.concatenate([*each, together, [np.log(len(steps))]])


def lagged(centred: Numbers, lag: int) -> Numbers:
    """Σ x_t x_{t+lag} / T, channel by channel; 0 where there are too few steps."""
    products: Numbers = (centred[lag:] * centred[:-lag]).sum(axis=0) / len(centred)
    return products


# Axes: N sequences, T time, C channels, F features.


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
