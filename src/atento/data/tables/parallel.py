"""Parallel files: line n of each file is row n, as in `a.de,a.en`."""

from collections.abc import Sequence
from pathlib import Path

from atento.data.files.opening import inner_name, read_exact
from atento.data.records import Place, Records, blank, counted, in_words, without_blank_end
from atento.data.tables.table import Table, table_of
from atento.errors import InputError


def read_parallel(paths: Sequence[str]) -> Table:
    """The table of parallel files, a column for each; a line that is blank in every file is refused."""
    texts = [read_exact(path) for path in paths]
    files = [Path(path).name for path in paths]
    sides = equal_lengths([text.text.removesuffix("\n").split("\n") for text in texts], files)
    rows = list(zip(*sides, strict=True))
    empty = {at for at, row in enumerate(rows) if not any(cell.strip() for cell in row)}
    columns = column_names(paths)
    note = f"{counted(len(paths), 'parallel file')}: columns are named {in_words(columns)}"
    records = Records(
        columns=columns,
        rows=[row for at, row in enumerate(rows) if at not in empty],
        lines=[at + 1 for at in range(len(rows)) if at not in empty],
        refused=[blank(files[0], at + 1, fix="delete the line in every file") for at in empty],
        locate=lambda line, number: Place(files[min(number, len(files) - 1)], line, 1),  # also of where a cell ends
        notes=(*(note for text in texts for note in text.notes), note),
    )
    encodings = in_words(list(dict.fromkeys(text.encoding for text in texts)))
    return table_of(records, ",".join(files), "parallel", encoding=encodings)


def equal_lengths(sides: list[list[str]], files: Sequence[str]) -> list[list[str]]:
    """The lines of each file up to the last filled one; an error where a file has fewer."""
    filled = max(len(without_blank_end(side)) for side in sides)
    shortest = min(len(side) for side in sides)
    if shortest < filled:
        short = files[min(range(len(sides)), key=lambda at: len(sides[at]))]
        raise InputError(
            f"{short}:{shortest + 1}:1: the files do not have the same number of lines.",
            found=in_words([f"{file} has {counted(len(s), 'line')}" for file, s in zip(files, sides, strict=True)])
            + f"; from line {shortest + 1} on {short} has none",
            fix=f"line n of each file must say the same: add what {short} lacks, or find where a line was lost before",
        )
    return [side[:filled] for side in sides]


def column_names(paths: Sequence[str]) -> tuple[str, ...]:
    """The suffixes of the files where they differ, else numbers."""
    endings = tuple(Path(inner_name(path)).suffix.removeprefix(".") for path in paths)
    if all(endings) and len(set(endings)) == len(endings):
        return endings
    return tuple(str(number + 1) for number in range(len(paths)))
