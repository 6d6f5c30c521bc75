"""Recipes of the tasks that give a number, chosen by measurement. How stands in docs/decisions/0011-probes.md."""

from dataclasses import replace

from atento.models.names import ModelName
from atento.tasks.defaults.labels import IMAGE_TO_LABEL, TEXT_TO_LABEL
from atento.tasks.task import Defaults, Values

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


NUMBERS_TO_NUMBER = Defaults(
    models=("rnn", "gru", "lstm", "gru+additive", "transformer"), model="gru+additive", values=number_defaults
)

NO_CLASSES = ("train.class_weight", "train.label_smoothing")


def without_classes(labels: Defaults) -> Defaults:
    """As for a label of such a source, without the values and the wide parts that concern classes."""

    def values(data: str, model: ModelName) -> Values:
        return {key: value for key, value in labels.values(data, model).items() if key not in NO_CLASSES}

    models = tuple(name for name in labels.models if not ModelName.parse(name).has("wide"))
    return replace(labels, values=values, models=models, model=str(ModelName.parse(labels.model).without("wide")))


TEXT_TO_NUMBER = without_classes(TEXT_TO_LABEL)
IMAGE_TO_NUMBER = without_classes(IMAGE_TO_LABEL)
