"""Recipes of the match-pictures task, chosen by measurement. How stands in docs/defaults/match-pictures.md."""

from typing import Any

from atento.models.names import ModelName

MODELS = ("conv/gru", "conv/gru+additive", "conv/gru+scaled-dot+co", "conv/gru+scaled-dot+sparsemax+co")

Values = dict[str, Any]

COMMON: Values = {
    "tokens.lower": True,
    "model.hidden": 64,
    "model.dropout": 0.1,
    "train.lr": 1e-3,
    "train.batch_tokens": 4096,
    "train.validation_examples": 1000,
}

BUILTIN: dict[str, Values] = {
    "scenes-questions": {"model.hidden": 32, "model.dropout": 0.0, "train.lr": 2e-3, "train.budget": 60}
}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**COMMON, **BUILTIN.get(data, {})}
