"""Recipes of the embed task, chosen by measurement; how each was chosen stands in docs/defaults/embed.md."""

from typing import Any

from atento.models.names import ModelName

MODELS = ("skip-gram", "next-word")

Values = dict[str, Any]

SMALL: Values = {"model.hidden": 64, "model.reach": 3, "train.batch_tokens": 768, "train.weight_decay": 0.0}

ANY_DATA: dict[str, Values] = {
    "skip-gram": {**SMALL, "train.lr": 3e-2},
    "next-word": {**SMALL, "train.lr": 2e-2},
}

MEANING: Values = {"train.epochs": 2, "train.batch_tokens": 512, "train.validations": 4}

BUILTIN: dict[str, dict[str, Values]] = {"meaning": {"skip-gram": MEANING, "next-word": MEANING}}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.family, {}), **BUILTIN.get(data, {}).get(model.family, {})}
