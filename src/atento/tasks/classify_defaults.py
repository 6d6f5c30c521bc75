"""Recipes of the classify task, chosen by measurement. How stands in docs/defaults/classify.md."""

from typing import Any

from atento.models.names import ModelName

MODELS = ("rnn", "gru", "lstm", "gru+additive", "lstm+additive", "gru+additive+hierarchical", "transformer")

Values = dict[str, Any]

COMMON: Values = {
    "tokens.lower": True,
    "tokens.size": 30_000,
    "tokens.least_count": 2,
    "model.hidden": 128,
    "model.dropout": 0.5,
    "model.runs": 2,
    "train.word_dropout": 0.1,
    "train.average": 0.99,
    "train.lr": 3e-3,
    "train.batch_tokens": 1024,
    "train.validation_examples": 2000,
    "train.validations": 30,
    "train.patience": 15,
}

ANY_DATA: dict[str, Values] = {
    "rnn": {**COMMON, "train.lr": 1e-3},
    "gru": COMMON,
    "lstm": COMMON,
    "transformer": {**COMMON, "model.layers": 2, "model.dropout": 0.4, "train.lr": 1e-3},
}

BUILT_IN: Values = {
    "tokens.least_count": 1,
    "model.hidden": 64,
    "model.dropout": 0.0,
    "model.runs": 0,
    "train.word_dropout": 0.0,
    "train.average": 0.0,
    "train.lr": 5e-3,
    "train.budget": 60,
}

BUILTIN: dict[str, Values] = {"opinions": BUILT_IN, "dna": {**BUILT_IN, "train.batch_tokens": 2048}}

LONG_TEXTS: Values = {"train.batch_tokens": 8192}  # a batch of several

SLOW: dict[str, Values] = {"rnn": {"train.lr": 2e-3}, "transformer": {"train.lr": 1e-3}}  # of the built-in sets


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    values = {**ANY_DATA.get(model.family, {}), **BUILTIN.get(data, {})}
    if data in BUILTIN:
        values |= SLOW.get(model.family, {})
    if model.has("hierarchical"):
        values |= LONG_TEXTS
    return {**values, **summary_of(model)}


def summary_of(model: ModelName) -> Values:
    """The largest values of the states, where a recurrent model has no attention to sum them up."""
    bare = model.family != "transformer" and not model.without("one-each").decoder.added
    return {"model.summary": "max"} if bare else {}
