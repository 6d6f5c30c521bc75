"""Recipes of the translate task, chosen by measurement: the same width and the same care for every family.

How they were chosen stands in docs/defaults/translate.md, for the built-in sets in docs/decisions/0006-defaults.md.

Recipes of the built-in probes that are translated, chosen by measurement: docs/decisions/0011-probes.md says how.
How often a run will see its training part, estimated before it begins: many choices of a recipe follow from it.
Recipes of the transcribe task, chosen by measurement. How stands in docs/defaults/transcribe.md.
Recipes of the caption task, chosen by measurement. How stands in docs/defaults/caption.md.
"""

import math
from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

from atento.data.builtin.catalogue import is_builtin
from atento.data.text.levels import divide
from atento.models.names import ModelName
from atento.spec import Recipe

SPEED = {"cpu": 6_000, "cuda": 60_000}  # tokens a second, of a model of width 256 on one core or one GPU, roughly
SEVERAL_CORES = 1.7
STEPS = 8_000  # so many, of smaller batches, learn more than fewer, where time is short
SMALLEST, LARGEST = 256, 4096  # tokens in a batch
SAMPLE = 1_000  # pairs whose length is looked at
PIECES = 1.3  # subwords in a word


class Outlook(NamedTuple):
    """What a run will get through."""

    passes: float  # over the training part
    seconds: float  # infinite where time is no limit
    batch_tokens: int  # for a good number of steps; 0: steps are the limit, and a batch is as large as usual
    steps: float  # of such batches

    @classmethod
    def of(cls, recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> "Outlook":
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
    sources = [divide(source) for source, _ in sample]
    features = sum(len(named) for _, named in sources) / max(1, len(sample))
    return features + tokens_of([text for text, _ in sources]) + tokens_of([target for _, target in sample])


def tokens_of(texts: Sequence[str]) -> float:
    """About how many tokens a text has: letters where it is mostly one word, else pieces of words."""
    words = sum(len(text.split()) for text in texts) / max(1, len(texts))
    return PIECES * words if words >= 1.5 else sum(map(len, texts)) / max(1, len(texts))


Values = dict[str, Any]

PROBE: Values = {
    "model.hidden": 64,
    "model.dropout": 0.0,
    "train.batch_tokens": 1536,
    "train.budget": 60,
    "train.warmup": 100,
}
FAMILIES: dict[str, Values] = {
    "rnn": {**PROBE, "train.lr": 2e-3},
    "gru": {**PROBE, "train.lr": 8e-3},
    "lstm": {**PROBE, "train.lr": 4e-3},
    "transformer": {**PROBE, "train.lr": 2e-3, "train.batch_tokens": 768, "model.layers": 1},
}
REACH = {"cook": 0, "copy": 1, "alignment": 2}  # of a window that still shows the place to look at

PROBES: dict[str, dict[str, Values]] = {
    "recall": {
        **FAMILIES,
        "transformer": {**FAMILIES["transformer"], "model.layers": 2, "model.positions": "relative"},
    },
    **{
        name: {family: {**values, "model.reach": reach} for family, values in FAMILIES.items()}
        for name, reach in REACH.items()
    },
}


TRANSLATE_MODELS = ("rnn", "gru", "lstm", "lstm+dot", "lstm+additive", "lstm+additive+sparsemax", "transformer")


KIN = {"jordan": "rnn", "gru-before": "gru"}  # learn with the values of a family that steps as they do

TRANSLATE_ANY_DATA: dict[str, Values] = {
    "rnn": {"train.lr": 1e-3, "model.hidden": 256},
    "gru": {"train.lr": 2e-3, "model.hidden": 256},
    "lstm": {"train.lr": 2e-3, "model.hidden": 256},
    "transformer": {"train.lr": 1e-3, "model.hidden": 256, "model.layers": 2, "train.warmup": 400},
}

OWN_DATA: dict[str, Values] = {  # of a user's file, beside those
    "rnn": {},
    "gru": {"train.lr": 3e-3},
    "lstm": {"train.lr": 3e-3},
    "transformer": {},
}
STEADY: Values = {"train.label_smoothing": 0.1, "train.average": 0.999}

NUMBERS: Values = {
    "train.batch_tokens": 1536,
    "train.budget": 60,
    "train.warmup": 100,
    "model.dropout": 0.0,
    "model.hidden": 128,
}

TRANSLATE_BUILTIN: dict[str, dict[str, Values]] = {
    **PROBES,
    "numbers": {
        "rnn": {**NUMBERS, "train.lr": 2.5e-3},
        "gru": {**NUMBERS, "train.lr": 8e-3},
        "lstm": {**NUMBERS, "train.lr": 4e-3},
        "transformer": {**NUMBERS, "train.lr": 1e-3, "train.batch_tokens": 768, "model.layers": 1},
    },
}

DROPOUT = ((10, 0.1), (30, 0.2))  # below so many passes over the training part
MOST_DROPOUT = 0.3
NARROW, FEW_SUBWORDS = 128, 2000  # where not even one pass can be made: more steps of a smaller model learn more
WARMING = 0.1  # of the steps, at most
BEAM = 5
LONG = 120  # seconds; a comparison has less for each model, and no time for beams
SUBWORDS = 25  # times the root of the training pairs: so that most subwords are seen often enough
FEWEST_SUBWORDS, MOST_SUBWORDS = 500, 8000


def translate_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    family = KIN.get(model.family, model.family)
    values = TRANSLATE_ANY_DATA.get(family, {})
    if is_builtin(data):
        return {**values, **TRANSLATE_BUILTIN.get(data, {}).get(family, {})}
    return {**values, **OWN_DATA.get(family, {}), **STEADY}


def translate_sizes(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """What follows from how much there is to learn from, and how often the run will see it; built-in sets have values
    of their own.
    """
    if is_builtin(recipe.data.train):
        return {}
    seen = Outlook.of(recipe, train, device)
    subwords = round(SUBWORDS * sqrt(len(train)), -2)
    values: Values = {
        "tokens.size": int(min(max(subwords, FEWEST_SUBWORDS), MOST_SUBWORDS)),
        "model.dropout": next((share for below, share in DROPOUT if seen.passes < below), MOST_DROPOUT),
        "decode.beam": BEAM if seen.seconds >= LONG else 1,
    }
    if seen.batch_tokens:
        values["train.batch_tokens"] = seen.batch_tokens
        values["train.warmup"] = int(min(recipe.train.warmup, WARMING * seen.steps))
    if seen.passes < 1:
        values |= {"model.hidden": NARROW, "tokens.size": min(values["tokens.size"], FEW_SUBWORDS)}
    return values


TRANSCRIBE_MODELS = ("rnn", "gru", "lstm", "gru+dot", "gru+additive", "lstm+additive", "transformer")


TRANSCRIBE_COMMON: Values = {"model.hidden": 128, "model.dropout": 0.1, "train.validations": 15, "train.patience": 8}

TRANSCRIBE_ANY_DATA: dict[str, Values] = {
    "rnn": {**TRANSCRIBE_COMMON, "train.lr": 1e-3},
    "gru": {**TRANSCRIBE_COMMON, "train.lr": 4e-3},
    "lstm": {**TRANSCRIBE_COMMON, "train.lr": 4e-3},
    "transformer": {**TRANSCRIBE_COMMON, "train.lr": 1e-3, "model.layers": 2},
}

TONES: Values = {"model.hidden": 64, "model.dropout": 0.0, "train.warmup": 50, "train.budget": 60}

TRANSCRIBE_BUILTIN: dict[str, dict[str, Values]] = {
    "tones": {
        "rnn": TONES,
        "gru": {**TONES, "train.lr": 1e-2},
        "lstm": {**TONES, "train.lr": 1e-2},
        "transformer": {**TONES, "train.lr": 2e-3},
    }
}

A_SYMBOL = 8  # steps that are read for each symbol that is written, at most; more are read together
BATCH = 24  # sequences in a batch, about
FEWEST, MOST = 1024, 65_536  # steps and symbols in a batch


def transcribe_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**TRANSCRIBE_ANY_DATA.get(model.family, {}), **TRANSCRIBE_BUILTIN.get(data, {}).get(model.family, {})}


def transcribe_sizes(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """Steps read together where many go to one symbol, and batches of several sequences."""
    steps = sum(source.count(" ") + 1 for source, _ in train)
    symbols = max(1, sum(map(len, (target for _, target in train))))
    return {
        "model.patch": max(1, int(steps / symbols / A_SYMBOL)),
        "train.batch_tokens": int(min(max(FEWEST, BATCH * (steps + symbols) / len(train)), MOST)),
    }


CAPTION_MODELS = ("conv/lstm", "conv/gru+dot", "conv/lstm+additive", "conv/lstm+additive+hard-half", "conv/transformer")


CAPTION_COMMON: Values = {
    "model.hidden": 64,
    "model.dropout": 0.1,
    "train.lr": 5e-3,
    "train.batch_tokens": 3072,  # some 32 pictures
}
BUILT_IN: Values = {"model.dropout": 0.0, "train.budget": 120}
CAPTION_FAMILIES: dict[str, Values] = {
    "rnn": {"train.lr": 2e-3},
    "transformer": {"train.lr": 1e-3, "model.layers": 2},
}
HARD: Values = {"model.handover": "both"}  # who looks at one region needs the whole picture to know which comes next


def caption_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    hard = model.family != "transformer" and any(word.startswith("hard") for word in model.decoder.added)
    own = {**CAPTION_FAMILIES.get(model.family, {}), **(HARD if hard else {})}
    return {**CAPTION_COMMON, **(BUILT_IN if is_builtin(data) else {}), **own}
