"""Recipes of the tasks that give a number, chosen by measurement. How stands in docs/decisions/0011-probes.md."""

from typing import Any

from atento.models.names import ModelName
from atento.tasks.defaults.labels import image_defaults, text_defaults

NUMBER_MODELS = ("rnn", "gru", "lstm", "gru+additive", "transformer")

Values = dict[str, Any]

COMMON: Values = {"model.hidden": 64, "model.dropout": 0.0, "model.directions": 1, "train.batch_tokens": 2500}

ANY_DATA: dict[str, Values] = {
    "rnn": {**COMMON, "train.lr": 1e-3},
    "gru": {**COMMON, "train.lr": 5e-3},
    "lstm": {**COMMON, "train.lr": 5e-3},
    "transformer": {**COMMON, "train.lr": 1e-3, "model.layers": 2, "model.directions": 2},
}

BUILTIN: dict[str, Values] = {"adding": {"train.budget": 60}}


def number_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.family, {}), **BUILTIN.get(data, {})}


NO_CLASSES = ("train.class_weight", "train.label_smoothing")


def text_number_defaults(data: str, model: ModelName) -> Values:
    """As for a label of a text; a number has no classes."""
    return {key: value for key, value in text_defaults(data, model).items() if key not in NO_CLASSES}


def image_number_defaults(data: str, model: ModelName) -> Values:
    """As for a label of an image; a number has no classes."""
    return {key: value for key, value in image_defaults(data, model).items() if key not in NO_CLASSES}
