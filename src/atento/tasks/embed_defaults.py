"""Recipes of the embed task, chosen by measurement; how each was chosen stands in docs/defaults/embed.md."""

from typing import Any

MODELS = ("skip-gram", "next-word")

Values = dict[str, Any]

ANY_DATA: dict[str, Values] = {
    "skip-gram": {"train.lr": 1e-2, "model.hidden": 64, "model.reach": 4, "train.weight_decay": 0.0},
    "next-word": {"train.lr": 5e-3, "model.hidden": 64, "model.reach": 3, "model.dropout": 0.2},
}

MEANING: Values = {"train.epochs": 3, "train.batch_tokens": 512, "train.validations": 4}

BUILTIN: dict[str, dict[str, Values]] = {"meaning": {"skip-gram": MEANING, "next-word": MEANING}}


def defaults(data: str, model: str) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model, {}), **BUILTIN.get(data, {}).get(model, {})}
