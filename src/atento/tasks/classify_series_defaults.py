"""Recipes of the classify-series task, chosen by measurement. How stands in docs/defaults/classify-series.md."""

from collections.abc import Sequence
from typing import Any

from atento.data.builtin.catalogue import is_builtin
from atento.models.names import ModelName
from atento.spec import Recipe

MODELS = ("rnn", "gru", "lstm", "gru+additive", "transformer")

Values = dict[str, Any]

COMMON: Values = {
    "model.hidden": 64,
    "model.dropout": 0.1,
    "train.validations": 20,
    "train.validation_examples": 1000,
    "train.patience": 12,
}

ANY_DATA: dict[str, Values] = {
    "rnn": {**COMMON, "train.lr": 1e-3},
    "gru": {**COMMON, "train.lr": 1e-2},
    "lstm": {**COMMON, "train.lr": 1e-2},
    "transformer": {**COMMON, "train.lr": 2e-3, "model.layers": 2},
}

OWN_DATA: Values = {"data.split": "80/10/10"}  # of a user's file: labelled sequences are often few

BUILTIN: dict[str, Values] = {"heartbeats": {"train.budget": 60}}

READ, LARGEST = 26, 8  # patches that a sequence is cut into, about, and steps of a patch at most
BATCH = 24  # sequences in a batch, about
FEWEST, MOST = 1024, 65_536  # steps in a batch


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    bare = model.family != "transformer" and not model.decoder.added
    summary = {"model.summary": "max"} if bare else {}
    own = BUILTIN.get(data, {}) if is_builtin(data) else OWN_DATA
    return {**ANY_DATA.get(model.family, {}), **summary, **own}


def sized(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """Patches of long sequences, and batches of several sequences, by the length of the middle one."""
    lengths = sorted(source.count(" ") + 1 for source, _ in train)
    middle = lengths[len(lengths) // 2]
    return {
        "model.patch": min(max(1, middle // READ), LARGEST),
        "train.batch_tokens": min(max(FEWEST, BATCH * middle), MOST),
    }
