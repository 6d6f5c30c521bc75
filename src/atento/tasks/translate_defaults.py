"""Recipes of the translate task, chosen by measurement: the same width and the same care for every family.

How each was chosen stands in docs/decisions/0006-defaults.md.
"""

from typing import Any

from atento.tasks.probe_defaults import PROBES

MODELS = ("rnn", "gru", "lstm", "lstm+dot", "lstm+additive", "lstm+additive+sparsemax", "transformer")

Values = dict[str, Any]

ANY_DATA: dict[str, Values] = {
    "rnn": {"train.lr": 1e-3, "model.hidden": 256},
    "gru": {"train.lr": 2e-3, "model.hidden": 256},
    "lstm": {"train.lr": 2e-3, "model.hidden": 256},
    "transformer": {"train.lr": 1e-3, "model.hidden": 256, "model.layers": 2, "train.warmup": 400},
}

NUMBERS: Values = {
    "train.batch_tokens": 1536,
    "train.budget": 60,
    "train.warmup": 100,
    "model.dropout": 0.0,
    "model.hidden": 128,
}

BUILTIN: dict[str, dict[str, Values]] = {
    **PROBES,
    "numbers": {
        "rnn": {**NUMBERS, "train.lr": 2.5e-3},
        "gru": {**NUMBERS, "train.lr": 8e-3},
        "lstm": {**NUMBERS, "train.lr": 4e-3},
        "transformer": {**NUMBERS, "train.lr": 1e-3, "train.batch_tokens": 768, "model.layers": 1},
    },
}


def defaults(data: str, model: str) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    family = model.rpartition("/")[2].partition("+")[0]
    return {**ANY_DATA.get(family, {}), **BUILTIN.get(data, {}).get(family, {})}
