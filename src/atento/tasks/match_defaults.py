"""Recipes of the match task, chosen by measurement. How stands in docs/defaults/match.md."""

from collections.abc import Sequence
from typing import Any

from atento.models.names import ModelName
from atento.spec import Recipe

MODELS = ("gru", "lstm", "lstm+additive", "lstm+dot+co", "lstm+dot+sparsemax+co", "transformer", "transformer+co")

Values = dict[str, Any]

PASSES = 10  # over the training pairs: after these they are learned by heart
LEAST_STEPS = 800  # where there are few pairs
SAMPLE = 1000

COMMON: Values = {
    "tokens.size": 30_000,
    "tokens.lower": True,
    "model.hidden": 128,
    "model.dropout": 0.3,
    "train.label_smoothing": 0.1,
    "train.batch_tokens": 1000,
    "train.validation_examples": 1000,
}

ANY_DATA: dict[str, Values] = {
    "rnn": {**COMMON, "train.lr": 1e-3},
    "gru": {**COMMON, "train.lr": 2e-3},
    "lstm": {**COMMON, "train.lr": 2e-3},
    "transformer": {**COMMON, "train.lr": 1e-3, "model.layers": 2, "train.warmup": 300},
}

BARE_TOWERS: Values = {"model.summary": "max"}  # of a recurrent model that neither pools by attention nor looks across

SMALL: Values = {
    "model.hidden": 64,
    "model.dropout": 0.0,
    "train.label_smoothing": 0.0,
    "train.lr": 4e-3,
    "train.budget": 60,
}

BUILTIN: dict[str, dict[str, Values]] = {
    "evidence": {"gru": SMALL, "lstm": SMALL, "transformer": {**SMALL, "train.lr": 1e-3}}
}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    bare = BARE_TOWERS if str(model) in ("rnn", "gru", "lstm") else {}
    return {**ANY_DATA.get(model.family, {}), **bare, **BUILTIN.get(data, {}).get(model.family, {})}


def sized(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """How often to go over the training pairs, where the user names neither steps nor passes."""
    if recipe.train.steps or recipe.train.epochs:
        return {}
    some = train[:: 1 + len(train) // SAMPLE]
    words = sum(len(source.split()) for source, _ in some) / len(some)
    steps = max(1.0, len(train) * words / recipe.train.batch_tokens)  # of one pass, about
    return {"train.epochs": max(PASSES, round(LEAST_STEPS / steps))}
