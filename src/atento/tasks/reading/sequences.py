"""Numeric sequences, each with a label or with a text."""

from functools import partial

from atento.data.examples.pairs import Pairs
from atento.data.records import Refusal
from atento.data.sequences.labelled import find_sequences, label_of, read_sequences, text_of
from atento.spec import DataRecipe
from atento.tasks.reading.reader import Reader, by_source, open_rows, share_out
from atento.tasks.task import Opened


def read_labels(recipe: DataRecipe, file: str) -> Pairs:
    """Every sequence with its one label."""
    return read_sequences(recipe, file, label_of, key="label")


def read_texts(recipe: DataRecipe, file: str) -> Pairs:
    """Every sequence with what is to be written of it."""
    return read_sequences(recipe, file, text_of, key="target")


def open_sequences(recipe: DataRecipe, file: str, *, key: str) -> Opened:
    """The sequences of a file that may have no targets."""
    found, _, _ = find_sequences(recipe, file, target=getattr(recipe, key))

    def source_of(row: int) -> str | Refusal:
        return found.text(row, recipe)

    return open_rows(recipe, found.table, source_of)


LABELLED_SEQUENCES = Reader(
    rows=read_labels,
    sources=partial(open_sequences, key="label"),
    share=partial(share_out, by_label=True),
    columns=("sequence", "label"),
)
TRANSCRIBED = Reader(
    rows=read_texts, sources=partial(open_sequences, key="target"), questions=by_source, columns=("sequence", "text")
)
