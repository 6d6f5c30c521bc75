"""Recipes of the tasks that write a text, chosen by measurement: the same width and the same care for every family.

How stands in docs/defaults: translate.md, transcribe.md, caption.md; for the built-in sets in
docs/decisions/0006-defaults.md, for the probes in docs/decisions/0011-probes.md.
"""

from collections.abc import Sequence
from math import sqrt

from atento.data.builtin.catalogue import is_builtin
from atento.data.records import counted
from atento.models.names import ModelName
from atento.spec import Chosen, Recipe
from atento.tasks.defaults.budget_estimate import TrainingEstimate, transformer_size
from atento.tasks.task import Defaults, Values

PROBE: Values = {
    "model.hidden": 64,
    "model.dropout": 0.0,
    "train.batch_tokens": 1536,
    "train.budget": 60,
    "train.warmup": 100,
}
FAMILIES: dict[str, Values] = {
    "rnn": {**PROBE, "train.lr": 2e-3},
    "gru": {**PROBE, "train.lr": 8e-3},
    "lstm": {**PROBE, "train.lr": 4e-3},
    "transformer": {**PROBE, "train.lr": 2e-3, "train.batch_tokens": 768, "model.layers": 1},
}
REACH = {"cook": 0, "copy": 1, "alignment": 2}  # of a window that still shows the place to look at

PROBES: dict[str, dict[str, Values]] = {
    "recall": {
        **FAMILIES,
        "transformer": {**FAMILIES["transformer"], "model.layers": 2, "model.positions": "relative"},
    },
    **{
        name: {family: {**values, "model.window": reach} for family, values in FAMILIES.items()}
        for name, reach in REACH.items()
    },
}

TRANSLATE_ANY_DATA: dict[str, Values] = {
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
STEADY: Values = {"train.label_smoothing": 0.1, "train.ema": 0.999}

NUMBERS: Values = {
    "train.batch_tokens": 1536,
    "train.budget": 60,
    "train.warmup": 100,
    "model.dropout": 0.0,
    "model.hidden": 128,
}

TRANSLATE_BUILTIN: dict[str, dict[str, Values]] = {
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
SMALL_BATCH = 512  # tokens at least, of a Transformer whose time is short
BEAM = 5
LONG = 120  # seconds; a comparison has less for each model, and no time for beams
SUBWORDS = 25  # times the root of the training pairs: so that most subwords are seen often enough
FEWEST_SUBWORDS, MOST_SUBWORDS = 500, 8000


def translate_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    values = TRANSLATE_ANY_DATA.get(model.family, {})
    if is_builtin(data):
        return {**values, **TRANSLATE_BUILTIN.get(data, {}).get(model.family, {})}
    return {**values, **OWN_DATA.get(model.family, {}), **STEADY}


def translate_sizes(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """What follows from how much there is to learn from, and how often the run will see it; built-in sets have values
    of their own.
    """
    if is_builtin(recipe.data.train):
        return {}
    seen = TrainingEstimate.of(recipe, train, device)
    passes = f"about {seen.passes:.3g} passes over {counted(len(train), 'pair')}"
    subwords = round(SUBWORDS * sqrt(len(train)), -2)
    vocabulary = int(min(max(subwords, FEWEST_SUBWORDS), MOST_SUBWORDS))
    values: Values = {
        "tokens.vocab_size": vocabulary,
        "model.dropout": Chosen(next((share for below, share in DROPOUT if seen.passes < below), MOST_DROPOUT), passes),
        "decode.beam": BEAM if seen.seconds >= LONG else 1,
    }
    if seen.batch_tokens:
        values["train.batch_tokens"] = seen.batch_tokens
        values["train.warmup"] = int(min(recipe.train.warmup, WARMING * seen.steps))
    if seen.passes < 1:
        values |= {
            "model.hidden": Chosen(NARROW, passes),
            "tokens.vocab_size": min(vocabulary, FEW_SUBWORDS),
        }
    small = transformer_size(recipe, device)
    if small:
        values |= {**small, "train.batch_tokens": max(seen.batch_tokens, SMALL_BATCH)}
    return values


TEXT_TO_TEXT = Defaults(
    models=("rnn", "gru", "lstm", "lstm+dot", "lstm+additive", "lstm+additive+sparsemax", "transformer"),
    model="lstm+additive",
    values=translate_defaults,
    data_values=translate_sizes,
)

TRANSCRIBE_COMMON: Values = {"model.hidden": 128, "model.dropout": 0.1, "train.validations": 15, "train.patience": 8}

TRANSCRIBE_ANY_DATA: dict[str, Values] = {
    "rnn": {**TRANSCRIBE_COMMON, "train.lr": 1e-3},
    "gru": {**TRANSCRIBE_COMMON, "train.lr": 4e-3},
    "lstm": {**TRANSCRIBE_COMMON, "train.lr": 4e-3},
    "transformer": {**TRANSCRIBE_COMMON, "train.lr": 1e-3, "model.layers": 2},
}

TONES: Values = {"model.hidden": 64, "model.dropout": 0.0, "train.warmup": 50, "train.budget": 60}

TRANSCRIBE_BUILTIN: dict[str, dict[str, Values]] = {
    "tones": {
        "rnn": TONES,
        "gru": {**TONES, "train.lr": 1e-2},
        "lstm": {**TONES, "train.lr": 1e-2},
        "transformer": {**TONES, "train.lr": 2e-3},
    }
}

A_SYMBOL = 8  # steps that are read for each symbol that is written, at most; more are read together
BATCH = 24  # sequences in a batch, about
FEWEST, MOST = 1024, 65_536  # steps and symbols in a batch


def transcribe_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**TRANSCRIBE_ANY_DATA.get(model.family, {}), **TRANSCRIBE_BUILTIN.get(data, {}).get(model.family, {})}


def transcribe_sizes(recipe: Recipe, train: Sequence[tuple[str, str]], device: str) -> Values:
    """Steps read together where many go to one symbol, and batches of several sequences."""
    steps = sum(source.count(" ") + 1 for source, _ in train)
    symbols = max(1, sum(map(len, (target for _, target in train))))
    return {
        "model.patch": max(1, int(steps / symbols / A_SYMBOL)),
        "train.batch_tokens": int(min(max(FEWEST, BATCH * (steps + symbols) / len(train)), MOST)),
    }


NUMBERS_TO_TEXT = Defaults(
    models=("rnn", "gru", "lstm", "gru+dot", "gru+additive", "lstm+additive", "transformer"),
    model="gru+dot",
    values=transcribe_defaults,
    data_values=transcribe_sizes,
)

CAPTION_COMMON: Values = {
    "model.hidden": 64,
    "model.dropout": 0.1,
    "train.lr": 5e-3,
    "train.batch_tokens": 3072,  # some 32 images
}
BUILT_IN: Values = {"model.dropout": 0.0, "train.budget": 120}
CAPTION_FAMILIES: dict[str, Values] = {
    "rnn": {"train.lr": 2e-3},
    "transformer": {"train.lr": 1e-3, "model.layers": 2},
}
HARD: Values = {"model.context": "both"}  # attention to one region needs the whole image to choose the next


def caption_defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    hard = model.family != "transformer" and any(word.startswith("hard") for word in model.decoder.added)
    own = {**CAPTION_FAMILIES.get(model.family, {}), **(HARD if hard else {})}
    return {**CAPTION_COMMON, **(BUILT_IN if is_builtin(data) else {}), **own}


IMAGE_TO_TEXT = Defaults(
    models=("conv/lstm", "conv/gru+dot", "conv/lstm+additive", "conv/lstm+additive+hard-half", "conv/transformer"),
    model="conv/lstm+additive",
    values=caption_defaults,
)
