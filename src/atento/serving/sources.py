"""Rows of a request as the sources of a task: nothing in a row names a file."""

import tempfile
from base64 import b64decode
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from atento.data.images.loading import MAX_MEGAPIXELS, read_image_info
from atento.data.records import join_items
from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.serving.served import ModelCard, Row

# Axes: L rows read, C channels, K covariates.


def text_source(card: ModelCard, row: Row, held: ExitStack) -> str:
    """A text as it is."""
    return str(row["text"])


def pair_source(card: ModelCard, row: Row, held: ExitStack) -> str:
    """Two texts, a tab between them."""
    return join_items((row["first"], row["second"]))


def words_source(card: ModelCard, row: Row, held: ExitStack) -> str:
    """Words, tabs between them."""
    words = [str(word) for word in row["words"]]
    if any(not word.strip() or "\n" in word for word in words) or (len(words) == 1 and len(words[0].split()) > 1):
        raise InputError(
            "a word is empty, or several words are one.", found=f"{len(words)} words", fix="give each word by itself"
        )
    return join_items(words)


def numbers_source(card: ModelCard, row: Row, held: ExitStack) -> str:
    """Steps of numbers as a text, digit for digit."""
    return " ".join(",".join(repr(float(number)) for number in step) for step in matrix_of(row["values"]).tolist())


def series_source(card: ModelCard, row: Row, held: ExitStack) -> Past:
    """The newest rows of a series, and what is known in advance."""
    values, covariates = matrix_of(row["values"]), np.zeros((0, 0))
    if card.covariates:
        wanted = card.look_back + card.horizon
        known = matrix_of(row.get("future") or np.zeros((0, len(card.covariates))))
        if len(known) < wanted:
            raise InputError(
                f"this model needs {', '.join(card.covariates)} of the rows read and of those to come.",
                found=f"{len(known)} rows in `future`",
                fix=f"give {wanted} rows, those of the next {card.horizon} steps last",
            )
        older = np.zeros((max(0, len(values) - card.look_back), known.shape[1]))  # never read
        covariates = np.concatenate([older, known[-wanted:]])
    return Past(row.get("series") or "", "the newest row", values, covariates)


def image_source(card: ModelCard, row: Row, held: ExitStack) -> str:
    """The bytes of an image, in a file of our own as long as it is answered; a request names no file."""
    try:
        data = b64decode(row["image"], validate=True)
    except ValueError:
        raise InputError("`image` is not base64.", found="other characters", fix="base64 -w0 FILE") from None
    read_image_info(data, "", largest=MAX_MEGAPIXELS)
    folder = held.enter_context(tempfile.TemporaryDirectory(prefix="atento-serve-"))
    path = Path(folder) / "image"
    path.write_bytes(data)
    return str(path)


def question_source(card: ModelCard, row: Row, held: ExitStack) -> str:
    """An image and a question about it."""
    return join_items((image_source(card, row, held), row["question"]))


def matrix_of(values: ArrayLike) -> Numbers:
    """Rows × channels; a plain list has one channel."""
    array = np.asarray(values, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array


SOURCES: dict[str, Callable[[ModelCard, Row, ExitStack], Any]] = {
    "text": text_source,
    "two texts": pair_source,
    "words": words_source,
    "numbers": numbers_source,
    "image": image_source,
    "image and question": question_source,
    "series": series_source,
}
