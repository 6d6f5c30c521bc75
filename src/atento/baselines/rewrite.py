"""Rewriting: the source again, with its beginning and ending changed as those of the likest training sources were."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from atento.baselines.fitted import require_fitted, require_pairs
from atento.baselines.frequent import most_common

MOST_PAIRS = 20_000  # beyond this, every k-th training pair stands for all
LONGEST = 8  # letters of a source that an ending is recognised by
BETWEEN = "\t"  # features stand after it


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
