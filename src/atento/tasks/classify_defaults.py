"""Recipes of the classify task, chosen by measurement. How stands in docs/defaults/classify.md."""

from typing import Any

MODELS = ("rnn", "gru", "lstm", "gru+additive", "lstm+additive", "gru+additive+hierarchical", "transformer")

Values = dict[str, Any]

COMMON: Values = {
    "tokens.lower": True,
    "tokens.size": 30_000,
    "model.hidden": 256,
    "model.dropout": 0.4,
    "model.runs": 2,
    "train.word_dropout": 0.1,
    "train.average": 0.998,
    "train.lr": 2e-3,
    "train.batch_tokens": 1024,
    "train.validation_examples": 2000,
    "train.validations": 20,
    "train.patience": 10,
}

ANY_DATA: dict[str, Values] = {
    "rnn": {**COMMON, "train.lr": 1e-3},
    "gru": COMMON,
    "lstm": COMMON,
    "transformer": {**COMMON, "train.lr": 1e-3, "model.layers": 2},
}

BUILT_IN: Values = {
    "model.hidden": 64,
    "model.dropout": 0.0,
    "model.runs": 0,
    "train.word_dropout": 0.0,
    "train.average": 0.0,
    "train.lr": 5e-3,
    "train.budget": 60,
}

BUILTIN: dict[str, Values] = {"opinions": BUILT_IN, "dna": {**BUILT_IN, "train.batch_tokens": 2048}}


def defaults(data: str, model: str) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    family, *parts = model.split("+")
    pools = family != "transformer" and not parts
    summary: Values = {"model.summary": "max"} if pools else {}
    return {**ANY_DATA.get(family, {}), **summary, **BUILTIN.get(data, {})}
