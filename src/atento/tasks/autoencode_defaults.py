"""Recipes of the autoencode task, chosen by measurement. How stands in docs/defaults/autoencode.md."""

from collections.abc import Sequence
from typing import Any

from atento.spec import Recipe

MODELS = ("linear", "mlp", "gru", "transformer")

Values = dict[str, Any]

AT_ONCE = 64  # windows of a batch

COMMON: Values = {
    "data.split": "70/15/15",
    "model.dropout": 0.0,
    "model.latent": 3,
    "model.directions": 1,
    "train.lr": 3e-3,
}

ANY_DATA: dict[str, Values] = {
    "linear": {**COMMON},
    "mlp": {**COMMON, "model.hidden": 128},
    "conv": {**COMMON, "model.hidden": 64},
    "rnn": {**COMMON, "model.hidden": 64, "train.lr": 1e-3},
    "gru": {**COMMON, "model.hidden": 64},
    "lstm": {**COMMON, "model.hidden": 64},
    "transformer": {**COMMON, "model.hidden": 64, "model.layers": 2, "model.directions": 2, "train.lr": 1e-3},
}

BUILTIN: dict[str, Values] = {"film": {"train.budget": 60}}


def defaults(data: str, model: str) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.partition("+")[0], COMMON), **BUILTIN.get(data, {})}


def sized(recipe: Recipe, train: Sequence[tuple[Any, Any]], device: str) -> Values:
    """A batch is so many windows, however long they are."""
    return {"train.batch_tokens": AT_ONCE * train[0][1].look_back}
