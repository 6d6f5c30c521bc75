"""Simple models of a state: one step ahead is learned, and its outcome is read again, as often as steps are asked.

A source to learn from has `values` (T, C); one to go on from has `values` (L, C) and `known` (L + H, K), which says how
far. Plain arrays do as well: `Reservoir().learn_from([array]).extend(pasts, steps)`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.baselines.fitted import require_fitted, require_pairs
from atento.errors import InputError

# Axes: R runs, T time, L past, H horizon, C channels.

Numbers = NDArray[np.float64]


class FreeRunning(ABC):
    """Owns the scale, which is the training part's; leaves learn and run on it."""

    name: str
    summary: str
    shortest: int  # steps of the past that a run needs

    def __init__(self) -> None:
        self.fitted: bool | None = None
        self.mean: Numbers = np.zeros(1)  # (C,)
        self.spread: Numbers = np.ones(1)  # (C,)

    def fit(self, sources: Sequence[Any], targets: Sequence[Any]) -> Any:
        """Learn from series."""
        require_pairs(self.name, sources, targets)
        return self.learn_from([source.values for source in sources])

    def learn_from(self, series: Sequence[Numbers]) -> Any:
        """Learn from trajectories (T, C)."""
        if not any(len(values) > self.shortest + 1 for values in series):
            raise InputError(
                f"{self.name} learns from series of more than {self.shortest + 1} rows.",
                found=f"the longest has {max(map(len, series), default=0)}",
                fix="give longer ones",
            )
        together = np.concatenate(list(series))
        self.mean, self.spread = together.mean(axis=0), together.std(axis=0)
        self.spread = np.where(self.spread > 0, self.spread, 1.0)
        self.fitted = True
        self.learn([(values - self.mean) / self.spread for values in series if len(values) > self.shortest + 1])
        return self

    def predict(self, sources: Sequence[Any]) -> list[Numbers]:
        """What comes after each past, (H, C) each."""
        require_fitted(self.name, self.fitted)
        found: list[Numbers] = [np.zeros(0)] * len(sources)
        shapes: dict[tuple[int, int], list[int]] = {}
        for place, source in enumerate(sources):
            shapes.setdefault((len(source.values), len(source.known) - len(source.values)), []).append(place)
        for (_, steps), places in shapes.items():
            runs = self.extend(np.stack([sources[place].values for place in places]), steps)
            for place, run in zip(places, runs, strict=True):
                found[place] = run
        return found

    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """The next steps (R, H, C) of pasts (R, L, C), each from what was said before."""
        require_fitted(self.name, self.fitted)
        if pasts.ndim != 3 or pasts.shape[1] < self.shortest or pasts.shape[2:] != self.spread.shape:
            raise InputError(
                f"{self.name} goes on from {self.shortest} rows at least, of {len(self.spread)} channels each.",
                found=f"pasts of shape {pasts.shape}",
                fix="give (runs, rows, channels)",
            )
        with np.errstate(over="ignore", invalid="ignore"):  # a run that goes to infinity says so itself
            return self.run((pasts - self.mean) / self.spread, steps) * self.spread + self.mean

    @abstractmethod
    def learn(self, series: Sequence[Numbers]) -> None:
        """Learn from trajectories (T, C) on scale."""

    @abstractmethod
    def run(self, pasts: Numbers, steps: int) -> Numbers:
        """The next steps (R, H, C) of pasts (R, L, C) on scale."""


def ridge(features: Numbers, wanted: Numbers, penalty: float) -> Numbers:
    """W = (XᵀX + α n I)⁻¹ Xᵀ Y, with X (n, F), Y (n, C) -> (F, C)."""
    gram = features.T @ features
    gram[np.diag_indices_from(gram)] += penalty * len(features)
    return np.asarray(np.linalg.solve(gram, features.T @ wanted))
