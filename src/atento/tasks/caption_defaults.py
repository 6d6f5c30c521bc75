"""Recipes of the caption task, chosen by measurement. How stands in docs/defaults/caption.md."""

from typing import Any

from atento.data.builtin.catalogue import is_builtin
from atento.models.names import ModelName

MODELS = ("conv/lstm", "conv/gru+dot", "conv/lstm+additive", "conv/lstm+additive+hard-half", "conv/transformer")

Values = dict[str, Any]

COMMON: Values = {
    "model.hidden": 64,
    "model.dropout": 0.1,
    "train.lr": 5e-3,
    "train.batch_tokens": 3072,  # some 32 pictures
}
BUILT_IN: Values = {"model.dropout": 0.0, "train.budget": 120}
FAMILIES: dict[str, Values] = {
    "rnn": {"train.lr": 2e-3},
    "transformer": {"train.lr": 1e-3, "model.layers": 2},
}
HARD: Values = {"model.handover": "both"}  # who looks at one region needs the whole picture to know which comes next


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    hard = model.family != "transformer" and any(word.startswith("hard") for word in model.decoder.added)
    own = {**FAMILIES.get(model.family, {}), **(HARD if hard else {})}
    return {**COMMON, **(BUILT_IN if is_builtin(data) else {}), **own}
