"""Texts by themselves: a whole file, its lines, its paragraphs, or a column of a table."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal

from atento.data.examples.pairs import ExampleSource, ExampleTarget, Half, empty_cell, one_column
from atento.data.examples.texts import text_at
from atento.data.files.archives import is_zip
from atento.data.files.foreign import refuse_foreign
from atento.data.files.opening import read_exact
from atento.data.records import Place, Records, Refusal, counted
from atento.data.tables.sniffing import kind_by_content, kind_by_name
from atento.data.tables.table import Table, table_of
from atento.spec import DataRecipe

Cut = Literal["file", "lines", "paragraphs"]
FEW_LINES = 20  # with fewer, lines are one text


class DocumentSource(ExampleSource):
    """A text by itself, with its white space as it is."""

    def open(self, recipe: DataRecipe, file: str, names: Sequence[str]) -> Table:
        """A plain text cut into documents, or the table of a file."""
        if may_be_plain(file):
            if recipe.documents == "auto":
                refuse_foreign(Path(file))
            text, encoding, notes = read_exact(file)
            if recipe.documents != "auto" or kind_by_content(text) == "text":
                return cut_text(text, recipe, file, encoding, notes)
        return super().open(recipe, file, names)

    def recipe_without_targets(self, recipe: DataRecipe, file: str) -> DataRecipe:
        """Each line of a plain text is one to continue, unless data.documents says otherwise."""
        lines = recipe.documents == "auto" and is_plain(file)
        return recipe.model_copy(update={"documents": "lines"}) if lines else recipe

    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """The only column of a plain text; of a table, the column of texts."""
        at = 0 if len(table.columns) == 1 else text_at(table, recipe)

        def value(table: Table, row: int, column: int) -> str | Refusal:
            text = table.rows[row][column]
            return text if text.strip() else empty_cell(table, row, column)

        return one_column(table, at, recipe, key="source", role="text", cell=value)


class NoTarget(ExampleTarget):
    """Nothing is said of a source."""

    keys = ()

    def find(self, table: Table, recipe: DataRecipe, source: Half) -> Half:
        """An empty text for every row."""
        return Half(table, (), lambda row: "", {}, {})


def may_be_plain(file: str) -> bool:
    """Whether the name of a file does not say what is in it."""
    return Path(file).is_file() and kind_by_name(file) is None and not is_zip(Path(file))


def is_plain(file: str) -> bool:
    """Whether a file is plain text."""
    return may_be_plain(file) and kind_by_content(read_exact(file).text) == "text"


def cut_text(text: str, recipe: DataRecipe, path: str, encoding: str, notes: Iterable[str]) -> Table:
    """A plain text as one document, or as one a line or a paragraph; what is blank between them is no document."""
    file = Path(path).name
    way: Cut = likely_cut(text) if recipe.documents == "auto" else recipe.documents
    found = documents_in(text, way)
    note = f"{file}: {SAID[way]} ({counted(len(found), 'document')})"
    if recipe.documents == "auto":
        note += f"; --set data.documents={' or '.join(other for other in SAID if other != way)} cuts it otherwise"
    records = Records(
        columns=("text",),
        rows=[(document,) for _, document in found],
        lines=[line for line, _ in found],
        refused=[],
        locate=lambda line, _: Place(file, line, 1),
        notes=(*notes, note),
    )
    return table_of(records, file, "text", encoding=encoding)


SAID: dict[Cut, str] = {
    "file": "all of it is one document",
    "lines": "each line is a document",
    "paragraphs": "blank lines part its documents",
}


def likely_cut(text: str) -> Cut:
    """One document, unless many lines follow each other with no blank one between."""
    lines = text.strip().split("\n")
    return "lines" if len(lines) >= FEW_LINES and all(map(str.strip, lines)) else "file"


def documents_in(text: str, way: Cut) -> list[tuple[int, str]]:
    """The documents, each with the line it begins on."""
    if way == "file":
        return [(1, text)]
    lines = list(enumerate(text.split("\n"), start=1))
    if way == "lines":
        return [(number, line.strip()) for number, line in lines if line.strip()]
    documents = []
    for filled, block in groupby(lines, key=lambda numbered: bool(numbered[1].strip())):
        paragraph = list(block)
        if filled:
            documents.append((paragraph[0][0], "\n".join(line for _, line in paragraph).rstrip()))
    return documents
