"""Recipes of the translate task, chosen by measurement: the same width and the same care for every family."""

from typing import Any

MODELS = ("rnn", "gru", "lstm", "lstm+dot", "lstm+additive", "lstm+additive+sparsemax", "transformer")

FAMILY: dict[str, dict[str, Any]] = {
    "rnn": {"train.lr": 2e-3},
    "gru": {"train.lr": 4e-3},
    "lstm": {"train.lr": 4e-3},
    "transformer": {"train.lr": 1e-3, "model.layers": 2},
}

BUILTIN: dict[str, dict[str, Any]] = {
    "numbers": {"train.batch_tokens": 1536, "model.dropout": 0.0},
}


def defaults(data: str, model: str) -> dict[str, Any]:
    """Recipe values for a model on a set; anything a user says goes before them."""
    family = model.rpartition("/")[2].partition("+")[0]
    return {**FAMILY.get(family, {}), **BUILTIN.get(data, {})}
