"""Recipes of the tag task, chosen by measurement. How stands in docs/defaults/tag.md."""

from collections.abc import Sequence

from atento.models.names import ModelName
from atento.spec import Recipe
from atento.tasks.defaults.budget_estimate import transformer_size
from atento.tasks.task import Defaults, Values

COMMON: Values = {
    "tokens.vocab_size": 100_000,
    "tokens.min_count": 2,
    "tokens.lowercase": True,
    "model.hidden": 192,
    "model.characters": 96,
    "model.dropout": 0.35,
    "train.word_dropout": 0.1,
    "train.batch_tokens": 500,
    "train.ema": 0.998,
    "train.patience": 12,  # whole spans are found late: until then every validation is as bad as the first
    "train.validation_examples": 1000,
}

ANY_DATA: dict[str, Values] = {
    "rnn": {**COMMON, "train.lr": 2e-3},
    "gru": {**COMMON, "train.lr": 4e-3},
    "lstm": {**COMMON, "train.lr": 4e-3},
    "transformer": {**COMMON, "train.lr": 1e-3, "model.layers": 2, "train.warmup": 300},
}

SMALL_DROPOUT = 0.2  # of a Transformer whose time is short

SMALL: Values = {
    "tokens.min_count": 1,
    "model.hidden": 64,
    "model.characters": 32,
    "model.dropout": 0.1,
    "train.batch_tokens": 500,
    "train.ema": 0.0,
    "train.warmup": 30,
    "train.budget": 60,
}

BUILTIN: dict[str, dict[str, Values]] = {
    "grammar": {
        "rnn": {**SMALL, "train.lr": 2e-3},
        "gru": {**SMALL, "train.lr": 6e-3},
        "lstm": {**SMALL, "train.lr": 6e-3},
        "transformer": {**SMALL, "train.lr": 2e-3},
    }
}


def tag_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    values = {**ANY_DATA.get(model.family, {}), **BUILTIN.get(data, {}).get(model.family, {})}
    plain = model.family == "transformer" and not model.without("crf", "wide").decoder.added
    return {**values, "model.positions": "relative"} if plain and data not in BUILTIN else values


def tag_sizes(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """A Transformer as large as the time allows, with less dropout where it is small."""
    small = transformer_size(recipe, device)
    return {**small, "model.dropout": SMALL_DROPOUT} if small else {}


WORDS_TO_TAGS = Defaults(
    models=("rnn", "gru", "lstm", "lstm+crf", "lstm+crf+wide", "transformer+crf", "transformer+crf+wide"),
    model="lstm+crf+wide",
    values=tag_defaults,
    data_values=tag_sizes,
)
