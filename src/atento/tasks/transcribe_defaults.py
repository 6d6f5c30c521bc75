"""Recipes of the transcribe task, chosen by measurement. How stands in docs/defaults/transcribe.md."""

from collections.abc import Sequence
from typing import Any

from atento.models.names import ModelName
from atento.spec import Recipe

MODELS = ("rnn", "gru", "lstm", "gru+dot", "gru+additive", "lstm+additive", "transformer")

Values = dict[str, Any]

COMMON: Values = {"model.hidden": 128, "model.dropout": 0.1, "train.validations": 15, "train.patience": 8}

ANY_DATA: dict[str, Values] = {
    "rnn": {**COMMON, "train.lr": 1e-3},
    "gru": {**COMMON, "train.lr": 4e-3},
    "lstm": {**COMMON, "train.lr": 4e-3},
    "transformer": {**COMMON, "train.lr": 1e-3, "model.layers": 2},
}

TONES: Values = {"model.hidden": 64, "model.dropout": 0.0, "train.warmup": 50, "train.budget": 60}

BUILTIN: dict[str, dict[str, Values]] = {
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


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.family, {}), **BUILTIN.get(data, {}).get(model.family, {})}


def sized(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """Steps read together where many go to one symbol, and batches of several sequences."""
    steps = sum(source.count(" ") + 1 for source, _ in train)
    symbols = max(1, sum(map(len, (target for _, target in train))))
    return {
        "model.patch": max(1, int(steps / symbols / A_SYMBOL)),
        "train.batch_tokens": int(min(max(FEWEST, BATCH * (steps + symbols) / len(train)), MOST)),
    }
