"""Recipes of the label task, chosen by measurement. How stands in docs/defaults/label.md."""

from typing import Any

from atento.tasks.classify_defaults import ANY_DATA as ONE_LABEL

MODELS = ("rnn", "gru", "lstm", "gru+additive", "lstm+additive", "transformer")

Values = dict[str, Any]

SEVERAL: Values = {"train.balance": 0.5, "train.batch_tokens": 2048, "data.split": "85/10/5"}


def defaults(data: str, model: str) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    family, *parts = model.split("+")
    pools = family != "transformer" and not {*parts} - {"one-each"}
    summary: Values = {"model.summary": "max"} if pools else {}
    return {**ONE_LABEL.get(family, {}), **SEVERAL, **summary}
