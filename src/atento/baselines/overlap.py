"""Two texts by what they share: how many words, how rare, and which words only one of them has."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from atento.baselines.bags import PIECES, Bag
from atento.baselines.fitted import require_fitted, require_pairs
from atento.baselines.linear_labels import logistic_regression, require_freedom

# Axes: N pairs, F features.

BETWEEN = "\t"  # stands between the two texts of a source
FREEDOM = 1.0
MOST_WORDS = 2000  # words whose presence on one side alone is looked at


class Overlap:
    """A label for two texts by logistic regression over their overlap, and over the words that only one of them has.

    No list of negations is needed: a word that turns a sentence round is one whose presence on one side tells the
    label, and gets its weight from the training part.
    """

    name = "word-overlap"
    summary = "linear model over what two texts share, and the words only one has"

    def __init__(self, *, freedom: float = FREEDOM) -> None:
        self.freedom = require_freedom(freedom)
        self.bag = Bag(weigh="tf-idf")
        self.words: dict[str, int] = {}
        self.usual: str | None = None
        self.scale: Any = None  # mean and spread of each overlap
        self.model: Any = None  # None: there is nothing to tell labels apart by

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "Overlap":
        """Choose the words, then weigh them and the overlaps."""
        import numpy as np

        require_pairs(self.name, sources, targets)
        pairs = [two_texts(source) for source in sources]
        self.bag.fit([text for pair in pairs for text in pair])
        self.usual = Counter(targets).most_common(1)[0][0]
        alone = Counter(word for pair in pairs for side in one_sided(*pair) for word in side)
        chosen = sorted(alone, key=lambda word: (-alone[word], word))[:MOST_WORDS]
        self.words = {word: place for place, word in enumerate(chosen)}
        shared = self.overlaps(pairs)
        spread = shared.std(axis=0)
        self.scale = shared.mean(axis=0), np.where(spread > 0, spread, 1.0)
        self.model = logistic_regression(self.features(pairs), targets, freedom=self.freedom)
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """The likeliest label of each pair."""
        require_fitted(self.name, self.usual)
        if self.model is None or not len(sources):
            return [str(self.usual)] * len(sources)
        return [str(label) for label in self.model.predict(self.features([two_texts(source) for source in sources]))]

    def features(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """(N, F): overlaps on a scale of their own, then the words of each side that the other lacks."""
        from scipy.sparse import csr_matrix, hstack  # slow to load

        mean, spread = self.scale
        rows, columns = [], []
        for row, pair in enumerate(pairs):
            for side, words in enumerate(one_sided(*pair)):
                known = [self.words[word] + side * len(self.words) for word in words if word in self.words]
                rows += [row] * len(known)
                columns += known
        alone = csr_matrix(([1.0] * len(rows), (rows, columns)), shape=(len(pairs), 2 * len(self.words)))
        return hstack([csr_matrix((self.overlaps(pairs) - mean) / spread), alone], format="csr")

    def overlaps(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """(N, 9): shares and counts of common words, lengths, and the cosine of the tf-idf weights."""
        import numpy as np

        firsts, seconds = (self.bag.transform(side) for side in zip(*pairs, strict=True))
        cosines = np.asarray(firsts.multiply(seconds).sum(axis=1)).ravel()
        return np.array(
            [[*counts_of(first, second), cosine] for (first, second), cosine in zip(pairs, cosines, strict=True)]
        )


def two_texts(source: str) -> tuple[str, str]:
    """The two texts of a source; without a tab the second is empty."""
    first, _, second = source.partition(BETWEEN)
    return first, second


def words_of(text: str) -> list[str]:
    """Words and signs, in small letters."""
    return PIECES.findall(text.lower())


def one_sided(first: str, second: str) -> tuple[list[str], list[str]]:
    """The distinct words that only the first text has, and those that only the second has."""
    here, there = set(words_of(first)), set(words_of(second))
    return sorted(here - there), sorted(there - here)


def counts_of(first: str, second: str) -> list[float]:
    """Shares of either side that the other has, of all words that both have; counts; lengths."""
    here, there = words_of(first), words_of(second)
    both, only_here, only_there = (
        len(set(here) & set(there)),
        len(set(here) - set(there)),
        len(set(there) - set(here)),
    )
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
