"""JSON Lines to rows: one object, or one list of texts, on each line."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence

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
from atento.errors import InputError

UNWRITABLE = re.compile(r"[\x00\ud800-\udfff]")  # NUL and lone surrogates, which only an escape can write
SPACE = re.compile(r"[ \t]*")
NUMBER = re.compile(r"[+-]?(?:\d|\.\d|NaN|Infinity)\S*")
MISSING = "nan"  # null in a list of lists of numbers


class BadRow(Exception):
    """A line that is not a row; caught in this file."""

    def __init__(self, column: int, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.column, self.fix = column, fix


def read_jsonl(text: str, file: str, *, wanted: Sequence[str] = ()) -> Records:
    """The rows by key when most lines are objects, else by position; `wanted` are keys that every row must have."""
    lines = without_blank_end(text.split("\n"))
    values: dict[int, dict[str, str] | tuple[str, ...]] = {}
    refused: list[Refusal] = []
    for at, line in enumerate(lines):
        if not line.strip():
            refused.append(blank(file, at + 1))
            continue
        try:
            values[at] = row_of(line)
        except BadRow as error:
            if at == 0:
                refuse_document(text, file)
            refused.append(refusal(file, at, line, error))

    def locate(line: int, number: int) -> Place:
        key = number if number >= len(columns) else columns[number]
        return Place(file, line, value_column(lines[line - 1], key))

    keyed = {at: value for at, value in values.items() if isinstance(value, dict)}
    listed = {at: value for at, value in values.items() if isinstance(value, tuple)}
    columns: tuple[str, ...] = ()
    if len(keyed) < len(listed):
        odd = BadRow(1, "the line is an object where the others are lists.", "write it as a list")
        refused += [refusal(file, at, lines[at], odd) for at in keyed]
        return Records((), list(listed.values()), [at + 1 for at in listed], refused, locate)
    odd = BadRow(1, "the line is a list where the others are objects.", "write it as an object")
    refused += [refusal(file, at, lines[at], odd) for at in listed]
    whole, lacking = complete_rows(keyed, wanted)
    refused += [refusal(file, at, lines[at], missing_keys(lines[at], keys)) for at, keys in lacking.items()]
    columns = tuple(dict.fromkeys(key for value in whole.values() for key in value))
    rows = [tuple(value.get(column, "") for column in columns) for value in whole.values()]
    return Records(columns, rows, [at + 1 for at in whole], refused, locate, missing_key_notes(whole, columns))


def row_of(line: str) -> dict[str, str] | tuple[str, ...]:
    """The texts on one line, by key or by position."""
    try:
        value = json.loads(line, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=with_unique_keys)
    except json.JSONDecodeError as error:
        raise BadRow(error.colno, f"this is not JSON: {error.msg}.", "write one JSON object on the line") from None
    except RecursionError:
        raise BadRow(1, "this JSON is nested too deep.", "write one object of texts on the line") from None
    if isinstance(value, dict) and value:
        return {key: cell_of(line, key, inner) for key, inner in value.items()}
    if isinstance(value, list) and value:
        return tuple(cell_of(line, at, inner) for at, inner in enumerate(value))
    raise BadRow(1, "the line is not a JSON object with keys.", 'write an object, e.g. {"source": "…", "target": "…"}')


def with_unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object from its pairs; a duplicate key, which would lose a value, is refused."""
    value = dict(pairs)
    if len(value) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise BadRow(1, f"the key {key!r} comes twice in one object.", "keep one of the two")
    return value


def cell_of(line: str, key: str | int, value: object) -> str:
    """A value as text: numbers as written, null as empty, lists with tabs between their items."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return join_items(cell_of(line, key, item) for item in value)
    if isinstance(value, list) and all(isinstance(item, list) and is_flat(item) for item in value):
        return join_items(" ".join(MISSING if number is None else str(number) for number in item) for item in value)
    if not isinstance(value, str):
        kind = "an object" if isinstance(value, dict) else "a list of lists or objects"
        fix = "write it as one text, or as a list of texts"
        raise BadRow(value_column(line, key), f"the value of {key!r} is {kind}, not text.", fix)
    if UNWRITABLE.search(value) or (isinstance(key, str) and UNWRITABLE.search(key)):
        raise BadRow(
            value_column(line, key), "the text holds a character that cannot be written.", "remove its \\u escape"
        )
    return str(value)


def is_flat(items: list[object]) -> bool:
    """Whether a list holds numbers or nulls only."""
    return bool(items) and all(item is None or (isinstance(item, str) and NUMBER.fullmatch(item)) for item in items)


def complete_rows(
    rows: dict[int, dict[str, str]], wanted: Sequence[str]
) -> tuple[dict[int, dict[str, str]], dict[int, list[str]]]:
    """The rows with every needed key, and the keys that others lack. Needed are the wanted keys, else usual ones."""
    count = Counter(key for row in rows.values() for key in row)
    needed = [key for key in wanted if key in count] or [key for key in count if 2 * count[key] >= len(rows)]
    lacking = {at: keys for at, row in rows.items() if (keys := [key for key in needed if key not in row])}
    return {at: row for at, row in rows.items() if at not in lacking}, lacking


def missing_keys(line: str, keys: list[str]) -> BadRow:
    """The problem of a row without some keys, at its closing bracket."""
    names = in_words([repr(key) for key in keys])
    noun = "key" if len(keys) == 1 else "keys"
    return BadRow(
        len(line.rstrip()), f"the {noun} {names} {'is' if len(keys) == 1 else 'are'} missing.", f"add {names}"
    )


def missing_key_notes(rows: dict[int, dict[str, str]], columns: tuple[str, ...]) -> tuple[str, ...]:
    """Notes on keys that some rows lack."""
    count = Counter(key for row in rows.values() for key in row)
    return tuple(
        f"{counted(len(rows) - count[column], 'row')} without the key {column!r}: read as empty"
        for column in columns
        if count[column] < len(rows)
    )


def value_column(line: str, key: str | int) -> int:
    """The column, from 1, of the value of a key or position."""
    return next((column for name, column in value_starts(line) if name == key), len(line.rstrip()))


def value_starts(line: str) -> Iterator[tuple[str | int, int]]:
    """Each key or position on a line of valid JSON, with the column of its value."""
    decoder = json.JSONDecoder(parse_int=str)
    at = skip_space(line, 0)
    keyed = line[at] == "{"
    number = 0
    while True:
        at = skip_space(line, at + 1)  # past the bracket or the comma
        if line[at] in "]}":
            return
        name: str | int = number
        if keyed:
            name, at = decoder.raw_decode(line, at)
            at = skip_space(line, skip_space(line, at) + 1)  # past the colon
        yield name, at + 1
        _, at = decoder.raw_decode(line, at)
        at = skip_space(line, at)
        number += 1
        if line[at] != ",":
            return


def skip_space(line: str, at: int) -> int:
    """The next position that is not white space."""
    found = SPACE.match(line, at)
    return found.end() if found else at


def refusal(file: str, at: int, line: str, error: BadRow) -> Refusal:
    """The refusal of one line; `at` counts from 0."""
    return Refusal(file, at + 1, error.column, str(error), found=excerpt(line), fix=error.fix)


def refuse_document(text: str, file: str) -> None:
    """Raise an error where the file is one JSON document rather than one row a line."""
    try:
        document = json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return
    rows = isinstance(document, list) and any(isinstance(row, dict) for row in document)
    if not rows and "\n" not in text.strip():
        return
    raise InputError(
        f"{file}:1:1: the file is one JSON document, not one JSON object a line.",
        found=excerpt(text),
        fix="write one object a line; jq -c '.[]' does that to a list",
    )
