"""Recipes of the forecast task, chosen by measurement. How stands in docs/defaults/forecast.md."""

from collections.abc import Sequence
from typing import Any

from atento.spec import Recipe

MODELS = ("linear", "rnn", "gru", "lstm", "gru+additive", "transformer+patches")

Values = dict[str, Any]


def defaults(data: str, model: str) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {}


def sized(recipe: Recipe, train: Sequence[tuple[Any, Any]], device: str) -> Values:
    """What follows from how much there is to learn from."""
    return {}
