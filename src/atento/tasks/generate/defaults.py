"""Recipes of the generate task, chosen by measurement. How stands in docs/defaults/generate.md."""

from atento.models.names import ModelName
from atento.tasks.task import Values

MODELS = ("rnn", "gru", "lstm", "transformer", "transformer+alibi")

RECURRENT: Values = {
    "train.stateful": True,
    "train.sequence_length": 64,
    "train.batch_tokens": 2048,
    "model.layers": 1,
    "model.hidden": 256,
}

ANY_DATA: dict[str, Values] = {
    "rnn": {**RECURRENT, "train.lr": 1e-3},
    "gru": {**RECURRENT, "train.lr": 4e-3},
    "lstm": {**RECURRENT, "train.lr": 8e-3},
    "transformer": {
        "train.sequence_length": 128,
        "train.batch_tokens": 2048,
        "model.layers": 4,
        "model.hidden": 128,
        "train.lr": 2e-3,
    },
}

STORIES: Values = {"model.hidden": 128, "model.dropout": 0.0, "train.batch_tokens": 1536, "train.budget": 60}

BUILTIN: dict[str, dict[str, Values]] = {
    "stories": {
        "rnn": {**STORIES, "train.lr": 1e-3},
        "gru": {**STORIES, "train.lr": 5e-3},
        "lstm": {**STORIES, "train.lr": 5e-3},
        "transformer": {**STORIES, "train.lr": 3e-3, "model.hidden": 96, "model.layers": 2},
    },
}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.family, {}), **BUILTIN.get(data, {}).get(model.family, {})}
