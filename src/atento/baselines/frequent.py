"""Majority baselines: the most frequent label, label set or text, and the most frequent tag of each word."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

from atento.baselines.validation import require_aligned, require_fitted, require_pairs


class Majority:
    """The most frequent target, whatever the source; of equally frequent ones the first seen."""

    name = "majority"
    summary = "the most frequent answer, always"

    def __init__(self) -> None:
        self.counts: dict[Any, int] | None = None

    def fit(self, sources: Sequence[Any], targets: Sequence[Hashable]) -> "Majority":
        """Count the targets; the sources are not used."""
        require_pairs(self.name, sources, targets)
        self.counts = Counter(targets)
        return self

    def predict(self, sources: Sequence[Any]) -> list[Any]:
        """The same target for every source."""
        require_fitted(self.name, self.counts)
        return [most_common(self.counts)] * len(sources)

    def probabilities(self, sources: Sequence[Any]) -> list[dict[str, float]]:
        """The share of each target in the training part."""
        counts = require_fitted(self.name, self.counts)
        total = sum(counts.values())
        return [{str(target): count / total for target, count in counts.items()}] * len(sources)


class MajorityLabelSet:
    """The most frequent set of labels, whatever the source; of equally frequent ones the first seen."""

    name = "majority-labels"
    summary = "the most frequent labels, always"

    def __init__(self) -> None:
        self.sets: dict[tuple[str, ...], int] | None = None
        self.ranked: list[str] = []

    def fit(self, sources: Sequence[Any], targets: Sequence[Sequence[str]]) -> "MajorityLabelSet":
        """Count the sets, and each label by itself."""
        require_pairs(self.name, sources, targets)
        self.sets = Counter(tuple(sorted(target)) for target in targets)
        self.ranked = [label for label, _ in Counter(label for target in targets for label in target).most_common()]
        return self

    def predict(self, sources: Sequence[Any]) -> list[list[str]]:
        """The same labels for every source."""
        return [labels for labels, _ in self.rank(sources)]

    def rank(self, sources: Sequence[Any]) -> list[tuple[list[str], list[str]]]:
        """For every source the predicted labels, and all labels, the most frequent first."""
        require_fitted(self.name, self.sets)
        majority = most_common(self.sets)
        labels = [label for label in self.ranked if label in majority]
        return [(labels, self.ranked)] * len(sources)


class MostFrequentTag:
    """Each word's most frequent tag; an unknown word gets that of the words of its pattern.

    The pattern is the kind of the first character and the last two letters; where no word has it, the kind of the
    first character alone; else all words count.
    """

    name = "frequent-tag"
    summary = "the most frequent tag of each word, of an unknown one by its first and last letters"

    def __init__(self) -> None:
        self.tags: dict[str, str] | None = None
        self.pattern_tags: dict[str, str] = {}
        self.majority = ""

    def fit(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> "MostFrequentTag":
        """Count the tags of every word and every pattern."""
        require_aligned(self.name, sources, targets)
        every: Counter[str] = Counter(tag for tags in targets for tag in tags)
        by_word: defaultdict[str, Counter[str]] = defaultdict(Counter)
        by_pattern: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for words, tags in zip(sources, targets, strict=True):
            for word, tag in zip(words, tags, strict=True):
                by_word[word][tag] += 1
                for pattern in word_patterns(word):
                    by_pattern[pattern][tag] += 1
        self.majority = most_common(every) if every else ""
        self.pattern_tags = {pattern: most_common(counts) for pattern, counts in by_pattern.items()}
        self.tags = {word: most_common(counts) for word, counts in by_word.items()}
        return self

    def predict(self, sources: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for every word."""
        require_fitted(self.name, self.tags)
        return [[self.tag(word) for word in words] for words in sources]

    def tag(self, word: str) -> str:
        """The tag of a word, else that of its pattern."""
        known = self.tags or {}
        if word in known:
            return known[word]
        patterns = (pattern for pattern in word_patterns(word) if pattern in self.pattern_tags)
        return next((self.pattern_tags[pattern] for pattern in patterns), self.majority)


def word_patterns(word: str) -> tuple[str, str]:
    """The kind of a word's first character, with its last two letters and without: `Walking` -> X ng, X."""
    first = word[:1]
    kind = "X" if first.isupper() else "x" if first.isalpha() else "d" if first.isdigit() else first
    return f"{kind} {word[-2:]}", kind


def most_common(counts: Any) -> Any:
    """The most frequent key of a counter; of equally frequent ones the first counted."""
    return max(counts, key=counts.__getitem__)
