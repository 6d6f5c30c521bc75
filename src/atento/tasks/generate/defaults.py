"""Recipes of the generate task, chosen by measurement. How stands in docs/defaults/generate.md.

Width, depth, batch and regularization follow from how much text there is, how it is cut, and how often the budget lets
a model of that size read it.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from atento.data.builtin.catalogue import is_builtin
from atento.data.text.vocabulary import LosslessWords
from atento.models.builders.recurrent import has_matrices
from atento.models.names import SELF_ATTENTIVE, ModelName
from atento.spec import Chosen, Recipe
from atento.tasks.defaults.budget_estimate import core_speed, transformer_size
from atento.tasks.filling import measured_kin
from atento.tasks.generate.codec import likely_level
from atento.tasks.task import Pair, Values

MODELS = ("rnn", "gru", "lstm", "lstm+ngram", "transformer", "transformer+ngram")

RECURRENT: Values = {
    "train.stateful": True,
    "train.sequence_length": 64,
    "train.batch_tokens": 2048,
    "model.layers": 1,
    "model.hidden": 256,
}

ANY_DATA: dict[str, Values] = {
    "rnn": {**RECURRENT, "train.lr": 1e-3},
    "gru": {**RECURRENT, "train.lr": 4e-3},
    "lstm": {**RECURRENT, "train.lr": 8e-3},
    "transformer": {
        "train.sequence_length": 128,
        "train.batch_tokens": 2048,
        "model.layers": 4,
        "model.hidden": 128,
        "train.lr": 2e-3,
    },
}

SHORT_OF_TIME: Values = {  # a Transformer on a CPU: docs/defaults/generate.md
    "train.sequence_length": 64,
    "train.batch_tokens": 512,
    "model.layers": 2,
    "model.hidden": 128,
    "train.lr": 3e-3,
}

STORIES: Values = {"model.hidden": 128, "model.dropout": 0.0, "train.batch_tokens": 1536, "train.budget": 60}

BUILTIN: dict[str, dict[str, Values]] = {
    "stories": {
        "rnn": {**STORIES, "train.lr": 1e-3},
        "gru": {**STORIES, "train.lr": 5e-3},
        "lstm": {**STORIES, "train.lr": 5e-3},
        "transformer": {**STORIES, "train.lr": 3e-3, "model.hidden": 96, "model.layers": 2},
    },
}

SAMPLE = 500_000  # characters of the training part that are looked at
SUBWORD = 3.5  # characters, roughly
COSTLY = 4_000  # tokens of a vocabulary, from which on the output layer is most of the work on a CPU
DRAWN = 1024  # of them, while training
CORE, SEVERAL_CORES = 40e9, 1.7  # operations a second of one CPU core; what several are worth
GPU_SPEED = {"char": 500e3, "word": 250e3, "subword": 250e3}  # tokens a second, measured on an H200
SMALL_SPEED = 33e3  # tokens a second that a Transformer of `SHORT_OF_TIME` reads on a usual core
GATES = {"rnn": 2, "gru": 6, "lstm": 8}  # weights of a layer, in squared widths
CPU_WIDTHS = (256, 384, 512)
READ_FOR_A_WEIGHT = 3.0  # tokens, at the least, in a model as wide as the time lets it be
PASSES = (3, 10, 25, 60)  # over a text, each of which takes a tenth more dropout to learn from
FIRM = 3  # tenths of dropout from which on the other regularizers of Merity et al. (2018) join it
MOST_PASSES = {"char": 60, "word": 100, "subword": 60}  # of recurrent models on a GPU
TRANSFORMER_PASSES = {"char": 40, "word": 24, "subword": 24}
PENALTIES: Values = {"model.activation_penalty": 2.0, "model.temporal_penalty": 1.0, "model.embedding_dropout": 0.1}

PENALIZED = {"model.activation_penalty", "model.temporal_penalty"}
DROPPED = "model.recurrent_dropout"  # which a cell without recurrent matrices does not have

GPU_RATES = {"rnn": 3e-4, "gru": 2e-3, "lstm": 2e-3}
GPU_WINDOWS: dict[str, Values] = {
    "char": {"train.sequence_length": 128, "train.batch_tokens": 8192},
    "word": {"train.sequence_length": 70, "train.batch_tokens": 2800},
    "subword": {"train.sequence_length": 70, "train.batch_tokens": 2800},
}
GPU_TRANSFORMER: dict[str, Values] = {
    "char": {"train.sequence_length": 256, "train.batch_tokens": 16384, "model.layers": 8, "model.dropout": 0.2},
    "word": {"train.sequence_length": 128, "train.batch_tokens": 8192, "model.layers": 6, "model.dropout": 0.5},
    "subword": {"train.sequence_length": 128, "train.batch_tokens": 8192, "model.layers": 6, "model.dropout": 0.3},
}
GPU_TRANSFORMERS: Values = {
    "model.hidden": 512,
    "model.heads": 8,
    "train.lr": 1e-3,
    "train.weight_decay": 0.1,
    "train.warmup": 400,
}
LONG, SHORT = 30e6, 8e6  # tokens read in all, for which a GPU trains the widest models, or those half as wide


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.family, {}), **BUILTIN.get(data, {}).get(model.family, {})}


class TextSize(NamedTuple):
    """How much there is to learn from."""

    level: str  # char, word or subword
    tokens: float  # of the training part, roughly
    vocabulary: int

    @classmethod
    def of(cls, recipe: Recipe, train: Sequence[Pair]) -> "TextSize":
        """By the first part of the texts."""
        some, lengths, left = list[str](), list[int](), SAMPLE
        for text, _ in train:
            some.append(text[:left])
            lengths.append(len(text))
            left -= len(some[-1])
            if left <= 0:
                break
        whole = max(1.0, sum(lengths) / max(1, len(lengths)) * len(train))
        asked = recipe.tokens.source
        level = likely_level(some)[0] if asked == "auto" else asked
        if level == "word":
            words = Counter(word for text in some for word in LosslessWords([]).tokenize(text))
            known = sum(count >= recipe.tokens.min_count for count in words.values())
            tokens = max(1.0, sum(words.values()) * whole / max(1, SAMPLE - left))
            return cls(level, tokens, min(known, recipe.tokens.vocab_size))
        if level == "subword":
            return cls(level, whole / SUBWORD, recipe.tokens.vocab_size)
        return cls(level, whole, len(set().union(*some)))


def sized(recipe: Recipe, train: Sequence[Pair], device: str) -> Values:
    """Sizes and regularization of a causal model of a user's text; built-in sets and masked models have their own."""
    own = ModelName.parse(recipe.model.name)
    family = measured_kin(own).family
    if is_builtin(recipe.data.train) or recipe.train.objective == "masked" or family not in ANY_DATA:
        return {}
    text = TextSize.of(recipe, train)
    if family in SELF_ATTENTIVE:
        make = on_gpu_transformer if device == "cuda" else on_cpu_transformer
        return make(recipe, text, own)
    values = on_gpu(recipe, text, family) if device == "cuda" else on_cpu(recipe, text, family)
    left_out = {DROPPED} if not has_matrices(own.family) else set()
    left_out |= PENALIZED if recipe.train.bptt_steps else set()  # which cuts the sequences that they look at
    return {key: value for key, value in values.items() if key not in left_out}


def on_cpu(recipe: Recipe, text: TextSize, family: str) -> Values:
    """One recurrent layer, as wide as the time is long; drawn tokens instead of a large vocabulary."""
    drawn = DRAWN if text.vocabulary >= COSTLY else 0
    cores = 1.0 if recipe.train.threads == 1 else SEVERAL_CORES
    chosen, read = CPU_WIDTHS[0], 0.0
    for width in CPU_WIDTHS:
        weights = GATES[family] * width**2 + (drawn or text.vocabulary) * width
        tokens = tokens_read(recipe, text, speed=CORE * cores / (6 * weights))  # forward and back
        if width == chosen or (recipe.train.budget and tokens >= READ_FOR_A_WEIGHT * weights):
            chosen, read = width, tokens
    values: Values = {"model.hidden": chosen, "model.sampled_softmax": drawn}
    if text.level != "char":
        values["train.lr"] = {"rnn": 1e-3}.get(family, 4e-3)
    return values | regularized(text, read / text.tokens, weaker=True)


def on_cpu_transformer(recipe: Recipe, text: TextSize, model: ModelName) -> Values:
    """Drawn tokens instead of a large vocabulary; where time is short two layers of 128, and many small batches."""
    drawn: Values = {"model.sampled_softmax": DRAWN if text.vocabulary >= COSTLY else 0}
    size = transformer_size(recipe, "cpu")
    why = next((value.why for value in size.values() if isinstance(value, Chosen)), None)
    if why is None:
        return drawn
    short = {**SHORT_OF_TIME, **({"model.positions": "rotary"} if is_plain(model) else {})}
    if tokens_read(recipe, text, speed=SMALL_SPEED * core_speed()) <= PASSES[0] * text.tokens:
        short["model.dropout"] = 0.0
    return drawn | {key: Chosen(value, why) for key, value in short.items()}


def on_gpu(recipe: Recipe, text: TextSize, family: str) -> Values:
    """Two recurrent layers in multiples of 128, for which cuDNN has its fastest kernels."""
    most = MOST_PASSES[text.level]
    passes = min(tokens_read(recipe, text, speed=GPU_SPEED[text.level]) / text.tokens, most)
    read = passes * text.tokens
    width = 1024 if read >= LONG else 512 if read >= SHORT else 256
    limits: Values = {"train.epochs": most} if recipe.train.budget and not recipe.train.epochs else {}
    sizes: Values = {"model.hidden": width, "model.layers": 2, "train.lr": GPU_RATES[family] * 1024 / width}
    return {**GPU_WINDOWS[text.level], **sizes, **limits, **regularized(text, passes)}


def on_gpu_transformer(recipe: Recipe, text: TextSize, model: ModelName) -> Values:
    """Six or eight layers of 512, and no more passes than such a model takes to know a text by heart."""
    most = TRANSFORMER_PASSES[text.level]
    limits: Values = {"train.epochs": most} if recipe.train.budget and not recipe.train.epochs else {}
    positions: Values = {"model.positions": "rotary"} if is_plain(model) else {}
    words: Values = {"model.embedding_dropout": 0.1} if text.level != "char" else {}
    return {**GPU_TRANSFORMERS, **GPU_TRANSFORMER[text.level], **limits, **positions, **words}


def is_plain(model: ModelName) -> bool:
    """Whether a name says nothing of positions or of another attention."""
    return not model.without("ngram").decoder.added


def regularized(text: TextSize, passes: float, *, weaker: bool = False) -> Values:
    """Dropout by how often a text will be read, a tenth more of words; from `FIRM` on with one mask for all steps and
    dropped recurrent weights, of words also with penalties and dropped words (Merity et al., 2018).
    """
    tenths = max(1, 1 + sum(passes > bound for bound in PASSES) + (text.level != "char") - weaker)
    values: Values = {"model.dropout": tenths / 10}
    if tenths >= FIRM:
        values |= {"model.locked_dropout": True, DROPPED: (tenths - 1) / 10}
        values |= PENALTIES if text.level != "char" else {}
    return values


def tokens_read(recipe: Recipe, text: TextSize, *, speed: float) -> float:
    """How many tokens a run reads, by whichever of its limits comes first."""
    limits = recipe.train
    return min(
        limits.budget * speed if limits.budget else math.inf,
        limits.epochs * text.tokens if limits.epochs else math.inf,
        limits.steps * limits.batch_tokens if limits.steps else math.inf,
        10 * PASSES[-1] * text.tokens,
    )
