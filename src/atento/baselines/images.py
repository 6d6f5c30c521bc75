"""Linear models over small pictures, alone or beside the words of a question.

Nearest picture: answer with the target of the training picture that looks most alike, pixel by pixel.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.baselines.fitted import require_fitted, require_pairs
from atento.baselines.text_labels import Bag, LinearLabels, logistic_regression

# Axes: N pictures, F numbers of a small picture, V words.

FREEDOM = 0.1  # how little weights are pulled to zero: neighbouring pixels say much the same
SHADES = 4  # of each colour, in a histogram

Load = Callable[[str], NDArray[Any]]  # a source -> its pixels (S, S, 3), the same shape for all
Cut = Callable[[str], tuple[str, str]]  # a source -> its picture and its question


class LinearPictures:
    """One label a picture: logistic regression over its pixels, seen small, and how often each shade occurs."""

    name = "linear-pixels"
    summary = "linear model over a small picture's pixels and a histogram of its colours"

    def __init__(self, load: Load) -> None:
        self.load = load
        self.usual: str | None = None
        self.model: Any = None  # None: there is nothing to tell labels apart by

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "LinearPictures":
        """Weigh the pixels."""
        require_pairs(self.name, sources, targets)
        self.usual = Counter(targets).most_common(1)[0][0]
        self.model = logistic_regression(seen(self.load, sources), targets, freedom=FREEDOM)
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """The likeliest label of each."""
        require_fitted(self.name, self.usual)
        if self.model is None or not len(sources):
            return [str(self.usual)] * len(sources)
        return [str(label) for label in self.model.predict(seen(self.load, sources))]


class QuestionOnly:
    """One label a picture and question: logistic regression over the words of the question, blind to the picture."""

    name = "question-only"
    summary = "linear model over the question's words, blind to the picture"

    def __init__(self, cut: Cut) -> None:
        self.cut, self.words = cut, LinearLabels(Bag(longest=2), name=self.name)

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "QuestionOnly":
        """Choose the terms, then weigh them."""
        self.words.fit([self.cut(source)[1] for source in sources], targets)
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """The likeliest answer to each question, whatever the picture."""
        return self.words.predict([self.cut(source)[1] for source in sources])


class LinearQuestions:
    """One label a picture and question: logistic regression over the words of the question beside the pixels."""

    name = "linear-both"
    summary = "linear model over the question's words and a small picture's pixels"

    def __init__(self, load: Load, *, cut: Cut) -> None:
        self.load, self.cut, self.bag = load, cut, Bag(longest=2)
        self.usual: str | None = None
        self.model: Any = None

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "LinearQuestions":
        """Choose the terms, then weigh them and the pixels."""
        require_pairs(self.name, sources, targets)
        self.bag.fit([self.cut(source)[1] for source in sources])
        self.usual = Counter(targets).most_common(1)[0][0]
        self.model = logistic_regression(self.both(sources), targets, freedom=FREEDOM)
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """The likeliest answer of each."""
        require_fitted(self.name, self.usual)
        if self.model is None or not len(sources):
            return [str(self.usual)] * len(sources)
        return [str(label) for label in self.model.predict(self.both(sources))]

    def both(self, sources: Sequence[str]) -> NDArray[np.float64]:
        """(N, V + F)."""
        pairs = [self.cut(source) for source in sources]
        words = self.bag.transform([question for _, question in pairs]).toarray()
        return np.concatenate([words, seen(self.load, [picture for picture, _ in pairs])], axis=1)


def seen(load: Load, sources: Sequence[str]) -> NDArray[np.float64]:
    """Pixels from −1 to 1, and the share of each of the shades: (N, F)."""
    pictures = np.stack([load(source) for source in sources])  # (N, S, S, 3)
    shades = (pictures.astype(np.int64) * SHADES // 256) @ np.array([SHADES**2, SHADES, 1])  # (N, S, S)
    each = shades.reshape(len(pictures), -1)
    histogram = np.stack([np.bincount(row, minlength=SHADES**3) / len(row) for row in each])  # (N, SHADES³)
    return np.concatenate([pictures.reshape(len(pictures), -1) / 127.5 - 1.0, histogram], axis=1)


# Axes: N training pictures, Q questions, F numbers of a small picture.

ROWS = 256  # questions compared at a time


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
