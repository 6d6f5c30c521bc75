"""The simple model of the embed task: which word followed which, and how often."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from atento.baselines.fitted import require_fitted, require_pairs
from atento.data.vocabulary import Words
from atento.models.skip_gram import FLATTEN
from atento.tasks.pair_codec import prepare_text


class NextWordCounts:
    """Prefers the word that followed the one before most often, then the more frequent one."""

    name = "bigrams"
    summary = "which word followed which, counted"

    def __init__(self) -> None:
        self.words: dict[str, int] | None = None

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "NextWordCounts":
        """Count words and pairs of neighbours."""
        require_pairs(self.name, sources, targets)
        cut = [Words([]).cut(prepare_text(source)) for source in sources]
        counts = Counter(word for words in cut for word in words)
        self.words = {word: number for number, word in enumerate(counts)}
        self.counts = np.array([*counts.values(), 0][: len(counts)], dtype=np.float64)
        self.noise = self.counts**FLATTEN / max((self.counts**FLATTEN).sum(), 1.0)
        self.after: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for words in cut:
            numbers = [self.words[word] for word in words]
            for before, word in pairwise(numbers):
                self.after[before][word] += 1
        return self

    def predict(self, sources: Sequence[str]) -> list[list[float]]:
        """[preferred, asked] of each text: by how much of the drawn words the true ones were preferred."""
        require_fitted(self.name, self.words)
        return [
            self.judge([(self.words or {}).get(word) for word in Words([]).cut(prepare_text(source))])
            for source in sources
        ]

    def judge(self, numbers: Sequence[int | None]) -> list[float]:
        """Words never seen neither count nor help."""
        preferred, asked = 0.0, 0.0
        for before, word in pairwise(numbers):
            if word is None:
                continue
            scores = self.counts / (self.counts.sum() + 1)
            for follower, count in self.after.get(before, {}).items() if before is not None else ():
                scores[follower] += count
            preferred += float(self.noise @ ((scores[word] > scores) + 0.5 * (scores == scores[word])))
            asked += 1.0
        return [preferred, asked]
