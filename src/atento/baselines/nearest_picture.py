"""Nearest picture: answer with the target of the training picture that looks most alike, pixel by pixel."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.baselines.fitted import require_fitted, require_pairs

# Axes: N training pictures, Q questions, F numbers of a small picture.

ROWS = 256  # questions compared at a time

Load = Callable[[str], NDArray[Any]]  # a source -> its pixels, the same shape for all


class NearestPicture:
    """Remembers every training picture, small; of equally near ones the first answers."""

    name = "nearest-picture"
    summary = "target of the training picture with the nearest pixels"

    def __init__(self, load: Load) -> None:
        self.load = load
        self.known: NDArray[np.float32] | None = None  # (N, F)
        self.targets: list[Any] = []

    def fit(self, sources: Sequence[str], targets: Sequence[Any]) -> "NearestPicture":
        """Remember all pairs."""
        require_pairs(self.name, sources, targets)
        self.known, self.targets = self.pixels(sources), list(targets)
        return self

    def predict(self, sources: Sequence[str]) -> list[Any]:
        """The target of the picture whose squared distance is least."""
        require_fitted(self.name, self.known)
        known = np.zeros((0, 0), dtype=np.float32) if self.known is None else self.known
        lengths = np.square(known).sum(axis=1)
        answers: list[Any] = []
        for first in range(0, len(sources), ROWS):
            asked = self.pixels(sources[first : first + ROWS])
            distances = lengths - 2.0 * asked @ known.T  # (Q, N), but for what is the same for all of a row
            answers.extend(self.targets[index] for index in distances.argmin(axis=1))
        return answers

    def pixels(self, sources: Sequence[str]) -> NDArray[np.float32]:
        """(Q, F), centred on grey."""
        return np.stack([self.load(source).astype(np.float32).ravel() / 127.5 - 1.0 for source in sources])
