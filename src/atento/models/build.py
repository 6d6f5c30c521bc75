"""Model names become modules here and nowhere else.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT], or ENCODER/DECODER of two such names: `lstm+additive+sparsemax`,
`transformer`, `transformer/gru+dot`. In place of an extent, `linformer` presses the keys together.

A Transformer's self-attentions look through the extent it names, a decoder's own past also causally. Its attention over
the source looks through it only where it has a meaning between two sequences, else at everything; a decoder's own past
looks through it only where it has a meaning while keys still grow. Linformer stays out of a decoder's past.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from torch import nn

from atento.attention.presets import DISTRIBUTIONS, EXTENTS, SCORES, Composition, compose
from atento.errors import InputError, unknown_name
from atento.layers.activations import ACTIVATIONS
from atento.layers.initialisation import INITIALISATIONS
from atento.models.build_recurrent import recurrent_decoder, recurrent_encoder, require_no_summary
from atento.models.build_transformer import transformer_decoder, transformer_encoder
from atento.models.protocols import Decoder, Encoder
from atento.models.translator import Translator
from atento.recurrent import GRU, LSTM, Cell, Elman, GRUBefore, Jordan
from atento.recurrent.stack import CellMaker
from atento.spec import ModelRecipe

CELLS: dict[str, Callable[..., Cell[Any]]] = {
    "rnn": Elman,
    "jordan": Jordan,
    "gru": GRU,
    "gru-before": GRUBefore,
    "lstm": LSTM,
}

FAMILIES: dict[str, str] = {
    "rnn": "plain recurrent network (Elman 1990)",
    "jordan": "recurrent network whose output feeds back (Jordan 1986)",
    "gru": "gated recurrent unit (Cho et al. 2014), the reset after the product",
    "gru-before": "gated recurrent unit as first published, the reset before the product (Cho et al. 2014)",
    "lstm": "long short-term memory (Hochreiter & Schmidhuber 1997; Gers et al. 2000)",
    "transformer": "attention only (Vaswani et al. 2017)",
}

EYES: dict[str, str] = {  # encoders of pictures; `atento.models.build_pictures` takes them off a name
    "conv": "small convolutional network over a picture, a state a region: conv/DECODER, conv+SCORE (Xu et al. 2015)",
}
FORECASTERS: dict[str, str] = {  # of series alone; `atento.models.build_forecaster` takes them off a name
    "linear": "forecast: a weighted sum of the past (NLinear of Zeng et al. 2023)",
}

LINFORMER = "linformer"

SUFFIXES: dict[str, str] = {  # of one task alone; its own build takes them off a name
    "crf": "tag: tags judged together, by a linear-chain conditional random field",
    "hierarchical": "classify, label: words make sentences, sentences a document",
    "one-each": "label: a network of its own for each label",
    "co": "match: each sequence looks at the other",
    "patches": "forecast: a Transformer reads pieces of model.patch steps",
}


class Half(NamedTuple):
    """An encoder or a decoder by its names; a recurrent one without attention has no composition."""

    family: str
    attention: Composition | None
    linformer: bool = False


class Vocabularies(NamedTuple):
    """How many tokens there are on each side."""

    source: int
    target: int


def parse(name: str) -> tuple[Half, Half]:
    """The encoder's and the decoder's half of a model name."""
    halves = [parse_half(half, name) for half in name.split("/")]
    if len(halves) > 2:
        raise InputError(f"model {name!r} has more than two halves.", found=name, fix="write ENCODER/DECODER")
    if len(halves) == 2 and halves[0].family != "transformer" and halves[0].attention is not None:
        raise InputError(
            f"model {name!r}: a recurrent encoder has no attention; its decoder has.",
            found=name.split("/")[0],
            fix=f"write {halves[0].family}/{name.split('/')[1]}",
        )
    return halves[0], halves[-1]


def without_suffixes(name: str) -> str:
    """The name without what only one task knows."""
    return "+".join(part for part in name.split("+") if part not in SUFFIXES)


def parse_half(name: str, whole: str) -> Half:
    """`lstm+additive` -> its family and its attention."""
    family, *parts = name.split("+")
    if family in EYES:
        raise InputError(
            f"model {whole!r}: {family} reads pictures, and cannot stand here.",
            found=name,
            fix=f"take another family ({', '.join(FAMILIES)}), or a task of pictures (caption, classify-pictures)",
        )
    if family in FORECASTERS:
        raise InputError(
            f"model {whole!r}: {family} forecasts series, and cannot stand here.",
            found=name,
            fix=f"take another family ({', '.join(FAMILIES)}), or the task forecast",
        )
    if family not in FAMILIES:
        raise unknown_name("model", family, FAMILIES, where=f"model {whole!r}" if whole != family else "")
    foreign = next((part for part in parts if part in SUFFIXES), "")
    if foreign:  # a build that knows it has taken it off already
        raise InputError(
            f"model {whole!r}: {foreign!r} has no meaning for this task.",
            found=f"{foreign}, which is for {SUFFIXES[foreign]}",
            fix=f"leave +{foreign} out",
        )
    linformer = LINFORMER in parts
    if linformer:
        parts = without_linformer(parts, whole)
    if family == "transformer":
        return Half(family, compose(parts, default_score="scaled-dot"), linformer)
    known = [*SCORES, *DISTRIBUTIONS, *EXTENTS]
    named = [*parts, *([LINFORMER] if linformer else [])]
    if named and not any(part in SCORES for part in parts) and all(part in known for part in parts):
        raise InputError(
            f"model {whole!r} names no score.",
            found=", ".join(named),
            fix=f"add one, e.g. {family}+dot+{'+'.join(named)} (scores: {', '.join(SCORES)})",
        )
    return Half(family, compose(parts, default_score="dot") if parts else None, linformer)


def without_linformer(parts: list[str], whole: str) -> list[str]:
    """The score and the distribution that go with it; it leaves no extent to choose."""
    for part in parts:
        if part in EXTENTS and part != "everything":
            raise InputError(
                f"model {whole!r}: linformer mixes all positions, which leaves no extent to choose.",
                found=f"{LINFORMER} and {part}",
                fix=f"leave {part!r} out, or {LINFORMER!r}",
            )
    place = parts.index(LINFORMER)
    return parts[:place] + parts[place + 1 :]


def build_translator(recipe: ModelRecipe, vocabularies: Vocabularies) -> Translator:
    """The whole model of a recipe."""
    encoder_half, decoder_half = parse(recipe.name)
    encoder = build_encoder(encoder_half, recipe, vocabularies.source)
    decoder = build_decoder(decoder_half, recipe, vocabularies.target, source_size=encoder.size)
    return Translator(encoder, decoder)


def build_encoder(half: Half, recipe: ModelRecipe, vocabulary_size: int) -> Encoder:
    """An encoder of any family; of equal width, so that any decoder goes with it."""
    if half.family != "transformer":
        return recurrent_encoder(cells_of(half.family, recipe), recipe, vocabulary_size)
    composition = half.attention or Composition("scaled-dot")
    return transformer_encoder(composition, recipe, vocabulary_size, linformer=half.linformer)


def build_decoder(half: Half, recipe: ModelRecipe, vocabulary_size: int, *, source_size: int) -> Decoder[Any]:
    """A decoder over an encoder of any kind."""
    if half.family != "transformer":
        cells = cells_of(half.family, recipe)
        return recurrent_decoder(
            cells, half.attention, recipe, vocabulary_size, source_size=source_size, linformer=half.linformer
        )
    require_no_summary(recipe)
    composition = half.attention or Composition("scaled-dot")
    return transformer_decoder(composition, recipe, vocabulary_size, source_size=source_size, linformer=half.linformer)


def cells_of(family: str, recipe: ModelRecipe) -> CellMaker:
    """Cells of a family, bent and started as the recipe says."""
    for key, known in (("activation", ACTIVATIONS), ("init", INITIALISATIONS)):
        if getattr(recipe, key) not in known:
            raise unknown_name(key, getattr(recipe, key), known, where=f"model.{key}")
    bend, start = ACTIVATIONS[recipe.activation], INITIALISATIONS[recipe.init]
    return partial(CELLS[family], activation=bend, initialise=start)


def count_parameters(module: nn.Module) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in module.parameters())
