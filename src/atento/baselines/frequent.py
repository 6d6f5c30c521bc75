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


class MostFrequentTag:
    """Each word's most frequent tag; an unknown word gets the most frequent tag of all."""

    name = "frequent-tag"
    summary = "the most frequent tag of each word"

    def __init__(self) -> None:
        self.tags: dict[str, str] | None = None
        self.usual = ""

    def fit(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> "MostFrequentTag":
        """Count the tags of every word."""
        require_steps(self.name, sources, targets)
        every: Counter[str] = Counter(tag for tags in targets for tag in tags)
        by_word: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for words, tags in zip(sources, targets, strict=True):
            for word, tag in zip(words, tags, strict=True):
                by_word[word][tag] += 1
        self.usual = most_common(every) if every else ""
        self.tags = {word: most_common(counts) for word, counts in by_word.items()}
        return self

    def predict(self, sources: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for every word."""
        require_fitted(self.name, self.tags)
        return [[(self.tags or {}).get(word, self.usual) for word in words] for words in sources]


def most_common(counts: Any) -> Any:
    """Of equally frequent ones the first counted."""
    return counts.most_common(1)[0][0]
