"""The table of word vectors inside a model: which words its rows are, where it stands, and how a text is read."""

import unicodedata
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from atento.data.vocabulary import END, MARKS, UNKNOWN, Vocabulary, Words
from atento.data.word_space import WordSpace
from atento.errors import InputError
from atento.layers.embeddings import TokenEmbedding


class WordTable(NamedTuple):
    """What a model reads: the words of rows MARKS and on, and the table."""

    words: tuple[str, ...]
    level: str  # char, word or subword
    table: nn.Embedding


def vocabulary_of(codec: Any) -> Vocabulary | None:
    """What a codec reads with; None where it has no vocabulary of texts."""
    for key in ("source", "vocabulary"):
        found = getattr(codec, key, None)
        if isinstance(found, Vocabulary):
            return found
    return None


def words_of(codec: Any) -> tuple[tuple[str, ...], str]:
    """The tokens a codec reads as people write them, and their level; none where it reads no text."""
    vocabulary = vocabulary_of(codec)
    if vocabulary is not None:
        return spelled(vocabulary.pieces(range(len(MARKS), len(vocabulary)))), vocabulary.level
    if hasattr(codec, "word_numbers"):
        return spelled(list(codec.word_numbers)), "word"
    return (), ""


def spelled(pieces: list[str]) -> tuple[str, ...]:
    """Each token's own spelling: one that an earlier token has already gets signs, so that it can still be named."""
    taken: set[str] = set()
    for place, piece in enumerate(pieces):
        while piece in taken:
            piece += "'"
        taken.add(piece)
        pieces[place] = piece
    return tuple(pieces)


def table_of(module: nn.Module, codec: Any, *, outputs: bool = False) -> WordTable:
    """The first table of vectors that has a row for each token; where asked and there is one, that of the last layer,
    which says words instead of reading them.
    """
    words, level = words_of(codec)
    rows = len(words) + len(MARKS)
    said = [getattr(module, name, None) for name in ("outputs", "contexts")] if outputs else []
    for part in [*said, *module.modules()]:
        if words and isinstance(part, TokenEmbedding) and part.table.num_embeddings == rows:
            return WordTable(words, level, part.table)
    raise InputError(
        "this model has no table of word vectors.",
        found=f"{type(module).__name__}, {len(words)} words",
        fix="look at a model that reads text, or train one: --task embed",
    )


def space_of(module: nn.Module, codec: Any) -> WordSpace:
    """The words a model reads as points; marks are left out."""
    found = table_of(module, codec)
    return WordSpace(found.words, vectors_in(found))


def vectors_in(found: WordTable) -> NDArray[np.float64]:
    """The numbers (V, D) of its words."""
    vectors: NDArray[np.float64] = found.table.weight.detach()[len(MARKS) :].double().cpu().numpy()
    return vectors


class Read(NamedTuple):
    """A text as a model reads it."""

    text: str  # composed, in small letters where the model reads them so
    tokens: Tensor  # (T,), or (T, 1 + letters)
    places: list[tuple[int, int]]  # where each token stands in the text; an empty place: a mark


def read_by(codec: Any, text: str) -> Read:
    """The tokens of a text, each with its place; a text of nothing is one unknown token."""
    text = unicodedata.normalize("NFC", text).strip()
    text = text.lower() if getattr(codec, "lower", False) else text
    vocabulary = vocabulary_of(codec)
    if not words_of(codec)[1]:
        raise InputError("this model reads no text.", found=type(codec).__name__, fix="look at a model of texts")
    if vocabulary is None:
        places = Words([]).offsets(text)
        return Read(text, torch.as_tensor(codec.read([text[start:end] for start, end in places])), places or [(0, 0)])
    marks = [END] if hasattr(codec, "vocabulary") else []  # a language model's text begins after an end
    tokens = [*marks, *vocabulary.encode(text)] or [UNKNOWN]
    return Read(text, torch.tensor(tokens), [*([(0, 0)] * len(marks)), *vocabulary.offsets(text)] or [(0, 0)])
