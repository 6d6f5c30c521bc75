"""Words that begin with vectors from a file: `tokens.vectors` names it, `model.vectors` says whether they learn on."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from atento.data.records import counted
from atento.data.vectors import WordVectors, read_vectors
from atento.data.vocabulary import MARKS
from atento.errors import InputError
from atento.spec import Recipe
from atento.tasks.word_table import WordTable, table_of

WORDS = ("word", "running")  # levels whose tokens are words


def start_words(module: nn.Module, codec: Any, recipe: Recipe, *, started: bool) -> list[str]:
    """Fill and freeze the table of the words a model reads, as the recipe says; what was done, in words.

    A model that was `started` from another run has its vectors already; they stay frozen where they were.
    """
    file, frozen = recipe.tokens.vectors, recipe.model.vectors == "frozen"
    if not file and not frozen:
        return []
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
    """Put the file's vectors where their words stand; the others stay as they were drawn."""
    if found.level not in WORDS:
        raise InputError(
            "tokens.vectors: these are vectors of words, and the model reads other pieces.",
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
        at = torch.tensor([place + len(MARKS) for place, _ in taken])
        found.table.weight[at] = (scale * vectors).to(found.table.weight)
    return (
        f"{Path(file).name}: vectors for {len(taken)} of {counted(len(found.words), 'word')}, "
        f"made {scale:.3g} times as long, which is 1 on average"
    )


def require_width(known: WordVectors, found: WordTable, file: str) -> None:
    """Vectors are put in as they are."""
    width, size = known.vectors.shape[1], found.table.embedding_dim
    if width != size:
        raise InputError(
            f"{Path(file).name}: its vectors do not fit the model.",
            found=f"{width} numbers a word, model.hidden={size}",
            fix=f"--set model.hidden={width}",
        )
