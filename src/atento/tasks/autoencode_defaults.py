"""Recipes of the autoencode task, chosen by measurement. How stands in docs/defaults/autoencode.md."""

from collections.abc import Sequence
from typing import Any

from atento.models.names import ModelName
from atento.spec import Recipe

MODELS = ("linear", "mlp", "gru", "transformer")

Values = dict[str, Any]

AT_ONCE = 64  # windows of a batch
STEPS = 2000  # of a run, at least about

COMMON: Values = {
    "data.split": "70/15/15",
    "model.hidden": 64,
    "model.dropout": 0.0,
    "model.latent": 3,
    "model.directions": 1,
    "train.lr": 6e-3,
}

ANY_DATA: dict[str, Values] = {
    "linear": {**COMMON, "train.lr": 3e-3},
    "mlp": {**COMMON, "model.hidden": 128},
    "conv": COMMON,
    "rnn": {**COMMON, "train.lr": 3e-3},
    "gru": {**COMMON, "train.lr": 8e-3},
    "lstm": {**COMMON, "train.lr": 5e-3},
    "transformer": {**COMMON, "model.hidden": 32, "model.directions": 2, "train.lr": 2e-3},
}

BUILTIN: dict[str, Values] = {"film": {"train.budget": 60}}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.family, COMMON), **BUILTIN.get(data, {})}


def sized(recipe: Recipe, train: Sequence[tuple[Any, Any]], device: str) -> Values:
    """A batch is so many windows, however long they are; a run some thousand steps. How long windows are is written
    down, for other files.
    """
    rows = train[0][1].look_back
    windows = sum(max(0, len(series) - rows + 1) for series, _ in train)
    values: Values = {"train.batch_tokens": AT_ONCE * rows, "data.look_back": rows}
    if not recipe.train.steps and not recipe.train.epochs:
        values["train.epochs"] = max(2, -(-STEPS * AT_ONCE // max(1, windows)))
    return values
