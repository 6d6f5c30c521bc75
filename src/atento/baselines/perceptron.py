"""An averaged perceptron that tags from left to right: what features of a word and its neighbours tell (Collins, 2002).

The templates are Ratnaparkhi's (1996, table 1), with the shape of the word and the words and endings around it.
"""

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atento.baselines.fitted import require_fitted, require_steps
from atento.errors import InputError

# Axes: N words of a sentence, S features that are known beforehand, F all features, C tags.

PASSES = 5
TEMPLATES = 17  # of features that need no tag
MOST_CROSSED = 200_000  # features of a word with the tag before it
OUTSIDE = ("<s2>", "<s1>", "</s1>", "</s2>")  # words before and after a sentence

Rows = NDArray[np.int64]  # (N, S) numbers of features
Weights = NDArray[np.float32]  # (F, C)


def shape_of(word: str) -> str:
    """`McDonald-7` -> XxXx-d: capitals, small letters, digits and signs, each run as one."""
    kinds = ["X" if one.isupper() else "x" if one.isalpha() else "d" if one.isdigit() else one for one in word[:20]]
    return "".join(kind for place, kind in enumerate(kinds) if place == 0 or kind != kinds[place - 1])


def templates(words: Sequence[str]) -> list[list[str]]:
    """The features of each word that need no tag; each begins with a letter of its own."""
    around = [*OUTSIDE[:2], *words, *OUTSIDE[2:]]
    small = [word.lower() for word in around]
    return [
        [
            "a",  # always there
            f"b{around[at]}",
            f"c{small[at]}",
            f"d{small[at][-1:]}",
            f"e{small[at][-2:]}",
            f"f{small[at][-3:]}",
            f"g{small[at][-4:]}",
            f"h{small[at][:1]}",
            f"i{small[at][:3]}",
            f"j{shape_of(around[at])}",
            f"k{small[at - 1]}",
            f"l{small[at - 2]}",
            f"m{small[at + 1]}",
            f"n{small[at + 2]}",
            f"o{small[at - 1][-3:]}",
            f"p{small[at + 1][-3:]}",
            f"q{shape_of(around[at - 1])} {shape_of(around[at])} {shape_of(around[at + 1])}",
        ]
        for at in range(2, len(words) + 2)
    ]


class Perceptron:
    """Greedy from left to right: features of the words around, the two tags before, and the tag before with the word.

    Weights move by one at each mistake; what is used is their mean over all steps, so that the last mistakes weigh no
    more than the first.
    """

    name = "perceptron"
    summary = "averaged perceptron: features of a word, its neighbours and the tags before it"

    def __init__(self, *, passes: int = PASSES, seed: int = 0) -> None:
        if passes < 1:
            raise InputError("a perceptron needs a pass over its examples.", found=f"passes={passes}", fix="passes=5")
        self.passes, self.seed = passes, seed
        self.tags: list[str] = []
        self.features: dict[str, int] = {}  # 0 is what training never saw
        self.crossed: dict[str, int] = {}  # words common enough to be crossed with the tag before, by their number
        self.weights: Weights | None = None

    def fit(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> "Perceptron":
        """Several passes in a random order, each sentence from left to right on its own guesses."""
        require_steps(self.name, sources, targets)
        self.tags = [tag for tag, _ in Counter(tag for tags in targets for tag in tags).most_common()]
        numbers = {tag: number for number, tag in enumerate(self.tags)}
        common = Counter(word.lower() for words in sources for word in words).most_common()
        most = MOST_CROSSED // (len(self.tags) + 1)
        self.crossed = {word: number for number, (word, _) in enumerate(common[:most], 1)}  # 0: all others
        self.features = {}
        for words in sources:
            for named in templates(words):
                for feature in named:
                    self.features.setdefault(feature, len(self.features) + 1)
        rows = [self.read(words) for words in sources]
        truth = [[numbers[tag] for tag in tags] for tags in targets]
        self.weights = self.learn(rows, [self.cross(words) for words in sources], truth)
        return self

    def learn(self, rows: Sequence[Rows], crossed: Sequence[list[int]], truth: Sequence[list[int]]) -> Weights:
        """The mean of the weights over all steps: the last ones, less what came late in proportion to how late."""
        width = len(self.tags) + 1
        shape = (self.first_of_tags + width * (width + 2 + len(self.crossed)), len(self.tags))
        weights, late = np.zeros(shape, np.float32), np.zeros(shape, np.float64)
        order, chance, step = list(range(len(rows))), random.Random(self.seed), 0
        for _ in range(self.passes):
            chance.shuffle(order)
            for sentence in order:
                step = self.correct(weights, late, rows[sentence], crossed[sentence], truth[sentence], step)
        return (weights - late / max(step, 1)).astype(np.float32)

    def correct(
        self, weights: Weights, late: NDArray[np.float64], rows: Rows, crossed: list[int], truth: list[int], step: int
    ) -> int:
        """One sentence; the number of the step after it."""
        scores = weights[rows].sum(axis=1)  # (N, C)
        before, earlier = len(self.tags), len(self.tags)  # no tag yet
        for place, right in enumerate(truth):
            some = self.of_tags(before, earlier, crossed[place])
            guess = int((scores[place] + weights[some[0]] + weights[some[1]] + weights[some[2]]).argmax())
            if guess != right:
                every = np.unique([*rows[place], *some])
                for tag, change in ((right, 1), (guess, -1)):
                    weights[every, tag] += change
                    late[every, tag] += change * step
                scores[place + 1 :] = weights[rows[place + 1 :]].sum(axis=1)
            before, earlier, step = guess, before, step + 1
        return step

    def predict(self, sources: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for every word."""
        require_fitted(self.name, self.weights)
        return [self.tag(words) for words in sources]

    def tag(self, words: Sequence[str]) -> list[str]:
        """One sentence, from left to right."""
        if self.weights is None or not words:
            return []
        scores, crossed = self.weights[self.read(words)].sum(axis=1), self.cross(words)
        said = [len(self.tags)] * 2
        for place in range(len(words)):
            some = self.of_tags(said[-1], said[-2], crossed[place])
            said.append(int((scores[place] + self.weights[some].sum(axis=0)).argmax()))
        return [self.tags[tag] for tag in said[2:]]

    def read(self, words: Sequence[str]) -> Rows:
        """The numbers (N, S) of the features that are known beforehand."""
        found = [[self.features.get(feature, 0) for feature in named] for named in templates(words)]
        return np.asarray(found, dtype=np.int64).reshape(len(words), TEMPLATES)

    def cross(self, words: Sequence[str]) -> list[int]:
        """The numbers of the words that are crossed with the tag before; 0: none of them."""
        return [self.crossed.get(word.lower(), 0) for word in words]

    @property
    def first_of_tags(self) -> int:
        """Where the features begin that ask for tags."""
        return len(self.features) + 1

    def of_tags(self, before: int, earlier: int, word: int) -> list[int]:
        """The tag before; it and the one before that; it and the word."""
        width = len(self.tags) + 1
        first = self.first_of_tags
        return [first + before, first + width * (1 + earlier) + before, first + width * (1 + width + word) + before]
