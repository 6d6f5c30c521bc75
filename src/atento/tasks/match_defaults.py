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

SMALL: Values = {"model.hidden": 64, "model.dropout": 0.0, "train.lr": 4e-3, "train.budget": 60}

BUILTIN: dict[str, dict[str, Values]] = {
    "evidence": {"gru": SMALL, "lstm": SMALL, "transformer": {**SMALL, "train.lr": 1e-3}}
}


def defaults(data: str, model: str) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    family = model.partition("+")[0]
    return {**ANY_DATA.get(family, {}), **BUILTIN.get(data, {}).get(family, {})}
