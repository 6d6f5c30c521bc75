"""Baselines that answer a text with a text: the nearest training example, and learned changes of affixes."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import ClassVar, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from atento.baselines.explanation import Explanation
from atento.baselines.frequent import most_common
from atento.baselines.validation import require_fitted, require_pairs

MAX_DISTANCES = 60_000_000  # beyond, every k-th training pair is used
ROWS = 256  # sources compared at a time
NEIGHBOURS = 3  # that an explanation shows
MAX_PAIRS = 20_000  # beyond, every k-th training pair is used
MAX_LENGTH = 1000  # characters of a pair that teaches affixes
MAX_AFFIX = 8  # characters by which an ending or a beginning is recognised
SEPARATOR = "\t"  # between a word and its features


class NearestText:
    """The target of the training source with the smallest edit distance."""

    name = "nearest"
    summary = "target of the training source fewest edits away"

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.targets: list[str] = []

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "NearestText":
        """Store all pairs."""
        require_pairs(self.name, sources, targets)
        self.sources, self.targets = list(sources), list(targets)
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """The target of the nearest source; of equally near ones the first."""
        require_fitted(self.name, self.sources or None)
        stride = 1 + len(sources) * len(self.sources) // MAX_DISTANCES
        known, targets = self.sources[::stride], self.targets[::stride]
        answers: list[str] = []
        for first in range(0, len(sources), ROWS):
            distances = cdist(
                sources[first : first + ROWS], known, scorer=Levenshtein.distance, dtype=np.int32, workers=-1
            )
            answers.extend(targets[index] for index in distances.argmin(axis=1))
        return answers

    def explain(self, source: str) -> Explanation:
        """The nearest training sources, by how many edits they are away."""
        require_fitted(self.name, self.sources or None)
        distances = cdist([source], self.sources, scorer=Levenshtein.distance, dtype=np.int32)[0]
        near = np.argsort(distances, kind="stable")[:NEIGHBOURS]
        items = [(f"{self.sources[place]} → {self.targets[place]}", float(distances[place])) for place in near]
        return Explanation("edits to the nearest training examples", items, signed=False)


class AffixChange(NamedTuple):
    """A prefix or suffix of a source, and what stands there in its target."""

    old: str
    new: str


class AffixRules:
    """The source with its prefix and suffix changed as most often in training, by the longest known affix.

    Only training sources with the same features count; a source without any known affix is copied. On word forms it is
    the baseline of CoNLL-SIGMORPHON 2017.
    """

    name = "rewrite"
    summary = "the source with prefix and suffix changed as in the most similar training sources"

    state_types: ClassVar[tuple[type, ...]] = (AffixChange,)

    def __init__(self) -> None:
        self.suffixes: dict[tuple[str, str], AffixChange] | None = None  # by features and suffix
        self.prefixes: dict[tuple[str, str], AffixChange] = {}  # by features and prefix

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "AffixRules":
        """Count how the text before and after the longest common substring of source and target changes."""
        require_pairs(self.name, sources, targets)
        stride = 1 + len(sources) // MAX_PAIRS
        suffixes: defaultdict[tuple[str, str], Counter[AffixChange]] = defaultdict(Counter)
        prefixes: defaultdict[tuple[str, str], Counter[AffixChange]] = defaultdict(Counter)
        for source, target in zip(sources[::stride], targets[::stride], strict=True):
            word, _, features = source.partition(SEPARATOR)
            if max(len(word), len(target)) > MAX_LENGTH:
                continue
            kept = SequenceMatcher(None, word, target, autojunk=False).find_longest_match()
            after = AffixChange(word[kept.a + kept.size :], target[kept.b + kept.size :])
            before = AffixChange(word[: kept.a], target[: kept.b])
            for length in range(len(after.old), min(len(word), MAX_AFFIX) + 1):
                suffixes[features, word[len(word) - length :]][after] += 1
            for length in range(len(before.old), min(len(word), MAX_AFFIX) + 1):
                prefixes[features, word[:length]][before] += 1
        self.suffixes = {key: most_common(counts) for key, counts in suffixes.items()}
        self.prefixes = {key: most_common(counts) for key, counts in prefixes.items()}
        return self

    def predict(self, sources: Sequence[str]) -> list[str]:
        """Each source with its affixes changed."""
        require_fitted(self.name, self.suffixes)
        return [self.rewrite(source) for source in sources]

    def rewrite(self, source: str) -> str:
        """Change the longest known suffix, then the longest known prefix of the rest."""
        word, _, features = source.partition(SEPARATOR)
        lengths = range(min(len(word), MAX_AFFIX), -1, -1)
        known, none = self.suffixes or {}, AffixChange("", "")
        after = next(filter(None, (known.get((features, word[len(word) - length :])) for length in lengths)), none)
        rest = word[: len(word) - len(after.old)]
        before = next(filter(None, (self.prefixes.get((features, rest[:length])) for length in lengths)), none)
        return before.new + rest[len(before.old) :] + after.new
