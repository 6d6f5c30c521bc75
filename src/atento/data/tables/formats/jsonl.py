"""JSON to rows: one object, or one list of texts, on each line; or one document with many objects in it.

A value inside a value is named by both keys: `{"ticket": {"body": "…"}}` has the column `ticket.body`. Lists of
objects are left out, with a note, but for spans of a text with labels, which become words and tags, and for the
messages of a conversation, which become a prompt and a response.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from atento.data.records import (
    Place,
    Records,
    Refusal,
    blank,
    counted,
    excerpt,
    in_words,
    join_items,
    without_blank_end,
)
from atento.data.tables.formats.chats import flat_chat
from atento.data.tables.formats.json_documents import Piece, items_of, pieces_of
from atento.data.tables.formats.spans import SpanColumn, WrongSpan, find_spans, flat_task

UNWRITABLE = re.compile(r"[\x00\ud800-\udfff]")  # NUL and lone surrogates, which only an escape can write
NUMBER = re.compile(r"[+-]?(?:\d|\.\d|NaN|Infinity)\S*")
MISSING = "nan"  # null in a list of lists of numbers
DOT = "."  # between the names of a value and of a value inside it

Row = dict[str, str] | tuple[str, ...]


class BadRow(Exception):
    """A line that is not a row; caught in this file. `key` is the value that is wrong, `column` the place of another
    fault.
    """

    def __init__(self, problem: str, fix: str, *, key: str | int | None = None, column: int = 1) -> None:
        super().__init__(problem)
        self.fix, self.key, self.column = fix, key, column


class LeftOut(Exception):
    """A value that is no cell: a list of objects or of lists; caught in this file."""


class Parsed(NamedTuple):
    """Pieces of a text that are valid JSON, with their values."""

    pieces: list[Piece]
    values: list[Any]


def read_jsonl(text: str, file: str, *, wanted: Sequence[str] = ()) -> Records:
    """The rows by key when most lines are objects, else by position; `wanted` are keys that every row must have."""
    document = pieces_of(text, file)
    pieces = document.pieces if document else lines_as_pieces(text)
    refused: list[Refusal] = []
    parsed = Parsed([], [])
    for piece in pieces:
        if not piece.text.strip():
            refused.append(blank(file, piece.line))
            continue
        try:
            value = value_of(piece.text)
        except BadRow as error:
            refused.append(refusal(file, piece, error))
        else:
            parsed.pieces.append(piece)
            parsed.values.append(flat_chat(flat_task(value), wanted))
    lists = sum(isinstance(value, list) for value in parsed.values)
    notes = document.notes if document else ()
    if 2 * lists > len(parsed.values):
        return rows_by_position(parsed, file, refused, notes)
    return rows_by_key(parsed, file, refused, notes, wanted)


def lines_as_pieces(text: str) -> list[Piece]:
    """Each line of a text."""
    return [Piece(number, 1, line) for number, line in enumerate(without_blank_end(text.split("\n")), start=1)]


def value_of(text: str) -> Any:
    """The value of a piece of JSON, with numbers as they are written."""
    try:
        value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        problem = f"this is not JSON: {error.msg}."
        raise BadRow(problem, "write one JSON object on the line", column=error.pos + 1) from None
    except RecursionError:
        raise BadRow("this JSON is nested too deep.", "write one object of texts on the line") from None
    if isinstance(value, dict | list) and value:
        return value
    raise BadRow("the line is not a JSON object with keys.", 'write an object, e.g. {"source": "…", "target": "…"}')


def with_unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object from its pairs; a duplicate key, which would lose a value, is refused."""
    value = dict(pairs)
    if len(value) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise BadRow(f"the key {key!r} comes twice in one object.", "keep one of the two")
    return value


DECODER = json.JSONDecoder(  # made once: `json.loads` would make one for each line
    parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=with_unique_keys
)


def rows_by_position(parsed: Parsed, file: str, refused: list[Refusal], notes: tuple[str, ...]) -> Records:
    """The rows of lists."""
    rows: list[tuple[str, ...]] = []
    kept: dict[int, Piece] = {}
    odd = BadRow("the line is an object where the others are lists.", "write it as a list")
    for piece, value in zip(*parsed, strict=True):
        try:
            if not isinstance(value, list):
                raise odd
            cells = tuple(cell_or_refusal(at, inner) for at, inner in enumerate(value))
        except BadRow as error:
            refused.append(refusal(file, piece, error))
        else:
            rows.append(cells)
            kept[piece.line] = piece

    def locate(line: int, number: int) -> Place:
        return place_of(kept[line], number, file)

    return Records((), rows, list(kept), refused, locate, notes)


def cell_or_refusal(key: str | int, value: object) -> str:
    """A value as text; one that cannot be a cell is refused."""
    try:
        return cell_of(key, value)
    except LeftOut:
        raise no_text(key) from None


def no_text(key: str | int) -> BadRow:
    """The problem of a value that is no cell."""
    problem = f"the value of {key!r} is a list of lists or objects, not text."
    return BadRow(problem, "write it as one text, or as a list of texts", key=key)


def rows_by_key(
    parsed: Parsed, file: str, refused: list[Refusal], notes: tuple[str, ...], wanted: Sequence[str]
) -> Records:
    """The rows of objects; a column for each key."""
    spans = find_spans([value for value in parsed.values if isinstance(value, dict)])
    left_out: dict[int, list[str]] = {}
    found: dict[int, dict[str, str]] = {}
    pieces = {piece.line: piece for piece in parsed.pieces}
    for piece, value in zip(*parsed, strict=True):
        try:
            found[piece.line], left_out[piece.line] = row_of(value, spans)
        except BadRow as error:
            refused.append(refusal(file, piece, error))
    texts = {key for row in found.values() for key, cell in row.items() if cell}
    unread = {key for keys in left_out.values() for key in keys} - texts  # in other rows such a list may be empty
    for line, keys in left_out.items():
        odd = next((key for key in keys if key in texts), None)
        if odd is not None:
            refused.append(refusal(file, pieces[line], no_text(odd)))
            del found[line]
    whole, lacking = complete_rows(found, wanted)
    refused += [refusal(file, pieces[line], missing_keys(pieces[line].text, keys)) for line, keys in lacking.items()]
    columns = tuple(dict.fromkeys(key for row in whole.values() for key in row if key not in unread))
    rows = [tuple(row.get(column, "") for column in columns) for row in whole.values()]

    def locate(line: int, number: int) -> Place:
        key = columns[number] if number < len(columns) else number
        return place_of(pieces[line], spans.key_of(key) if spans and isinstance(key, str) else key, file)

    more = [f"{key!r} holds lists of objects or of lists and is not read" for key in sorted(unread)]
    all_notes = (*notes, *(spans.notes() if spans else ()), *more, *missing_key_notes(whole, columns))
    return Records(columns, rows, list(whole), refused, locate, all_notes)


def row_of(value: object, spans: SpanColumn | None) -> tuple[dict[str, str], list[str]]:
    """The cells of an object by their names, and the names of values that are no cells."""
    if not isinstance(value, dict):
        raise BadRow("the line is a list where the others are objects.", "write it as an object")
    cells, left_out = dict[str, str](), list[str]()
    if spans is not None:
        try:
            cells = spans.cells(value)
        except WrongSpan as error:
            raise BadRow(str(error), "correct its first and last character", key=error.key) from None
        value = {key: inner for key, inner in value.items() if key not in (spans.text, spans.spans)}
    for key, inner in flat(value):
        if key in cells:
            raise BadRow(f"the key {key!r} comes twice in one object.", "keep one of the two")
        try:
            cells[key] = cell_of(key, inner)
        except LeftOut:
            left_out.append(key)
    if not cells and len(left_out) == 1:
        raise no_text(left_out[0])
    if not cells:
        raise BadRow("no value of the object is a text, a number or a list of them.", "write a text behind a key")
    return cells, left_out


def flat(value: dict[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    """The values of an object and of the objects inside it, by dotted names."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from flat(inner, f"{before}{key}{DOT}")
        else:
            yield f"{before}{key}", inner


def cell_of(key: str | int, value: object) -> str:
    """A value as text: numbers as written, null as empty, lists with tabs between their items."""
    if isinstance(value, str):
        if not is_writable(value) or (isinstance(key, str) and not is_writable(key)):
            raise BadRow("the text holds a character that cannot be written.", "remove its \\u escape", key=key)
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return join_items(cell_of(key, item) for item in value)
    if isinstance(value, list) and all(isinstance(item, list) and is_flat(item) for item in value):
        return join_items(" ".join(MISSING if number is None else str(number) for number in item) for item in value)
    raise LeftOut


def is_writable(text: str) -> bool:
    """Whether a file can hold a text. Of an ASCII text, which most are, a search for one character tells that."""
    return "\0" not in text if text.isascii() else not UNWRITABLE.search(text)


def is_flat(items: list[object]) -> bool:
    """Whether a list holds numbers or nulls only."""
    return bool(items) and all(item is None or (isinstance(item, str) and NUMBER.fullmatch(item)) for item in items)


def complete_rows(
    rows: dict[int, dict[str, str]], wanted: Sequence[str]
) -> tuple[dict[int, dict[str, str]], dict[int, list[str]]]:
    """The rows with every wanted key that any row has, and the keys that others lack."""
    there = {key for row in rows.values() for key in row}
    needed = [key for key in wanted if key in there]
    lacking = {line: keys for line, row in rows.items() if (keys := [key for key in needed if key not in row])}
    return {line: row for line, row in rows.items() if line not in lacking}, lacking


def missing_keys(text: str, keys: list[str]) -> BadRow:
    """The problem of a row without some keys, at its closing bracket."""
    names = in_words([repr(key) for key in keys])
    problem = f"the {'key' if len(keys) == 1 else 'keys'} {names} {'is' if len(keys) == 1 else 'are'} missing."
    return BadRow(problem, f"add {names}", column=len(text.rstrip()))


def missing_key_notes(rows: dict[int, dict[str, str]], columns: tuple[str, ...]) -> tuple[str, ...]:
    """Notes on keys that some rows lack."""
    count = Counter(key for row in rows.values() for key in row)
    return tuple(
        f"{counted(len(rows) - count[column], 'row')} without the key {column!r}: read as empty"
        for column in columns
        if count[column] < len(rows)
    )


def place_of(piece: Piece, key: str | int, file: str) -> Place:
    """The place of the value of a key or position; the end of the piece where it has none."""
    return piece.place(value_start(piece.text, key, 0), file)


def value_start(text: str, key: str | int, begin: int) -> int:
    """Where the value of a key, dotted for one inside another, or of a position begins; else the end of the text."""
    for name, start, _ in items_of(text, begin):
        if name == key:
            return start
        if isinstance(key, str) and text[start] == "{" and key.startswith(f"{name}{DOT}"):
            return value_start(text, key.removeprefix(f"{name}{DOT}"), start)
    return len(text.rstrip()) - 1


def refusal(file: str, piece: Piece, error: BadRow) -> Refusal:
    """The refusal of one piece."""
    at = error.column - 1 if error.key is None else value_start(piece.text, error.key, 0)
    return Refusal(*piece.place(at, file), str(error), found=excerpt(piece.text), fix=error.fix)
