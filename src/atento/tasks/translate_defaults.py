"""Recipes of the translate task, chosen by measurement: the same width and the same care for every family.

How they were chosen stands in docs/defaults/translate.md, for the built-in sets in docs/decisions/0006-defaults.md.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

from atento.data.builtin.catalogue import is_builtin
from atento.models.names import ModelName
from atento.spec import Recipe
from atento.tasks.outlook import Outlook
from atento.tasks.probe_defaults import PROBES

MODELS = ("rnn", "gru", "lstm", "lstm+dot", "lstm+additive", "lstm+additive+sparsemax", "transformer")

Values = dict[str, Any]

KIN = {"jordan": "rnn", "gru-before": "gru"}  # learn with the values of a family that steps as they do

ANY_DATA: dict[str, Values] = {
    "rnn": {"train.lr": 1e-3, "model.hidden": 256},
    "gru": {"train.lr": 2e-3, "model.hidden": 256},
    "lstm": {"train.lr": 2e-3, "model.hidden": 256},
    "transformer": {"train.lr": 1e-3, "model.hidden": 256, "model.layers": 2, "train.warmup": 400},
}

OWN_DATA: dict[str, Values] = {  # of a user's file, beside those
    "rnn": {},
    "gru": {"train.lr": 3e-3},
    "lstm": {"train.lr": 3e-3},
    "transformer": {},
}
STEADY: Values = {"train.label_smoothing": 0.1, "train.average": 0.999}

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

DROPOUT = ((10, 0.1), (30, 0.2))  # below so many passes over the training part
MOST_DROPOUT = 0.3
NARROW, FEW_SUBWORDS = 128, 2000  # where not even one pass can be made: more steps of a smaller model learn more
WARMING = 0.1  # of the steps, at most
BEAM = 5
LONG = 120  # seconds; a comparison has less for each model, and no time for beams
SUBWORDS = 25  # times the root of the training pairs: so that most subwords are seen often enough
FEWEST_SUBWORDS, MOST_SUBWORDS = 500, 8000


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    family = KIN.get(model.family, model.family)
    values = ANY_DATA.get(family, {})
    if is_builtin(data):
        return {**values, **BUILTIN.get(data, {}).get(family, {})}
    return {**values, **OWN_DATA.get(family, {}), **STEADY}


def sized(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """What follows from how much there is to learn from, and how often the run will see it; built-in sets have values
    of their own.
    """
    if is_builtin(recipe.data.train):
        return {}
    seen = Outlook.of(recipe, train, device)
    subwords = round(SUBWORDS * sqrt(len(train)), -2)
    values: Values = {
        "tokens.size": int(min(max(subwords, FEWEST_SUBWORDS), MOST_SUBWORDS)),
        "model.dropout": next((share for below, share in DROPOUT if seen.passes < below), MOST_DROPOUT),
        "decode.beam": BEAM if seen.seconds >= LONG else 1,
    }
    if seen.batch_tokens:
        values["train.batch_tokens"] = seen.batch_tokens
        values["train.warmup"] = int(min(recipe.train.warmup, WARMING * seen.steps))
    if seen.passes < 1:
        values |= {"model.hidden": NARROW, "tokens.size": min(values["tokens.size"], FEW_SUBWORDS)}
    return values
