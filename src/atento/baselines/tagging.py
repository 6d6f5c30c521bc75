"""Tagging baselines: an averaged perceptron over a word and its neighbours, and a network that sees one step alone.

The perceptron (Collins, 2002) tags from left to right; its feature templates are Ratnaparkhi's (1996, table 1), with
the shape of the word and the words and suffixes around it.
"""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from atento.baselines.validation import require_aligned, require_fitted
from atento.errors import InputError
from atento.layers.losses import token_cross_entropy
from atento.layers.products import Linear
from atento.layers.uncompiled import without_compiler

# Axes: N words of a sentence, S features without tags, F all features, C tags; M steps of all sequences, I channels.

EPOCHS = 5
TEMPLATES = 17  # of features without tags
MAX_CROSSED = 200_000  # features of a word with the previous tag
OUTSIDE = ("<s2>", "<s1>", "</s1>", "</s2>")  # words before and after a sentence
BATCH = 1024
MIN_UPDATES, MIN_EPOCHS = 300, 4
LEARNING_RATE = 0.01

FeatureIds = NDArray[np.int64]  # (N, S)
Weights = NDArray[np.float32]  # (F, C)


def word_shape(word: str) -> str:
    """`McDonald-7` -> XxXx-d: upper-case, lower-case, digits and signs, repetitions collapsed."""
    kinds = ["X" if one.isupper() else "x" if one.isalpha() else "d" if one.isdigit() else one for one in word[:20]]
    return "".join(kind for place, kind in enumerate(kinds) if place == 0 or kind != kinds[place - 1])


def templates(words: Sequence[str]) -> list[list[str]]:
    """The features of each word without tags; each template has a letter of its own as prefix."""
    around = [*OUTSIDE[:2], *words, *OUTSIDE[2:]]
    small = [word.lower() for word in around]
    return [
        [
            "a",  # bias
            f"b{around[at]}",
            f"c{small[at]}",
            f"d{small[at][-1:]}",
            f"e{small[at][-2:]}",
            f"f{small[at][-3:]}",
            f"g{small[at][-4:]}",
            f"h{small[at][:1]}",
            f"i{small[at][:3]}",
            f"j{word_shape(around[at])}",
            f"k{small[at - 1]}",
            f"l{small[at - 2]}",
            f"m{small[at + 1]}",
            f"n{small[at + 2]}",
            f"o{small[at - 1][-3:]}",
            f"p{small[at + 1][-3:]}",
            f"q{word_shape(around[at - 1])} {word_shape(around[at])} {word_shape(around[at + 1])}",
        ]
        for at in range(2, len(words) + 2)
    ]


class AveragedPerceptron:
    """Tags greedily from left to right by features of the words around, of the two previous tags, and of the previous
    tag with the word.

    Weights change by one at each mistake; predictions use their mean over all steps.
    """

    name = "perceptron"
    summary = "averaged perceptron: features of a word, its neighbours and the previous tags"

    def __init__(self, *, epochs: int = EPOCHS, seed: int = 0) -> None:
        if epochs < 1:
            raise InputError("epochs must be at least 1.", found=f"epochs={epochs}", fix="epochs=5")
        self.epochs, self.seed = epochs, seed
        self.tags: list[str] = []
        self.features: dict[str, int] = {}  # 0: unknown
        self.crossed: dict[str, int] = {}  # frequent words, combined with the previous tag
        self.weights: Weights | None = None

    def fit(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> "AveragedPerceptron":
        """Several epochs in a random order, each sentence from left to right with its own predictions."""
        require_aligned(self.name, sources, targets)
        self.tags = [tag for tag, _ in Counter(tag for tags in targets for tag in tags).most_common()]
        numbers = {tag: number for number, tag in enumerate(self.tags)}
        common = Counter(word.lower() for words in sources for word in words).most_common()
        limit = MAX_CROSSED // (len(self.tags) + 1)
        self.crossed = {word: number for number, (word, _) in enumerate(common[:limit], 1)}  # 0: all others
        self.features = {}
        for words in sources:
            for named in templates(words):
                for feature in named:
                    self.features.setdefault(feature, len(self.features) + 1)
        rows = [self.feature_ids(words) for words in sources]
        truth = [[numbers[tag] for tag in tags] for tags in targets]
        self.weights = self.train(rows, [self.crossed_ids(words) for words in sources], truth)
        return self

    def train(self, rows: Sequence[FeatureIds], crossed: Sequence[list[int]], truth: Sequence[list[int]]) -> Weights:
        """The mean of the weights over all steps: the last weights, minus each change times the steps before it."""
        width = len(self.tags) + 1
        shape = (self.first_of_tags + width * (width + 2 + len(self.crossed)), len(self.tags))
        weights, delayed = np.zeros(shape, np.float32), np.zeros(shape, np.float64)
        order, shuffler, step = list(range(len(rows))), random.Random(self.seed), 0
        for _ in range(self.epochs):
            shuffler.shuffle(order)
            for sentence in order:
                step = self.correct(weights, delayed, rows[sentence], crossed[sentence], truth[sentence], step)
        return (weights - delayed / max(step, 1)).astype(np.float32)

    def correct(
        self,
        weights: Weights,
        delayed: NDArray[np.float64],
        rows: FeatureIds,
        crossed: list[int],
        truth: list[int],
        step: int,
    ) -> int:
        """Correct the weights on one sentence; the number of the step after it."""
        scores = weights[rows].sum(axis=1)  # (N, C)
        before, earlier = len(self.tags), len(self.tags)  # no tag
        for place, right in enumerate(truth):
            some = self.tag_features(before, earlier, crossed[place])
            predicted = int((scores[place] + weights[some[0]] + weights[some[1]] + weights[some[2]]).argmax())
            if predicted != right:
                every = np.unique([*rows[place], *some])
                for tag, change in ((right, 1), (predicted, -1)):
                    weights[every, tag] += change
                    delayed[every, tag] += change * step
                scores[place + 1 :] = weights[rows[place + 1 :]].sum(axis=1)
            before, earlier, step = predicted, before, step + 1
        return step

    def predict(self, sources: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for every word."""
        require_fitted(self.name, self.weights)
        return [self.tag(words) for words in sources]

    def tag(self, words: Sequence[str]) -> list[str]:
        """One sentence, from left to right."""
        if self.weights is None or not words:
            return []
        scores, crossed = self.weights[self.feature_ids(words)].sum(axis=1), self.crossed_ids(words)
        found = [len(self.tags)] * 2
        for place in range(len(words)):
            some = self.tag_features(found[-1], found[-2], crossed[place])
            found.append(int((scores[place] + self.weights[some].sum(axis=0)).argmax()))
        return [self.tags[tag] for tag in found[2:]]

    def feature_ids(self, words: Sequence[str]) -> FeatureIds:
        """The numbers (N, S) of the features without tags."""
        found = [[self.features.get(feature, 0) for feature in named] for named in templates(words)]
        return np.asarray(found, dtype=np.int64).reshape(len(words), TEMPLATES)

    def crossed_ids(self, words: Sequence[str]) -> list[int]:
        """The numbers of the words that are combined with the previous tag; 0: not frequent enough."""
        return [self.crossed.get(word.lower(), 0) for word in words]

    @property
    def first_of_tags(self) -> int:
        """The number of the first feature with tags."""
        return len(self.features) + 1

    def tag_features(self, before: int, earlier: int, word: int) -> list[int]:
        """The numbers of three features: the previous tag, the two previous tags, the previous tag with the word."""
        width = len(self.tags) + 1
        first = self.first_of_tags
        return [first + before, first + width * (1 + earlier) + before, first + width * (1 + width + word) + before]


class FeedForwardTagger:
    """A label for each step by a network of one hidden layer that sees that step alone.

    A step is a token or a list of numbers. Tokens seen once are trained as the unknown token.
    """

    name = "each-step"
    summary = "feed-forward network that sees one step at a time"

    def __init__(self, *, hidden_size: int = 64, seed: int = 0) -> None:
        if hidden_size < 1:
            raise InputError(
                "hidden_size must be at least 1.", found=f"hidden_size={hidden_size}", fix="hidden_size=64"
            )
        self.hidden_size, self.seed = hidden_size, seed
        self.network: nn.Module | None = None
        self.tokens: dict[str, int] = {}  # 0: unknown
        self.width = 0  # channels of a step; 0: steps are tokens
        self.labels: list[str] = []

    def fit(self, sources: Sequence[Sequence[Any]], targets: Sequence[Sequence[str]]) -> "FeedForwardTagger":
        """Train on the steps of all sequences, in random order."""
        require_aligned(self.name, sources, targets)
        steps = [step for source in sources for step in source]
        truth = [label for target in targets for label in target]
        if not steps:
            raise InputError(f"{self.name} needs at least one step.", found="empty sequences", fix="add steps")
        self.labels = sorted(set(truth))
        numbers = {label: number for number, label in enumerate(self.labels)}
        with torch.random.fork_rng(devices=[]):  # the global random state stays as it was
            torch.manual_seed(self.seed)
            self.network = self.build(steps)
            self.train(self.network, self.encode(steps), torch.tensor([numbers[label] for label in truth]))
        return self

    def build(self, steps: Sequence[Any]) -> nn.Module:
        """One hidden layer; for tokens its first matrix is an embedding, the product with a one-hot vector."""
        last = Linear(self.hidden_size, len(self.labels))
        self.width = 0 if isinstance(steps[0], str) else len(steps[0])
        self.require_kind(steps)
        if not self.width:
            counts = Counter(steps)
            frequent = [token for token in counts if counts[token] > 1]
            self.tokens = {token: number for number, token in enumerate(frequent, 1)}
            return nn.Sequential(nn.Embedding(len(frequent) + 1, self.hidden_size), nn.Tanh(), last)
        return nn.Sequential(Linear(self.width, self.hidden_size), nn.Tanh(), last)

    def train(self, network: nn.Module, steps: Tensor, truth: Tensor) -> None:
        """Minimize the cross-entropy with Adam, over random batches of steps."""
        optimizer = without_compiler(torch.optim.Adam)(network.parameters(), lr=LEARNING_RATE)
        for _ in range(max(MIN_EPOCHS, -(-MIN_UPDATES * BATCH // max(len(steps), BATCH)))):
            for chosen in torch.split(torch.randperm(len(steps)), BATCH):
                optimizer.zero_grad()
                token_cross_entropy(network(steps[chosen]), truth[chosen]).mean.backward()  # type: ignore[no-untyped-call]
                optimizer.step()

    def predict(self, sources: Sequence[Sequence[Any]]) -> list[list[str]]:
        """The most probable label of each step."""
        require_fitted(self.name, self.network)
        steps = [step for source in sources for step in source]
        if self.network is None or not steps:
            return [[] for _ in sources]
        with torch.no_grad():
            best = iter(self.network(self.encode(steps)).argmax(dim=-1).tolist())
        return [[self.labels[next(best)] for _ in source] for source in sources]

    def encode(self, steps: Sequence[Any]) -> Tensor:
        """Tokens -> their numbers (M,); lists of numbers -> (M, I)."""
        self.require_kind(steps)
        if not self.width:
            return torch.tensor([self.tokens.get(step, 0) for step in steps])
        return torch.tensor([list(step) for step in steps], dtype=torch.get_default_dtype())

    def require_kind(self, steps: Sequence[Any]) -> None:
        """Refuse steps of another kind, or with another number of channels, than those learned."""
        for step in steps:
            if (0 if isinstance(step, str) else len(step)) != self.width:
                raise InputError(
                    f"{self.name} learned steps of {f'{self.width} numbers' if self.width else 'one token'}.",
                    found=repr(step)[:80],
                    fix="give steps of one kind and width",
                )
