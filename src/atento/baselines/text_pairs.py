"""Two texts by what they share: how many words, how rare, and which words only one of them has.

Nearest neighbour: answer with the target of the training source that is fewest edits away.
Rewriting: the source again, with its beginning and ending changed as those of the likest training sources were.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from atento.baselines.fitted import require_fitted, require_pairs
from atento.baselines.frequent import most_common
from atento.baselines.text_labels import PIECES, Bag, logistic_regression, require_freedom

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


MOST_PAIRS = 20_000  # beyond this, every k-th training pair stands for all
LONGEST = 8  # letters of a source that an ending is recognised by


class Change(NamedTuple):
    """What stands at one end of a source, and what stands there in its target."""

    old: str
    new: str


class Rewrite:
    """For each ending a source may have, the change that was commonest there; the longest known ending decides. Only
    sources of the same features are asked; without any that is like it, a source is copied. On word forms it is the
    simple system of CoNLL-SIGMORPHON 2017.
    """

    name = "rewrite"
    summary = "the source with both ends changed as after the likest endings"

    def __init__(self) -> None:
        self.endings: dict[tuple[str, str], Change] | None = None  # by features and ending
        self.beginnings: dict[tuple[str, str], Change] = {}  # by features and beginning

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "Rewrite":
        """Count what happens to the longest stretch of a source that its target keeps: what lies around it changes."""
        require_pairs(self.name, sources, targets)
        stride = 1 + len(sources) // MOST_PAIRS
        endings: defaultdict[tuple[str, str], Counter[Change]] = defaultdict(Counter)
        beginnings: defaultdict[tuple[str, str], Counter[Change]] = defaultdict(Counter)
        for source, target in zip(sources[::stride], targets[::stride], strict=True):
            word, _, features = source.partition(BETWEEN)
            kept = SequenceMatcher(None, word, target, autojunk=False).find_longest_match()
            after = Change(word[kept.a + kept.size :], target[kept.b + kept.size :])
            before = Change(word[: kept.a], target[: kept.b])
            for length in range(len(after.old), min(len(word), LONGEST) + 1):
                endings[features, word[len(word) - length :]][after] += 1
            for length in range(len(before.old), min(len(word), LONGEST) + 1):
                beginnings[features, word[:length]][before] += 1
        self.endings = {key: most_common(counts) for key, counts in endings.items()}
        self.beginnings = {key: most_common(counts) for key, counts in beginnings.items()}
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """Each source with its ends changed."""
        require_fitted(self.name, self.endings)
        return [self.rewrite(source) for source in sources]

    def rewrite(self, source: str) -> str:
        """The longest known ending and the longest known beginning decide; an end changes once."""
        word, _, features = source.partition(BETWEEN)
        lengths = range(min(len(word), LONGEST), -1, -1)
        known, none = self.endings or {}, Change("", "")
        after = next(filter(None, (known.get((features, word[len(word) - length :])) for length in lengths)), none)
        rest = word[: len(word) - len(after.old)]
        before = next(filter(None, (self.beginnings.get((features, rest[:length])) for length in lengths)), none)
        return before.new + rest[len(before.old) :] + after.new
