"""Recipes of the match task, chosen by measurement. How stands in docs/defaults/match.md."""

from typing import Any

MODELS = ("gru", "lstm", "lstm+additive", "lstm+dot+co", "lstm+additive+co", "transformer", "transformer+co")

Values = dict[str, Any]

COMMON: Values = {
    "tokens.size": 30_000,
    "tokens.lower": True,
    "model.hidden": 128,
    "model.dropout": 0.3,
    "train.batch_tokens": 1000,
    "train.validation_examples": 1000,
}

ANY_DATA: dict[str, Values] = {
    "rnn": {**COMMON, "train.lr": 1e-3},
    "gru": {**COMMON, "train.lr": 2e-3},
    "lstm": {**COMMON, "train.lr": 2e-3},
    "transformer": {**COMMON, "train.lr": 1e-3, "model.layers": 2, "train.warmup": 300},
}

BUILTIN: dict[str, Values] = {"evidence": {"train.budget": 60, "model.dropout": 0.0}}


def defaults(data: str, model: str) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.partition("+")[0], {}), **BUILTIN.get(data, {})}
