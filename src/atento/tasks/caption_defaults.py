"""Recipes of the caption task, chosen by measurement. How stands in docs/defaults/caption.md."""

from typing import Any

MODELS = ("conv/lstm", "conv/gru+dot", "conv/lstm+additive", "conv/lstm+additive+hard", "conv/transformer")

Values = dict[str, Any]

COMMON: Values = {
    "model.hidden": 64,
    "model.dropout": 0.0,
    "train.lr": 2e-3,
    "train.batch_tokens": 2304,
}


def defaults(data: str, model: str) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return COMMON
