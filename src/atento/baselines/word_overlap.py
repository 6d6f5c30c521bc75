"""Linear baseline of two texts: what they share, and the words that only one of them has."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from atento.baselines.linear import LinearClassifier
from atento.baselines.text_labels import TOKEN, BagOfWords

# Axes: N pairs of texts.

SEPARATOR = "\t"  # between the two texts of a source
OVERLAP_INVERSE_PENALTY = 1.0
MAX_ONE_SIDED_WORDS = 2000
OVERLAP_NAMES = (
    "share of the first text's words that both have",
    "share of the second text's words that both have",
    "share of all words that both have",
    "words that both have",
    "words of the first text only",
    "words of the second text only",
    "words more in the first text than in the second",
    "difference in length",
    "cosine of the tf-idf vectors",
)


class WordOverlap(LinearClassifier):
    """A label for two texts: logistic regression over their overlap, and the words that only one of them has.

    A negation is such a word: its presence on one side tells the label, and its weight is learned.
    """

    name = "word-overlap"
    summary = "linear model over what two texts share, and the words only one has"

    def __init__(self, *, inverse_penalty: float = OVERLAP_INVERSE_PENALTY) -> None:
        super().__init__(inverse_penalty=inverse_penalty)
        self.bag = BagOfWords(weighting="tf-idf")
        self.words: dict[str, int] = {}
        self.scale: Any = None  # mean and standard deviation of each overlap feature

    def fit_features(self, sources: Sequence[str]) -> Any:
        """Choose the words, and the scale of the overlaps."""
        pairs = [split_texts(source) for source in sources]
        self.bag.fit([text for pair in pairs for text in pair])
        counts = Counter(word for pair in pairs for side in one_sided_words(*pair) for word in side)
        chosen = sorted(counts, key=lambda word: (-counts[word], word))[:MAX_ONE_SIDED_WORDS]
        self.words = {word: place for place, word in enumerate(chosen)}
        overlaps = self.overlaps(pairs)
        std = overlaps.std(axis=0)
        self.scale = overlaps.mean(axis=0), np.where(std > 0, std, 1.0)
        return self.features(sources)

    def features(self, sources: Sequence[str]) -> Any:
        """The standardized overlaps, then the words of each side that the other lacks."""
        from scipy.sparse import csr_matrix, hstack  # slow to load

        pairs = [split_texts(source) for source in sources]
        mean, std = self.scale
        rows, columns = [], []
        for row, pair in enumerate(pairs):
            for side, words in enumerate(one_sided_words(*pair)):
                known = [self.words[word] + side * len(self.words) for word in words if word in self.words]
                rows += [row] * len(known)
                columns += known
        one_sided = csr_matrix(([1.0] * len(rows), (rows, columns)), shape=(len(pairs), 2 * len(self.words)))
        return hstack([csr_matrix((self.overlaps(pairs) - mean) / std), one_sided], format="csr")

    def feature_names(self) -> list[str]:
        """The overlaps, then the words of each side."""
        sides = [f"{word!r} in the {side} text only" for side in ("first", "second") for word in self.words]
        return [*OVERLAP_NAMES, *sides]

    def overlaps(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """(N, 9): the overlap counts of each pair, and the cosine of its tf-idf vectors."""
        firsts, seconds = (self.bag.transform(side) for side in zip(*pairs, strict=True))
        cosines = np.asarray(firsts.multiply(seconds).sum(axis=1)).ravel()
        return np.array([[*overlap_counts(*pair), cosine] for pair, cosine in zip(pairs, cosines, strict=True)])


def split_texts(source: str) -> tuple[str, str]:
    """The two texts of a source; without a tab the second is empty."""
    first, _, second = source.partition(SEPARATOR)
    return first, second


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, lower-case."""
    return TOKEN.findall(text.lower())


def one_sided_words(first: str, second: str) -> tuple[list[str], list[str]]:
    """The distinct words that only the first text has, and those that only the second has."""
    here, there = set(words_of(first)), set(words_of(second))
    return sorted(here - there), sorted(there - here)


def overlap_counts(first: str, second: str) -> list[float]:
    """Shares of shared words in the first, the second and both texts; counts of words; differences in length."""
    here, there = words_of(first), words_of(second)
    both = len(set(here) & set(there))
    only_here, only_there = (len(words) for words in one_sided_words(first, second))
    return [
        both / max(1, both + only_here),
        both / max(1, both + only_there),
        both / max(1, both + only_here + only_there),
        both,
        only_here,
        only_there,
        len(here) - len(there),
        abs(len(here) - len(there)),
    ]
