"""Recipes of the tasks that give labels, chosen by measurement.

How stands in docs/defaults: classify.md, label.md, classify-series.md, classify-images.md, match.md, match-images.md.
"""

from collections.abc import Sequence
from dataclasses import replace

from atento.data.builtin.catalogue import is_builtin
from atento.models.names import ModelName
from atento.spec import Recipe
from atento.tasks.defaults.budget_estimate import transformer_size
from atento.tasks.task import Defaults, Values

TEXT_COMMON: Values = {
    "tokens.lowercase": True,
    "tokens.vocab_size": 30_000,
    "tokens.min_count": 2,
    "tokens.max_length": 2000,
    "model.hidden": 128,
    "model.dropout": 0.4,
    "model.ngrams": 2,
    "train.word_dropout": 0.1,
    "train.ema": 0.99,
    "train.lr": 3e-3,
    "train.batch_tokens": 1024,
    "train.validation_examples": 2000,
    "train.validations": 30,
    "train.patience": 15,
}

TEXT_ANY_DATA: dict[str, Values] = {
    "rnn": {**TEXT_COMMON, "train.lr": 1e-3},
    "gru": TEXT_COMMON,
    "lstm": TEXT_COMMON,
    "transformer": {**TEXT_COMMON, "model.layers": 2, "model.dropout": 0.4, "train.lr": 1e-3},
}

BUILT_IN: Values = {
    "tokens.min_count": 1,
    "model.hidden": 64,
    "model.dropout": 0.0,
    "model.ngrams": 0,
    "train.word_dropout": 0.0,
    "train.ema": 0.0,
    "train.lr": 5e-3,
    "train.budget": 60,
}

TEXT_BUILTIN: dict[str, Values] = {"opinions": BUILT_IN, "dna": {**BUILT_IN, "train.batch_tokens": 2048}}

LONG_TEXTS: Values = {"tokens.max_length": 5000, "train.batch_tokens": 8192}  # a batch of several

SLOW: dict[str, Values] = {"rnn": {"train.lr": 2e-3}, "transformer": {"train.lr": 1e-3}}  # of the built-in sets


def text_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    values = {**TEXT_ANY_DATA.get(model.family, {}), **TEXT_BUILTIN.get(data, {})}
    if data in TEXT_BUILTIN:
        values |= SLOW.get(model.family, {})
    if model.has("hierarchical"):
        values |= LONG_TEXTS
    return {**values, **summary_of(model)}


def text_sizes(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """A Transformer as large as the time allows."""
    return transformer_size(recipe, device)


def summary_of(model: ModelName) -> Values:
    """The largest values of the states, where a recurrent model has no attention to sum them up."""
    bare = model.family != "transformer" and not model.without("one-each", "wide").decoder.added
    return {"model.pooling": "max"} if bare else {}


TEXT_TO_LABEL = Defaults(
    models=(
        "rnn",
        "gru",
        "lstm",
        "gru+additive",
        "gru+additive+wide",
        "gru+additive+hierarchical",
        "transformer",
        "transformer+wide",
    ),
    model="gru+additive+wide",
    values=text_defaults,
    data_values=text_sizes,
)

SEVERAL: Values = {
    "data.split": "85/10/5",  # thresholds are chosen by the validation part
    "tokens.min_count": 1,
    "model.hidden": 256,
    "model.dropout": 0.4,
    "train.class_weight": 0.5,
    "train.batch_tokens": 4096,
    "train.validation_examples": 4000,
    "train.validations": 10,
}


LABEL_SETS: Values = {
    "data.split": "85/10/5",
    "train.class_weight": 0.5,
}  # thresholds are chosen by the validation part


def label_set_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**TEXT_ANY_DATA.get(model.family, {}), **SEVERAL, **summary_of(model)}


TEXT_TO_LABELS = Defaults(
    models=("rnn", "gru", "lstm", "gru+additive", "gru+additive+wide", "transformer", "transformer+wide"),
    model="transformer+wide",
    values=label_set_defaults,
    data_values=text_sizes,
)

NUMBERS_COMMON: Values = {
    "model.hidden": 64,
    "model.dropout": 0.1,
    "train.validations": 20,
    "train.validation_examples": 1000,
    "train.patience": 12,
}

NUMBERS_ANY_DATA: dict[str, Values] = {
    "rnn": {**NUMBERS_COMMON, "train.lr": 1e-3},
    "gru": {**NUMBERS_COMMON, "train.lr": 1e-2},
    "lstm": {**NUMBERS_COMMON, "train.lr": 1e-2},
    "transformer": {**NUMBERS_COMMON, "train.lr": 2e-3, "model.layers": 2},
}

OWN_DATA: Values = {"data.split": "80/10/10"}  # of a user's file: labelled sequences are often few

NUMBERS_BUILTIN: dict[str, Values] = {"heartbeats": {"train.budget": 60}}

READ, LARGEST = 26, 8  # patches that a sequence is cut into, about, and steps of a patch at most
BATCH = 24  # sequences in a batch, about
FEWEST, MOST = 1024, 65_536  # steps in a batch


def numbers_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    own = NUMBERS_BUILTIN.get(data, {}) if is_builtin(data) else OWN_DATA
    return {**NUMBERS_ANY_DATA.get(model.family, {}), **summary_of(model), **own}


def numbers_sizes(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """Patches of long sequences, and batches of several sequences, by the length of the middle one."""
    lengths = sorted(source.count(" ") + 1 for source, _ in train)
    middle = lengths[len(lengths) // 2]
    return {
        "model.patch": min(max(1, middle // READ), LARGEST),
        "train.batch_tokens": min(max(FEWEST, BATCH * middle), MOST),
    }


NUMBERS_TO_LABEL = Defaults(
    models=("rnn", "gru", "lstm", "gru+additive", "transformer"),
    model="gru+additive",
    values=numbers_defaults,
    data_values=numbers_sizes,
)

IMAGE_COMMON: Values = {
    "model.hidden": 64,
    "model.dropout": 0.1,
    "train.lr": 2e-3,
    "train.batch_tokens": 4096,
    "train.validation_examples": 1000,
}

IMAGE_BUILTIN: dict[str, Values] = {"scenes-kinds": {"model.dropout": 0.0, "train.budget": 45}}


def image_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**IMAGE_COMMON, **IMAGE_BUILTIN.get(data, {})}


IMAGE_TO_LABEL = Defaults(
    models=("conv", "conv+scaled-dot", "conv+additive", "conv+additive+sparsemax"),
    model="conv+scaled-dot",
    values=image_defaults,
)

PASSES = 10  # over the training pairs: after these the model overfits
LEAST_STEPS = 800  # where there are few pairs
SAMPLE = 1000

TWO_TEXT_COMMON: Values = {
    "tokens.vocab_size": 30_000,
    "tokens.lowercase": True,
    "model.hidden": 128,
    "model.dropout": 0.3,
    "train.label_smoothing": 0.1,
    "train.batch_tokens": 1000,
    "train.validation_examples": 1000,
}

TWO_TEXT_ANY_DATA: dict[str, Values] = {
    "rnn": {**TWO_TEXT_COMMON, "train.lr": 1e-3},
    "gru": {**TWO_TEXT_COMMON, "train.lr": 2e-3},
    "lstm": {**TWO_TEXT_COMMON, "train.lr": 2e-3},
    "transformer": {**TWO_TEXT_COMMON, "train.lr": 1e-3, "model.layers": 2, "train.warmup": 300},
}

BARE_TOWERS: Values = {"model.pooling": "max"}  # of a recurrent model that neither pools by attention nor looks across

SMALL: Values = {
    "model.hidden": 64,
    "model.dropout": 0.0,
    "train.label_smoothing": 0.0,
    "train.lr": 4e-3,
    "train.budget": 60,
}

TWO_TEXT_BUILTIN: dict[str, dict[str, Values]] = {
    "evidence": {"gru": SMALL, "lstm": SMALL, "transformer": {**SMALL, "train.lr": 1e-3}}
}


def two_text_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    bare = BARE_TOWERS if str(model) in ("rnn", "gru", "lstm") else {}
    return {**TWO_TEXT_ANY_DATA.get(model.family, {}), **bare, **TWO_TEXT_BUILTIN.get(data, {}).get(model.family, {})}


def two_text_sizes(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """How often to go over the training pairs, where the user names neither steps nor passes; a Transformer as large
    as the time allows.
    """
    if recipe.train.steps or recipe.train.epochs:
        return {}
    some = train[:: 1 + len(train) // SAMPLE]
    words = sum(len(source.split()) for source, _ in some) / len(some)
    steps = max(1.0, len(train) * words / recipe.train.batch_tokens)  # of one pass, about
    return {"train.epochs": max(PASSES, round(LEAST_STEPS / steps)), **transformer_size(recipe, device)}


TWO_TEXTS_TO_LABEL = Defaults(
    models=(
        "gru",
        "lstm",
        "lstm+additive",
        "lstm+dot+co",
        "lstm+dot+sparsemax+co",
        "transformer",
        "transformer+co",
    ),
    model="lstm+dot+sparsemax+co",
    values=two_text_defaults,
    data_values=two_text_sizes,
)

IMAGE_QUESTION_COMMON: Values = {
    "tokens.lowercase": True,
    "model.hidden": 64,
    "model.dropout": 0.1,
    "train.lr": 1e-3,
    "train.batch_tokens": 4096,
    "train.validation_examples": 1000,
}

IMAGE_QUESTION_BUILTIN: dict[str, Values] = {
    "scenes-questions": {"model.hidden": 32, "model.dropout": 0.0, "train.lr": 2e-3, "train.budget": 60}
}


def image_question_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**IMAGE_QUESTION_COMMON, **IMAGE_QUESTION_BUILTIN.get(data, {})}


IMAGE_QUESTION_TO_LABEL = Defaults(
    models=("conv/gru", "conv/gru+additive", "conv/gru+scaled-dot+co", "conv/gru+scaled-dot+sparsemax+co"),
    model="conv/gru+scaled-dot+co",
    values=image_question_defaults,
)


def with_label_sets(one: Defaults) -> Defaults:
    """As for one label of such a source, and what sets of labels need."""

    def values(data: str, model: ModelName) -> Values:
        return {**one.values(data, model.without("one-each")), **LABEL_SETS}

    return replace(one, values=values)


NUMBERS_TO_LABELS = with_label_sets(NUMBERS_TO_LABEL)
IMAGE_TO_LABELS = with_label_sets(IMAGE_TO_LABEL)
TWO_TEXTS_TO_LABELS = with_label_sets(TWO_TEXTS_TO_LABEL)
