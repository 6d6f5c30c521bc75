"""An alignment as plain data: pieces read, pieces written, and how much each written one looked at each read one."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError

Alignment = Mapping[str, Any]

SILENT = {"<pad>", "<start>", "<end>"}  # marks that are no part of a text
WORD_START = "▁"  # the sign of subwords that begin a word
NUMBER = re.compile(r"[-+−]?\.?\d\S*")
OPEN, CLOSED, BETWEEN = "([{¿¡", ")]},.;:!?%", "-'’/"


def weights_of(alignment: Alignment) -> NDArray[np.float64]:
    """The weights as one array (L, H, O, S)."""
    output, source = len(alignment["output"]), len(alignment["source"])
    try:
        weights = np.asarray(alignment["weights"], dtype=np.float64)
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
    """The one message for weights and pieces that do not go together."""
    return InputError(
        "the weights of an alignment do not fit its pieces.",
        found=f"{found}, {output} output and {source} source pieces",
        fix="give weights as [layers][heads][output pieces][source pieces]",
    )


def can_be_shown(alignment: Alignment) -> bool:
    """Whether there are weights at all: an empty text or a model without attention has none."""
    return np.asarray(alignment["weights"], dtype=object).size > 0


def mean_of_heads(alignment: Alignment, *, layer: int = -1) -> NDArray[np.float64]:
    """One matrix (O, S): the mean over the heads of a layer, the last unless told."""
    return np.asarray(weights_of(alignment)[layer].mean(axis=0))


def shown(piece: str) -> str:
    """A piece as a label: what cannot be seen gets a sign."""
    if not piece.strip():
        return "␣"
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in piece)


def is_spelled(pieces: Sequence[str]) -> bool:
    """Whether the pieces are characters, not words."""
    return sum(len(piece) <= 1 for piece in pieces) >= 0.8 * len(pieces)


def spelled(pieces: Sequence[str]) -> str:
    """Pieces as running text, as near as it can be told from them."""
    kept = [piece for piece in pieces if piece not in SILENT]
    if any(WORD_START in piece for piece in kept):
        return "".join(kept).replace(WORD_START, " ").strip()
    if is_spelled(kept):
        return "".join(kept)
    text = " ".join(kept)
    if all(map(NUMBER.fullmatch, kept)):
        return text  # a minus joins no two numbers
    for sign in CLOSED + BETWEEN:
        text = text.replace(f" {sign}", sign)
    for sign in OPEN + BETWEEN:
        text = text.replace(f"{sign} ", sign)
    return text


def written(alignment: Alignment) -> str:
    """What the model wrote, as text: its own, or read off the pieces."""
    if alignment.get("text") is not None:
        return str(alignment["text"])
    if alignment.get("correct") and alignment.get("reference"):
        return str(alignment["reference"])
    return spelled(alignment["output"])
