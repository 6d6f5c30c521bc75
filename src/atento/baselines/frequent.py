"""The most frequent answer, whatever is asked; for tags, the most frequent one of each word."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

from atento.baselines.fitted import require_fitted, require_pairs, require_steps


class Majority:
    """The most frequent target of all; of equally frequent ones the first met."""

    name = "majority"
    summary = "the most frequent answer, always"

    def __init__(self) -> None:
        self.counts: Counter[Any] | None = None

    def fit(self, sources: Sequence[Any], targets: Sequence[Hashable]) -> "Majority":
        """Count the targets; the sources are not looked at."""
        require_pairs(self.name, sources, targets)
        self.counts = Counter(targets)
        return self

    def predict(self, sources: Sequence[Any]) -> list[Any]:
        """The same for all."""
        require_fitted(self.name, self.counts)
        return [most_common(self.counts)] * len(sources)


class MajorityLabels:
    """The most frequent set of labels, whatever is asked; of equally frequent ones the first met."""

    name = "majority-labels"
    summary = "the most frequent labels, always"

    def __init__(self) -> None:
        self.sets: Counter[tuple[str, ...]] | None = None
        self.ranked: list[str] = []

    def fit(self, sources: Sequence[Any], targets: Sequence[Sequence[str]]) -> "MajorityLabels":
        """Count the sets, and each label by itself."""
        require_pairs(self.name, sources, targets)
        self.sets = Counter(tuple(sorted(target)) for target in targets)
        self.ranked = [label for label, _ in Counter(label for target in targets for label in target).most_common()]
        return self

    def predict(self, sources: Sequence[Any]) -> list[list[str]]:
        """The same for all."""
        return [said for said, _ in self.rank(sources)]

    def rank(self, sources: Sequence[Any]) -> list[tuple[list[str], list[str]]]:
        """The same for all, and every label, the most frequent first."""
        require_fitted(self.name, self.sets)
        usual = most_common(self.sets)
        said = [label for label in self.ranked if label in usual]
        return [(list(said), list(self.ranked)) for _ in sources]


class MostFrequentTag:
    """Each word's most frequent tag; an unknown word gets the most frequent one of words that look like it.

    Those have its last two letters and begin as it does; where there are none, those that begin as it does; then all.
    """

    name = "frequent-tag"
    summary = "the most frequent tag of each word, of an unknown one by its looks"

    def __init__(self) -> None:
        self.tags: dict[str, str] | None = None
        self.looks: dict[str, str] = {}
        self.usual = ""

    def fit(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> "MostFrequentTag":
        """Count the tags of every word."""
        require_steps(self.name, sources, targets)
        every: Counter[str] = Counter(tag for tags in targets for tag in tags)
        by_word: defaultdict[str, Counter[str]] = defaultdict(Counter)
        by_look: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for words, tags in zip(sources, targets, strict=True):
            for word, tag in zip(words, tags, strict=True):
                by_word[word][tag] += 1
                for look in looks_of(word):
                    by_look[look][tag] += 1
        self.usual = most_common(every) if every else ""
        self.looks = {look: most_common(counts) for look, counts in by_look.items()}
        self.tags = {word: most_common(counts) for word, counts in by_word.items()}
        return self

    def predict(self, sources: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for every word."""
        require_fitted(self.name, self.tags)
        return [[self.tag(word) for word in words] for words in sources]

    def tag(self, word: str) -> str:
        """By the word itself, else by its looks."""
        known = self.tags or {}
        if word in known:
            return known[word]
        return next((self.looks[look] for look in looks_of(word) if look in self.looks), self.usual)


def looks_of(word: str) -> tuple[str, str]:
    """How a word begins, with its ending and without: `Walking` -> X ng, X."""
    first = word[:1]
    begins = "X" if first.isupper() else "x" if first.isalpha() else "d" if first.isdigit() else first
    return f"{begins} {word[-2:]}", begins


def most_common(counts: Any) -> Any:
    """Of equally frequent ones the first counted."""
    return counts.most_common(1)[0][0]
