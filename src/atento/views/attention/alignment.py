"""An alignment: source tokens, output tokens, and the attention weight of each output token on each source token."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.bundle import Json
from atento.errors import InputError
from atento.views.saving import ModelView

# Axes: L layers, H heads, O output tokens, S source tokens.

SILENT = {"<pad>", "<start>", "<end>"}  # special tokens that are no part of a text
WORD_START = "▁"  # the sign of subwords that begin a word
NUMBER = re.compile(r"[-+−]?\.?\d\S*")
OPEN, CLOSED, BETWEEN = "([{¿¡", ")]},.;:!?%", "-'’/"


@dataclass(frozen=True, kw_only=True)
class AlignmentView(ModelView):
    """The attention of a model while it read one source and wrote its output."""

    source: Sequence[str]
    output: Sequence[str]
    weights: Any  # [layers][heads][output tokens][source tokens], as lists or an array; empty without attention
    text: str | None = None  # the output as a person reads it
    score: float | None = None  # log-probability of the output
    reference: str = ""
    correct: bool | None = None  # None: nobody knows
    kind: str = "chosen"  # in a report: "chosen" or "worst"
    name: str = ""  # of a source that is no text
    image: str = ""  # of a source that is an image: its pixels as a data URI
    grid: Sequence[int] = ()  # of an image: rows and columns of regions, which are the source tokens, row by row
    explanation: str = ""  # in words, of a model without attention
    viewed: Json = field(default_factory=dict)  # in a report: every map of the model, as the viewer reads it

    def to_json(self) -> Json:
        """The alignment in dicts and lists."""
        seldom = ("name", "image", "grid", "explanation", "viewed")
        named = {key: value for key, value in vars(self).items() if key not in seldom}
        named |= {key: getattr(self, key) for key in ("name", "explanation", "viewed") if getattr(self, key)}
        return {**named, "image": self.image, "grid": list(self.grid)} if self.image else named


def weights_of(alignment: AlignmentView) -> NDArray[np.float64]:
    """The weights as one array (L, H, O, S)."""
    output, source = len(alignment.output), len(alignment.source)
    try:
        weights = np.asarray(alignment.weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise misfit("weights of uneven shape", output, source) from None
    if weights.size == 0:
        raise InputError(
            "there are no weights to show.",
            found="a model without attention, or no text",
            fix="look at a text with a model that has attention",
        )
    if weights.ndim != 4 or weights.shape[2:] != (output, source):
        raise misfit(f"weights {weights.shape}", output, source)
    return weights


def misfit(found: str, output: int, source: int) -> InputError:
    """The error of weights whose shape does not fit the tokens."""
    return InputError(
        "the weights of an alignment do not fit its tokens.",
        found=f"{found}, {output} output and {source} source tokens",
        fix="give weights as [layers][heads][output tokens][source tokens]",
    )


def has_weights(alignment: AlignmentView) -> bool:
    """Whether there are weights at all: an empty text or a model without attention has none."""
    return np.asarray(alignment.weights, dtype=object).size > 0


def can_be_viewed(alignment: AlignmentView) -> bool:
    """Whether the viewer has a map to show."""
    return bool(alignment.viewed.get("maps")) or has_weights(alignment)


def mean_of_heads(alignment: AlignmentView, *, layer: int = -1) -> NDArray[np.float64]:
    """The mean over the heads of a layer, by default the last: (O, S)."""
    return np.asarray(weights_of(alignment)[layer].mean(axis=0))


def printable(token: str) -> str:
    """A token as a label, with a sign for blanks and for characters that cannot be printed."""
    if not token.strip():
        return "␣"
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in token)


def are_characters(tokens: Sequence[str]) -> bool:
    """Whether the tokens are characters, not words."""
    return sum(len(token) <= 1 for token in tokens) >= 0.8 * len(tokens)


def joined_text(tokens: Sequence[str]) -> str:
    """Tokens as running text, as nearly as it can be restored from them."""
    kept = [token for token in tokens if token not in SILENT]
    if any(WORD_START in token for token in kept):
        return "".join(kept).replace(WORD_START, " ").strip()
    if are_characters(kept):
        return "".join(kept)
    text = " ".join(kept)
    if all(map(NUMBER.fullmatch, kept)):
        return text  # a minus joins no two numbers
    for sign in CLOSED + BETWEEN:
        text = text.replace(f" {sign}", sign)
    for sign in OPEN + BETWEEN:
        text = text.replace(f"{sign} ", sign)
    return text


def output_text(alignment: AlignmentView) -> str:
    """The output as text: the model's own, or joined from its tokens."""
    if alignment.text is not None:
        return alignment.text
    if alignment.correct and alignment.reference:
        return alignment.reference
    return joined_text(alignment.output)
