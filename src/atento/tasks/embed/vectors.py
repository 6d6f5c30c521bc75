"""The embedding table of a model: the words of its rows, its vectors, and their initial values from a file.

`tokens.vectors` names a file of pretrained vectors; `model.vectors` says whether they are trained further.
"""

import unicodedata
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from atento.data.records import counted
from atento.data.text.vectors import WordVectors, read_vectors
from atento.data.text.vocabulary import SPECIAL_TOKENS, UNKNOWN, Vocabulary, Words
from atento.data.text.word_space import WordSpace
from atento.errors import InputError
from atento.layers.embeddings import TokenEmbedding
from atento.spec import Recipe
from atento.tasks.inputs.words import WordList
from atento.tasks.task import Codec


class WordTable(NamedTuple):
    """The embedding table of a model, and the words of its rows after the special tokens."""

    words: tuple[str, ...]
    level: str  # char, word or subword
    table: nn.Embedding


def vocabulary_of(codec: Codec) -> Vocabulary | None:
    """What a codec reads with; None where it has no vocabulary of texts."""
    found = getattr(codec, "vocabulary", None)
    return found if isinstance(found, Vocabulary) else None


def words_of(codec: Codec) -> tuple[tuple[str, ...], str]:
    """The tokens a codec reads as people write them, and their level; none where it reads no text."""
    vocabulary = vocabulary_of(codec)
    if vocabulary is not None:
        return spelled(vocabulary.tokens(range(len(SPECIAL_TOKENS), len(vocabulary)))), vocabulary.level
    words = words_read(codec)
    if words is not None:
        return spelled(list(words.word_numbers)), "word"
    return (), ""


def words_read(codec: Codec) -> WordList | None:
    """The half of a codec that reads lists of words; None where it reads no lists."""
    half = getattr(codec, "input", None)
    return half if isinstance(half, WordList) else None


def spelled(tokens: list[str]) -> tuple[str, ...]:
    """A distinct spelling of each token: one that an earlier token has already gets apostrophes."""
    taken: set[str] = set()
    for place, token in enumerate(tokens):
        while token in taken:
            token += "'"
        taken.add(token)
        tokens[place] = token
    return tuple(tokens)


def table_of(module: nn.Module, codec: Codec, *, outputs: bool = False) -> WordTable:
    """The first embedding table that has a row for each token; with `outputs`, that of the output layer if any."""
    words, level = words_of(codec)
    rows = len(words) + len(SPECIAL_TOKENS)
    output_tables = [getattr(module, name, None) for name in ("outputs", "contexts")] if outputs else []
    for part in [*output_tables, *module.modules()]:
        if words and isinstance(part, TokenEmbedding) and part.table.num_embeddings == rows:
            return WordTable(words, level, part.table)
    raise InputError(
        "this model has no table of word vectors.",
        found=f"{type(module).__name__}, {len(words)} words",
        fix="look at a model that reads text, or train one: --task embed",
    )


def space_of(module: nn.Module, codec: Codec) -> WordSpace:
    """The words a model reads as points; special tokens are left out."""
    found = table_of(module, codec)
    return WordSpace(found.words, vectors_in(found))


def vectors_in(found: WordTable) -> NDArray[np.float64]:
    """The numbers (V, D) of its words."""
    vectors: NDArray[np.float64] = found.table.weight.detach()[len(SPECIAL_TOKENS) :].double().cpu().numpy()
    return vectors


class Read(NamedTuple):
    """A text as a model reads it."""

    text: str  # composed, in small letters where the model reads them so
    tokens: Tensor  # (T,), or (T, 1 + letters)
    places: list[tuple[int, int]]  # where each token stands in the text; an empty place: a special token


def read_by(codec: Codec, text: str) -> Read:
    """The tokens of a text, each with its place; a text of nothing is one unknown token."""
    text = unicodedata.normalize("NFC", text).strip()
    text = text.lower() if getattr(codec, "lower", False) else text
    vocabulary = vocabulary_of(codec)
    words = words_read(codec)
    if words is not None:
        places = Words([]).offsets(text)
        return Read(text, words.encode_words([text[start:end] for start, end in places]), places or [(0, 0)])
    if vocabulary is None:
        raise InputError("this model reads no text.", found=type(codec).__name__, fix="look at a model of texts")
    prefix = getattr(codec, "prefix", ())  # a language model's text begins after an end
    tokens = [*prefix, *vocabulary.encode(text)] or [UNKNOWN]
    return Read(text, torch.tensor(tokens), [*([(0, 0)] * len(prefix)), *vocabulary.offsets(text)] or [(0, 0)])


WORDS = ("word", "lossless")  # levels whose tokens are words


def start_words(module: nn.Module, codec: Codec, recipe: Recipe, *, started: bool) -> list[str]:
    """Fill and freeze the table of the words a model reads, as the recipe says; what was done, in words.

    A model that was `started` from another run has its vectors already; they stay frozen where they were.
    """
    file, frozen = recipe.tokens.vectors, recipe.model.vectors == "frozen"
    if not file and not started:
        raise InputError(
            "model.vectors=frozen: there are no vectors to keep as they are.",
            found="tokens.vectors is empty",
            fix="name a file: --set tokens.vectors=FILE",
        )
    found = table_of(module, codec)
    notes = [] if not file else [fill(found, file, recipe)]
    if frozen:
        found.table.weight.requires_grad_(False)
        notes.append("the vectors of words stay as they are (--set model.vectors=fine-tuned lets them learn)")
    return notes


def fill(found: WordTable, file: str, recipe: Recipe) -> str:
    """Copy the file's vectors to the rows of their words; other rows keep their random values. Returns a note."""
    if found.level not in WORDS:
        raise InputError(
            "tokens.vectors: these are vectors of words, and the model reads other tokens.",
            found=f"a vocabulary of {found.level}s",
            fix="--set tokens.source=word",
        )
    wanted = {spelling for word in found.words for spelling in (word, word.lower())}
    known = read_vectors(file, only=wanted, bad_rows=recipe.data.bad_rows)
    require_width(known, found, file)
    rows = {word: row for row, word in enumerate(known.words)}
    places = [(place, rows.get(word, rows.get(word.lower()))) for place, word in enumerate(found.words)]
    taken = [(place, row) for place, row in places if row is not None]
    if not taken:
        raise InputError(
            f"{Path(file).name}: none of its words is in the training text.",
            found=f"{counted(len(found.words), 'word')} in the text, e.g. {found.words[0]!r}",
            fix="give vectors of the same language, or leave tokens.vectors out",
        )
    vectors = torch.from_numpy(known.vectors[[row for _, row in taken]])
    scale = 1.0 / float(vectors.norm(dim=1).mean().clamp(min=1e-12))  # as long as drawn ones are: about 1
    with torch.no_grad():
        at = torch.tensor([place + len(SPECIAL_TOKENS) for place, _ in taken])
        found.table.weight[at] = (scale * vectors).to(found.table.weight)
    return (
        f"{Path(file).name}: vectors for {len(taken)} of {counted(len(found.words), 'word')}, "
        f"made {scale:.3g} times as long, which is 1 on average"
    )


def require_width(known: WordVectors, found: WordTable, file: str) -> None:
    """Refuse vectors of another size than the model's."""
    width, size = known.vectors.shape[1], found.table.embedding_dim
    if width != size:
        raise InputError(
            f"{Path(file).name}: its vectors do not fit the model.",
            found=f"{width} numbers per word, model.hidden={size}",
            fix=f"--set model.hidden={width}",
        )
