"""Baselines of images: linear models over small images, alone or with a question, and the nearest training image."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.baselines.linear import LinearClassifier
from atento.baselines.text_labels import INVERSE_PENALTY as TEXT_INVERSE_PENALTY
from atento.baselines.text_labels import BagOfWords
from atento.baselines.validation import require_fitted, require_pairs

# Axes: N images or training images, Q queries, S side of a small image, F numbers of a small image, V terms.

INVERSE_PENALTY = 0.1  # small: neighbouring pixels are much the same
SHADES = 4  # of each colour, in a histogram
ROWS = 256  # queries compared at a time

Load = Callable[[str], NDArray[Any]]  # a source -> its pixels (S, S, 3), the same shape for all
Split = Callable[[str], tuple[str, str]]  # a source -> its image and its question


class LinearImages(LinearClassifier):
    """One label per image: logistic regression over the pixels of a small image and a histogram of its colours."""

    name = "linear-pixels"
    summary = "linear model over a small image's pixels and a histogram of its colours"

    def __init__(self, load: Load) -> None:
        super().__init__(inverse_penalty=INVERSE_PENALTY)
        self.load = load

    def fit_features(self, sources: Sequence[str]) -> NDArray[np.float64]:
        """The features; there is nothing to learn."""
        return self.features(sources)

    def features(self, sources: Sequence[str]) -> NDArray[np.float64]:
        """(N, F)."""
        return pixel_features(self.load, sources)


class QuestionOnly(LinearClassifier):
    """One label per image and question: logistic regression over the question's words, without the image."""

    name = "question-only"
    summary = "linear model over the question's words, blind to the image"

    def __init__(self, split: Split) -> None:
        super().__init__(inverse_penalty=TEXT_INVERSE_PENALTY)
        self.split, self.bag = split, BagOfWords(max_n=2)

    def fit_features(self, sources: Sequence[str]) -> Any:
        """Choose the terms."""
        self.bag.fit([self.split(source)[1] for source in sources])
        return self.features(sources)

    def features(self, sources: Sequence[str]) -> Any:
        """(N, V)."""
        return self.bag.transform([self.split(source)[1] for source in sources])

    def feature_names(self) -> list[str]:
        """The terms of the question."""
        return self.bag.terms


class LinearImageQuestions(LinearClassifier):
    """One label per image and question: logistic regression over the question's words and the pixels."""

    name = "linear-both"
    summary = "linear model over the question's words and a small image's pixels"

    def __init__(self, load: Load, *, split: Split) -> None:
        super().__init__(inverse_penalty=INVERSE_PENALTY)
        self.load, self.split, self.bag = load, split, BagOfWords(max_n=2)

    def fit_features(self, sources: Sequence[str]) -> NDArray[np.float64]:
        """Choose the terms."""
        self.bag.fit([self.split(source)[1] for source in sources])
        return self.features(sources)

    def features(self, sources: Sequence[str]) -> NDArray[np.float64]:
        """(N, V + F)."""
        pairs = [self.split(source) for source in sources]
        words = self.bag.transform([question for _, question in pairs]).toarray()
        return np.concatenate([words, pixel_features(self.load, [image for image, _ in pairs])], axis=1)


def pixel_features(load: Load, sources: Sequence[str]) -> NDArray[np.float64]:
    """The pixels from −1 to 1, and the share of each of SHADES³ colours: (N, F)."""
    images = np.stack([load(source) for source in sources])  # (N, S, S, 3)
    colours = (images.astype(np.int64) * SHADES // 256) @ np.array([SHADES**2, SHADES, 1])  # (N, S, S)
    rows = colours.reshape(len(images), -1)
    histogram = np.stack([np.bincount(row, minlength=SHADES**3) / len(row) for row in rows])  # (N, SHADES³)
    return np.concatenate([images.reshape(len(images), -1) / 127.5 - 1.0, histogram], axis=1)


class NearestImage:
    """The target of the training image with the nearest pixels; of equally near ones the first."""

    name = "nearest-image"
    summary = "target of the training image with the nearest pixels"

    def __init__(self, load: Load) -> None:
        self.load = load
        self.known: NDArray[np.float32] | None = None  # (N, F)
        self.targets: list[Any] = []

    def fit(self, sources: Sequence[str], targets: Sequence[Any]) -> "NearestImage":
        """Store all pairs."""
        require_pairs(self.name, sources, targets)
        self.known, self.targets = self.pixels(sources), list(targets)
        return self

    def predict(self, sources: Sequence[str]) -> list[Any]:
        """The target of the image at the least squared distance."""
        require_fitted(self.name, self.known)
        known = np.zeros((0, 0), dtype=np.float32) if self.known is None else self.known
        lengths = np.square(known).sum(axis=1)
        answers: list[Any] = []
        for first in range(0, len(sources), ROWS):
            queries = self.pixels(sources[first : first + ROWS])
            distances = lengths - 2.0 * queries @ known.T  # (Q, N), without what is equal in a row
            answers.extend(self.targets[index] for index in distances.argmin(axis=1))
        return answers

    def pixels(self, sources: Sequence[str]) -> NDArray[np.float32]:
        """(Q, F), from −1 to 1."""
        return np.stack([self.load(source).astype(np.float32).ravel() / 127.5 - 1.0 for source in sources])
