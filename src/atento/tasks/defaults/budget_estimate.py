"""How many passes and steps the budget of a run allows, estimated before it begins: many choices of a recipe follow.

What a Transformer can learn in a short time depends on its size more than that of a recurrent network does: where time
is short a small one, at a higher rate, takes many more steps (docs/defaults/transformer-sizes.md).
"""

import math
import os
import time
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch

from atento.data.builtin.catalogue import is_builtin
from atento.data.text.levels import split_features
from atento.models.names import ModelName
from atento.spec import Chosen, Recipe
from atento.tasks.filling import BY_USER
from atento.tasks.task import Values

SPEED = {"cpu": 6_000, "cuda": 60_000}  # tokens a second, of a model of width 256 on one core or one GPU, roughly
SEVERAL_CORES = 1.7
STEPS = 8_000  # so many, of smaller batches, learn more than fewer, where time is short
SMALLEST, LARGEST = 256, 4096  # tokens in a batch
SAMPLE = 1_000  # pairs whose length is looked at
SUBWORDS_PER_WORD = 1.3  # subwords in a word
USUAL_RATE = 120.0  # GFLOP/s of the core that speeds were measured on
PRODUCT, PRODUCTS = 256, 40  # rows of the matrices by which a core is timed, and how often


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


@cache
def core_speed() -> float:
    """How fast a core is beside the usual one, to the nearest power of two: by its quickest product of matrices.

    The processes of one run must choose alike, so that where there are several the usual speed is taken.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        return 1.0
    threads, matrix, quickest = torch.get_num_threads(), torch.ones(PRODUCT, PRODUCT), math.inf
    torch.set_num_threads(1)
    for _ in range(PRODUCTS):
        began = time.perf_counter()
        torch.mm(matrix, matrix)
        quickest = min(quickest, time.perf_counter() - began)
    torch.set_num_threads(threads)
    rate = 2 * PRODUCT**3 / max(quickest, 1e-9) / 1e9
    return float(2.0 ** round(math.log2(rate / USUAL_RATE)))


class TransformerSize(NamedTuple):
    """A size that suits a time, in seconds of a usual core."""

    below: float
    layers: int
    hidden: int
    rate: float
    warmup: int


TRANSFORMERS = (
    TransformerSize(below=200, layers=1, hidden=128, rate=3e-3, warmup=100),
    TransformerSize(below=700, layers=2, hidden=128, rate=2e-3, warmup=200),
)  # with more time the values of the task hold


def transformer_size(recipe: Recipe, device: str) -> Values:
    """Layers, width, rate and warm-up of a Transformer by the time there is; nothing for other families, where steps
    or epochs are the limit, for built-in sets, and where the user chose a size.
    """
    chosen = any(recipe.why(key) == BY_USER for key in ("model.hidden", "model.layers"))
    if ModelName.parse(recipe.model.name).family != "transformer" or chosen or is_builtin(recipe.data.train):
        return {}
    limits = recipe.train
    if not limits.budget or limits.steps or limits.epochs:
        return {}
    cores = SEVERAL_CORES if limits.threads != 1 else 1.0
    speed = core_speed() * cores if device == "cpu" else SPEED["cuda"] / SPEED["cpu"]
    size = next((one for one in TRANSFORMERS if limits.budget * speed < one.below), None)
    if size is None:
        return {}
    why = f"{limits.budget:.3g} s here are {limits.budget * speed:.3g} s of a usual core: few steps of a large model"
    values = {"model.layers": size.layers, "model.hidden": size.hidden, "train.lr": size.rate}
    return {key: Chosen(value, why) for key, value in {**values, "train.warmup": size.warmup}.items()}


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
