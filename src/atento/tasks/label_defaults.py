"""Recipes of the label task, chosen by measurement. How stands in docs/defaults/label.md."""

from typing import Any

from atento.models.names import ModelName
from atento.tasks.classify_defaults import ANY_DATA as ONE_LABEL
from atento.tasks.classify_defaults import summary_of

MODELS = ("rnn", "gru", "lstm", "gru+additive", "lstm+additive", "transformer")

Values = dict[str, Any]

SEVERAL: Values = {
    "data.split": "85/10/5",  # thresholds are chosen by the validation part
    "tokens.least_count": 1,
    "model.hidden": 256,
    "model.dropout": 0.4,
    "train.balance": 0.5,
    "train.batch_tokens": 4096,
    "train.validation_examples": 4000,
    "train.validations": 10,
}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ONE_LABEL.get(model.family, {}), **SEVERAL, **summary_of(model)}
