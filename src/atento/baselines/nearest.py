"""Nearest neighbour: answer with the target of the training source that is fewest edits away."""

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from atento.baselines.fitted import require_fitted, require_pairs

MOST_DISTANCES = 60_000_000  # beyond this, every k-th training pair stands for all
ROWS = 256  # questions compared at a time


class Nearest:
    """Fits by remembering; learned nothing, and hard to beat on little data."""

    name = "nearest"
    summary = "target of the training source fewest edits away"

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.targets: list[str] = []

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "Nearest":
        """Remember all pairs."""
        require_pairs(self.name, sources, targets)
        self.sources, self.targets = list(sources), list(targets)
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """The nearest pair's target; of equally near ones the first."""
        require_fitted(self.name, self.sources or None)
        stride = 1 + len(sources) * len(self.sources) // MOST_DISTANCES
        known, targets = self.sources[::stride], self.targets[::stride]
        answers: list[str] = []
        for first in range(0, len(sources), ROWS):
            distances = cdist(
                sources[first : first + ROWS], known, scorer=Levenshtein.distance, dtype=np.int32, workers=-1
            )
            answers.extend(targets[index] for index in distances.argmin(axis=1))
        return answers
