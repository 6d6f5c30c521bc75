"""Texts by themselves: a whole file, its lines, its paragraphs, or a column of a table."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from atento.data.files import read_exact
from atento.data.labelled import open_table, said, text_at
from atento.data.pairs import Pair, Pairs, collect, empty_cell
from atento.data.records import Place, Records, Refusal, counted
from atento.data.sniffing import kind_by_content, kind_by_name
from atento.data.sources import is_archive
from atento.data.tables import Table, table_of
from atento.spec import DataRecipe

Cut = Literal["file", "lines", "paragraphs"]
FEW_LINES = 20  # with fewer, lines are one text


def read_documents(recipe: DataRecipe, file: str) -> Pairs:
    """Every document, with nothing to say about it."""
    table, column, notes = document_table(recipe, file)

    def pair_of(at: int) -> Pair | Refusal:
        text = table.rows[at][column]
        return (text, "") if text.strip() else empty_cell(table, at, column)

    return collect(table, pair_of, recipe.bad_rows, columns=(column, -1), notes=notes)


def document_table(recipe: DataRecipe, file: str) -> tuple[Table, int, tuple[str, ...]]:
    """A table of documents, the column they stand in, and what was guessed."""
    if may_be_plain(file):
        text, encoding, notes = read_exact(file)
        if recipe.documents != "auto" or kind_by_content(text) == "text":
            return cut_text(text, recipe, file, encoding, notes), 0, ()
    table = open_table(recipe, file, (recipe.source,))
    at = text_at(table, recipe)
    return table, at, said(table, (at, "the text", recipe.source))


def may_be_plain(file: str) -> bool:
    """Whether the name of a file does not say what is in it."""
    return Path(file).is_file() and kind_by_name(file) is None and not is_archive(file)


def is_plain(file: str) -> bool:
    """Whether a file is plain text."""
    return may_be_plain(file) and kind_by_content(read_exact(file).text) == "text"


def cut_text(text: str, recipe: DataRecipe, path: str, encoding: str, notes: Iterable[str]) -> Table:
    """A plain text as one document, or as one a line or a paragraph; what is blank between them is no document."""
    file = Path(path).name
    way: Cut = likely_cut(text) if recipe.documents == "auto" else recipe.documents
    pieces = PIECES[way].finditer(text)
    found = [(text.count("\n", 0, piece.start()) + 1, piece.group()) for piece in pieces] if way == "file" else []
    if way != "file":
        line, at = 1, 0
        for piece in pieces:
            line += text.count("\n", at, piece.start())
            at = piece.start()
            found.append((line, piece.group().rstrip() if way == "paragraphs" else piece.group().strip()))
    note = {"file": f"{file} is one document", "lines": f"{file}: each line is a document"}.get(
        way, f"{file}: blank lines part its documents"
    )
    if recipe.documents == "auto":
        others = " or ".join(other for other in PIECES if other != way)
        note += f"; --set data.documents={others.split(' ')[0]} or {others.split(' ')[-1]} cuts it otherwise"
    records = Records(
        columns=("text",),
        rows=[(document,) for _, document in found],
        lines=[line for line, _ in found],
        refused=[],
        locate=lambda line, _: Place(file, line, 1),
        notes=(*notes, f"{note} ({counted(len(found), 'document')})"),
    )
    return table_of(records, file, "text", encoding, False, "stop")


def likely_cut(text: str) -> Cut:
    """One document, unless many lines follow each other with no blank one between."""
    lines = text.strip().split("\n")
    blank = sum(not line.strip() for line in lines)
    return "lines" if not blank and len(lines) >= FEW_LINES else "file"


PIECES: dict[Cut, re.Pattern[str]] = {
    "file": re.compile(r"\A.*\Z", re.DOTALL),
    "lines": re.compile(r"[^\n]*\S[^\n]*"),
    "paragraphs": re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+"),
}
