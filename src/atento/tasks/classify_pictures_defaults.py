"""Recipes of the classify-pictures task, chosen by measurement. How stands in docs/defaults/classify-pictures.md."""

from typing import Any

from atento.models.names import ModelName

MODELS = ("conv", "conv+scaled-dot", "conv+additive", "conv+additive+sparsemax")

Values = dict[str, Any]

COMMON: Values = {
    "model.hidden": 64,
    "model.dropout": 0.1,
    "train.lr": 2e-3,
    "train.batch_tokens": 4096,
    "train.validation_examples": 1000,
}

BUILTIN: dict[str, Values] = {"scenes-kinds": {"model.dropout": 0.0, "train.budget": 45}}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**COMMON, **BUILTIN.get(data, {})}
