"""An averaged perceptron that tags from left to right: what features of a word and its neighbours tell (Collins, 2002).

The templates are Ratnaparkhi's (1996, table 1), with the shape of the word and the words and endings around it.

A feed-forward network applied to each step by itself: what can be said of a step without its neighbours.
"""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from atento.baselines.fitted import require_fitted, require_steps
from atento.errors import InputError
from atento.layers.losses import token_cross_entropy

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


# Axes: M steps of all sequences, I numbers of a step, C labels.

BATCH = 1024
LEAST_UPDATES, LEAST_EPOCHS = 300, 4
RATE = 0.01


class EachStep:
    """Labels of steps from a network of one hidden layer that sees one step at a time: no order, no memory.

    A step is a token or a list of numbers. Tokens met once teach what to expect of unknown ones.
    """

    name = "each-step"
    summary = "feed-forward network that sees one step at a time"

    def __init__(self, *, hidden_size: int = 64, seed: int = 0) -> None:
        if hidden_size < 1:
            raise InputError(
                "a hidden layer has one unit at least.", found=f"hidden_size={hidden_size}", fix="hidden_size=64"
            )
        self.hidden_size, self.seed = hidden_size, seed
        self.network: nn.Module | None = None
        self.tokens: dict[str, int] = {}  # 0 stands for all others
        self.width = 0  # numbers of a step; 0: steps are tokens
        self.labels: list[str] = []

    def fit(self, sources: Sequence[Sequence[Any]], targets: Sequence[Sequence[str]]) -> "EachStep":
        """Learn from the steps of all sequences together: to this network they are one heap."""
        require_steps(self.name, sources, targets)
        steps = [step for source in sources for step in source]
        truth = [label for target in targets for label in target]
        if not steps:
            raise InputError(f"{self.name} needs a step to learn from.", found="empty sequences", fix="add steps")
        self.labels = sorted(set(truth))
        numbers = {label: number for number, label in enumerate(self.labels)}
        with torch.random.fork_rng(devices=[]):  # nobody else's chance is touched
            torch.manual_seed(self.seed)
            self.network = self.build(steps)
            self.learn(self.network, self.encode(steps), torch.tensor([numbers[label] for label in truth]))
        return self

    def build(self, steps: Sequence[Any]) -> nn.Module:
        """One hidden layer; a token is a one-hot vector, so its product with the first matrix is looked up."""
        last = nn.Linear(self.hidden_size, len(self.labels))
        self.width = 0 if isinstance(steps[0], str) else len(steps[0])
        self.require_kind(steps)
        if not self.width:
            counts = Counter(steps)
            often = [token for token in counts if counts[token] > 1]
            self.tokens = {token: number for number, token in enumerate(often, 1)}
            return nn.Sequential(nn.Embedding(len(often) + 1, self.hidden_size), nn.Tanh(), last)
        return nn.Sequential(nn.Linear(self.width, self.hidden_size), nn.Tanh(), last)

    def learn(self, network: nn.Module, steps: Tensor, truth: Tensor) -> None:
        """Some steps at a time, in a random order."""
        optimiser = torch.optim.Adam(network.parameters(), lr=RATE)
        for _ in range(max(LEAST_EPOCHS, -(-LEAST_UPDATES * BATCH // max(len(steps), BATCH)))):
            for chosen in torch.split(torch.randperm(len(steps)), BATCH):
                optimiser.zero_grad()
                token_cross_entropy(network(steps[chosen]), truth[chosen]).mean.backward()  # type: ignore[no-untyped-call]
                optimiser.step()

    def predict(self, sources: Sequence[Sequence[Any]]) -> list[list[str]]:
        """The likeliest label of each step."""
        require_fitted(self.name, self.network)
        steps = [step for source in sources for step in source]
        if self.network is None or not steps:
            return [[] for _ in sources]
        with torch.no_grad():
            best = iter(self.network(self.encode(steps)).argmax(dim=-1).tolist())
        return [[self.labels[next(best)] for _ in source] for source in sources]

    def encode(self, steps: Sequence[Any]) -> Tensor:
        """Tokens -> their numbers (M,), lists of numbers -> (M, I)."""
        self.require_kind(steps)
        if not self.width:
            return torch.tensor([self.tokens.get(step, 0) for step in steps])
        return torch.tensor([list(step) for step in steps], dtype=torch.get_default_dtype())

    def require_kind(self, steps: Sequence[Any]) -> None:
        """All steps are tokens, or all have as many numbers."""
        for step in steps:
            if (0 if isinstance(step, str) else len(step)) != self.width:
                raise InputError(
                    f"{self.name} learned steps of {f'{self.width} numbers' if self.width else 'one token'}.",
                    found=repr(step)[:80],
                    fix="give steps of one kind and width",
                )
