"""How many passes and steps the budget of a run allows, estimated before it begins: many choices of a recipe follow."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from atento.data.text.levels import split_features
from atento.spec import Recipe

SPEED = {"cpu": 6_000, "cuda": 60_000}  # tokens a second, of a model of width 256 on one core or one GPU, roughly
SEVERAL_CORES = 1.7
STEPS = 8_000  # so many, of smaller batches, learn more than fewer, where time is short
SMALLEST, LARGEST = 256, 4096  # tokens in a batch
SAMPLE = 1_000  # pairs whose length is looked at
SUBWORDS_PER_WORD = 1.3  # subwords in a word


class TrainingEstimate(NamedTuple):
    """How often a run will see its training part, and in how many steps."""

    passes: float  # over the training part
    seconds: float  # infinite without a time limit
    batch_tokens: int  # for a good number of steps; 0: steps are the limit, and a batch is as large as usual
    steps: float  # of such batches

    @classmethod
    def of(cls, recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> "TrainingEstimate":
        """By whichever limit comes first."""
        limits = recipe.train
        whole = max(1.0, len(train) * tokens_of_pair(train))
        cores = SEVERAL_CORES if device == "cpu" and limits.threads != 1 else 1.0
        most = [
            limits.budget * SPEED.get(device, SPEED["cpu"]) * cores if limits.budget else math.inf,
            limits.epochs * whole if limits.epochs else math.inf,
            limits.steps * limits.batch_tokens if limits.steps else math.inf,
        ]
        tokens = min(most)
        counted = bool(limits.steps) and tokens == most[2]
        batch = LARGEST if math.isinf(tokens) else min(max(int(tokens / STEPS), SMALLEST), LARGEST)
        steps = limits.steps if counted else tokens / batch
        return cls(tokens / whole, limits.budget or math.inf, 0 if counted else batch, steps)


def tokens_of_pair(train: Sequence[tuple[str, str]]) -> float:
    """About how many tokens a pair has on both sides."""
    sample = train[:: 1 + len(train) // SAMPLE]
    sources = [split_features(source) for source, _ in sample]
    features = sum(len(named) for _, named in sources) / max(1, len(sample))
    return features + tokens_of([text for text, _ in sources]) + tokens_of([target for _, target in sample])


def tokens_of(texts: Sequence[str]) -> float:
    """About how many tokens a text has: letters where it is mostly one word, else subwords."""
    words = sum(len(text.split()) for text in texts) / max(1, len(texts))
    return SUBWORDS_PER_WORD * words if words >= 1.5 else sum(map(len, texts)) / max(1, len(texts))
