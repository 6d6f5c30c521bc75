"""Validation and test files that stand beside a training file, taken as its parts where they are of its kind."""

from pathlib import Path

from atento.data.builtin.catalogue import is_builtin
from atento.data.files.opening import read_head
from atento.data.parts import Part, parts_beside, parts_in
from atento.data.sources import is_archive
from atento.data.tables.parallel import read_parallel, split_paths
from atento.data.tables.sniffing import kind_by_name
from atento.data.tables.table import Table, table_from_text
from atento.errors import AtentoError
from atento.spec import DataRecipe


def find_parts(data: DataRecipe) -> tuple[dict[str, str], list[str]]:
    """Recipe keys for a folder's or a file's parts that nobody named, and what to say of them."""
    if is_builtin(data.train):
        return {}, []
    found: dict[str, str] = {}
    notes: list[str] = []
    valid, test = "", ""
    if Path(data.train).is_dir():
        parts = parts_in(data.train)
        if parts is None:
            return {}, []
        found["data.train"], valid, test = parts.train, parts.valid, parts.test
        notes += parts.notes
    elif data.beside == "auto":
        valid, test = parts_beside(data.train)
    if data.beside == "no":
        return found, notes
    train = found.get("data.train", data.train)
    wanted: dict[Part, tuple[str, str]] = {"valid": (data.valid, valid), "test": (data.test, test)}
    for part, (asked, beside) in wanted.items():
        if asked or not beside:
            continue
        names = ",".join(Path(path).name for path in split_paths(beside))
        why = differs(train, beside)
        if why:
            notes.append(f"{names} beside it is not taken as data.{part}: {why}")
        else:
            found[f"data.{part}"] = beside
            notes.append(f"{names} beside it is data.{part}; --set data.beside=no leaves it aside")
    return found, notes


def differs(train: str, other: str) -> str:
    """Why a file cannot be a part of the set another begins; nothing where it can."""
    if any(
        is_archive(path) or Path(path).is_dir() or kind_by_name(path) in ("parquet", "npz") for path in (train, other)
    ):
        return ""
    try:
        first, second = head_of(train), head_of(other)
    except AtentoError as error:
        return error.problem
    if first.kind != second.kind:
        return f"it is {second.kind}, not {first.kind}"
    named = first.header and second.header
    if len(first.columns) != len(second.columns) or (named and first.columns != second.columns):
        return f"its columns are {', '.join(second.columns)}, not {', '.join(first.columns)}"
    return ""


def head_of(source: str) -> Table:
    """The first rows of a file, or the columns of parallel ones."""
    paths = split_paths(source)
    if len(paths) > 1:
        return read_parallel(paths, bad_rows="skip")
    return table_from_text(read_head(source), source, bad_rows="skip")
