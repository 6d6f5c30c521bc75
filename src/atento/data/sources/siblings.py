"""Validation and test files beside a training file: found by name, taken where format and columns are the same."""

from pathlib import Path

from atento.data.files.archives import is_zip
from atento.data.files.opening import read_head
from atento.data.sources.splits import Split, siblings_of, splits_in
from atento.data.tables.parallel import read_parallel, split_paths
from atento.data.tables.sniffing import kind_by_name
from atento.data.tables.table import Table, table_from_text
from atento.errors import AtentoError
from atento.spec import DataRecipe


def find_splits(data: DataRecipe) -> tuple[dict[str, str], list[str]]:
    """Recipe keys for the splits of a folder or the siblings of a file that the user did not name, and notes."""
    found: dict[str, str] = {}
    notes: list[str] = []
    valid, test = "", ""
    if Path(data.train).is_dir():
        splits = splits_in(data.train)
        if splits is None:
            return {}, []
        found["data.train"], valid, test = splits.train, splits.valid, splits.test
        notes += splits.notes
    elif data.siblings == "auto":
        valid, test = siblings_of(data.train)
    if data.siblings == "no":
        return found, notes
    train = found.get("data.train", data.train)
    wanted: dict[Split, tuple[str, str]] = {"valid": (data.valid, valid), "test": (data.test, test)}
    for split, (given, sibling) in wanted.items():
        if given or not sibling:
            continue
        names = ",".join(Path(path).name for path in split_paths(sibling))
        reason = difference(train, sibling)
        if reason:
            notes.append(f"{names} beside it is not taken as data.{split}: {reason}")
        else:
            found[f"data.{split}"] = sibling
            notes.append(f"{names} beside it is data.{split}; --set data.siblings=no leaves it aside")
    return found, notes


def difference(train: str, other: str) -> str:
    """Why two files cannot be splits of one set: another format or other columns; empty where they can."""
    if any(is_zip(path) or Path(path).is_dir() or kind_by_name(path) in ("parquet", "npz") for path in (train, other)):
        return ""
    try:
        first, second = read_first_rows(train), read_first_rows(other)
    except AtentoError as error:
        return error.problem
    if first.kind != second.kind:
        return f"it is {second.kind}, not {first.kind}"
    named = first.header and second.header
    if len(first.columns) != len(second.columns) or (named and first.columns != second.columns):
        return f"its columns are {', '.join(second.columns)}, not {', '.join(first.columns)}"
    return ""


def read_first_rows(source: str) -> Table:
    """The table of the first rows of a file; of parallel files, all rows."""
    paths = split_paths(source)
    if len(paths) > 1:
        return read_parallel(paths, bad_rows="skip")
    return table_from_text(read_head(source), source, bad_rows="skip")
