"""One JSON document with many rows in it: a list of objects, or an object that holds such a list.

The rows are pieces of the text, so that numbers stay as they are written and every cell has its line and column.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeGuard

from atento.data.records import Place, in_words
from atento.errors import InputError

JsonObject = dict[str, Any]
SPACE = re.compile(r"[ \t\r\n]*")
MANY = 20  # items of a list in one line that is read as rows, not as one row


class Piece(NamedTuple):
    """A part of a text that is one row: its line and column, from 1; of rows that share a line or have none, their
    numbers in place of lines.
    """

    line: int
    column: int
    text: str
    numbered: bool = False

    def place(self, at: int, file: str) -> Place:
        """The place of the character at an index of the piece."""
        before = "" if self.numbered else self.text[:at]
        lines = before.count("\n")
        column = at - before.rfind("\n") if lines else self.column + at
        return Place(file, self.line + lines, column)


class Document(NamedTuple):
    """The rows of a document, and notes on where they were found."""

    pieces: list[Piece]
    notes: tuple[str, ...]


def pieces_of(text: str, file: str) -> Document | None:
    """The rows of a document; None where each line is a row of its own."""
    try:
        value = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError:
        return several_documents(text)
    except RecursionError:
        return None
    begin = skip_space(text, 0)
    one_line = "\n" not in text.strip()
    if isinstance(value, list):
        return rows_of_list(text, begin, value, one_line=one_line)
    return rows_of_object(text, begin, value, file, one_line=one_line) if isinstance(value, dict) else None


def rows_of_list(text: str, begin: int, value: list[Any], *, one_line: bool) -> Document | None:
    """A list of objects or of lists; of texts, where there are many."""
    if value and all(isinstance(row, dict) for row in value):
        return Document(slices(text, begin), ("the file is one JSON list: each object in it is a row",))
    if value and all(isinstance(row, list) for row in value) and (not one_line or len(value) > MANY):
        return Document(slices(text, begin), ("the file is one JSON list: each list in it is a row",))
    if value and all(isinstance(row, str) for row in value) and (not one_line or len(value) > MANY):
        pieces = [piece._replace(text=f'{{"text": {piece.text}}}') for piece in slices(text, begin)]
        return Document(pieces, ("the file is one JSON list: each text in it is a row",))
    return None


def rows_of_object(text: str, begin: int, value: JsonObject, file: str, *, one_line: bool) -> Document | None:
    """An object with one list of objects; or one of columns, as pandas writes frames."""
    refuse_known(value, file)
    if is_coco(value):
        return captions_of(value)
    if isinstance(value.get("columns"), list) and is_rows(value.get("data")):  # orient="split"
        return from_columns(value["columns"], zip(*value["data"], strict=True) if value["data"] else [], "data")
    lists = [key for key, inner in value.items() if is_objects(inner)]
    if len(lists) > 1:
        shown = in_words([f"{key} ({len(value[key]):,})" for key in lists])
        raise InputError(
            f"{file}:1:1: the JSON document holds several lists of objects.",
            found=shown,
            fix=f"write one of them to a file: jq '.{max(lists, key=lambda key: len(value[key]))}' FILE > rows.json",
        )
    if lists:
        start = next(start for name, start, _ in items_of(text, begin) if name == lists[0])
        return Document(slices(text, start), (f"the file is one JSON object: each object in {lists[0]!r} is a row",))
    columns = list(value.values())
    by_index = len(columns) > 1 and all(isinstance(one, dict) and one and not nested(one) for one in columns)
    if by_index and all(list(one) == list(columns[0]) for one in columns) and all(map(str.isdigit, columns[0])):
        return from_columns(list(value), (one.values() for one in columns), "the document")
    alike = all(isinstance(one, list) and not nested_list(one) for one in columns)
    if alike and columns and len({len(one) for one in columns}) == 1 and (not one_line or len(columns[0]) > MANY):
        return from_columns(list(value), columns, "the document")
    return None if one_line else Document([Piece(1, 1, text)], ())


def from_columns(names: list[Any], columns: Any, where: str) -> Document:
    """The rows of a table that is written column by column."""
    cells = [list(column) for column in columns]
    rows = (dict(zip(map(str, names), row, strict=True)) for row in zip(*cells, strict=True))
    return Document(
        numbered(rows), (f"{where} holds columns, as pandas writes frames: rows are counted in place of lines",)
    )


def numbered(rows: Iterable[JsonObject]) -> list[Piece]:
    """Rows that are no part of the text as they are."""
    written = (json.dumps(row, ensure_ascii=False) for row in rows)
    return [Piece(number, 1, text, numbered=True) for number, text in enumerate(written, start=1)]


def is_objects(value: Any) -> TypeGuard[list[JsonObject]]:
    """Whether a value is a list of objects."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def is_rows(value: Any) -> bool:
    """Whether a value is a list of lists of one length."""
    rows = isinstance(value, list) and all(isinstance(one, list) for one in value)
    return rows and len({len(one) for one in value}) == 1


def nested(value: JsonObject) -> bool:
    """Whether an object holds lists or objects."""
    return any(isinstance(inner, dict | list) for inner in value.values())


def nested_list(value: list[Any]) -> bool:
    """Whether a list holds lists or objects."""
    return any(isinstance(inner, dict | list) for inner in value)


def is_coco(value: JsonObject) -> bool:
    """Whether a document holds images and captions of them (COCO)."""
    annotations = value.get("annotations")
    captioned = is_objects(annotations) and "caption" in annotations[0] and "image_id" in annotations[0]
    return captioned and is_objects(value.get("images"))


def captions_of(value: JsonObject) -> Document:
    """A row for each caption, with the file name of its image."""
    names = {str(one.get("id")): one.get("file_name") for one in value["images"]}
    rows = [
        {"image": names.get(str(one.get("image_id"))), "caption": one.get("caption")} for one in value["annotations"]
    ]
    return Document(numbered(rows), ("images and captions as in COCO: annotations are counted in place of lines",))


def refuse_known(value: JsonObject, file: str) -> None:
    """Raise an error for a document of a known form that no task reads."""
    data = value.get("data")
    if is_objects(data) and "paragraphs" in data[0]:
        raise InputError(
            f"{file}:1:1: this is a set of questions whose answers are spans of a context (SQuAD); "
            "no task reads spans as answers.",
            found=f"{len(data):,} articles with paragraphs, questions and answers",
            fix="write question, context and answer as columns; --task match then reads whether a context answers",
        )


def several_documents(text: str) -> Document | None:
    """Objects that follow one another over several lines each; None where lines are objects, or nothing is."""
    if text.lstrip().split("\n", 1)[0].strip() != "{":
        return None
    decoder, at, pieces = json.JSONDecoder(), skip_space(text, 0), list[Piece]()
    try:
        while at < len(text):
            _, end = decoder.raw_decode(text, at)
            pieces.append(piece_at(text, at, end))
            at = skip_space(text, end)
            at = skip_space(text, at + 1) if text[at : at + 1] == "," else at
    except (ValueError, RecursionError):
        return None
    return Document(pieces, ("each JSON object of the file is a row, over several lines",))


def slices(text: str, begin: int) -> list[Piece]:
    """The items of the list that begins here, in the order of the text."""
    pieces, line, last = list[Piece](), 1 + text.count("\n", 0, begin), begin
    for _, start, end in items_of(text, begin):
        line, last = line + text.count("\n", last, start), start
        pieces.append(Piece(line, start - text.rfind("\n", 0, start), text[start:end]))
    if len({piece.line for piece in pieces}) < len(pieces):
        return [Piece(number, 1, piece.text, numbered=True) for number, piece in enumerate(pieces, start=1)]
    return pieces


def piece_at(text: str, start: int, end: int) -> Piece:
    """A part of a text with its place."""
    return Piece(1 + text.count("\n", 0, start), start - text.rfind("\n", 0, start), text[start:end])


def items_of(text: str, begin: int) -> Iterator[tuple[str | int, int, int]]:
    """The key or position, the beginning and the end of each value in the valid JSON object or list that begins here
    or after white space.
    """
    decoder = json.JSONDecoder(parse_int=str)
    at = skip_space(text, begin)
    keyed, number = text[at] == "{", 0
    while True:
        at = skip_space(text, at + 1)  # past the bracket or the comma
        if text[at] in "]}":
            return
        name: str | int = number
        if keyed:
            name, at = decoder.raw_decode(text, at)
            at = skip_space(text, skip_space(text, at) + 1)  # past the colon
        _, end = decoder.raw_decode(text, at)
        yield name, at, end
        at = skip_space(text, end)
        number += 1
        if text[at] != ",":
            return


def skip_space(text: str, at: int) -> int:
    """The next position that is not white space."""
    found = SPACE.match(text, at)
    return found.end() if found else at
