"""What a file looks like, in facts: others decide what to make of it."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from atento.data.headers import Header
from atento.data.headings import is_number
from atento.data.pairs import guess_columns, read_source
from atento.data.records import Refusal
from atento.data.tables import Table

EXAMPLES = 3


@dataclass(frozen=True)
class Column:
    """One column in numbers; shares are between 0 and 1, means are over cells that are not empty."""

    name: str
    distinct: int
    share_distinct: float
    mean_characters: float
    max_characters: int
    mean_words: float
    share_numeric: float
    share_empty: float
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """A file in numbers."""

    file: str
    kind: str
    encoding: str
    header: bool
    columns: tuple[Column, ...]
    rows: int
    refused: tuple[Refusal, ...]
    duplicates: int  # rows that say what an earlier row said
    sources_with_several_targets: int  # in the two columns that would be source and target of a pair
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The same in lists, dicts, texts and numbers."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


def gather(source: str, *, header: Header = "auto", names: Sequence[str] = ()) -> Evidence:
    """The facts about a file, or about parallel files; bad rows are listed, not fatal."""
    table = read_source(source, header=header, names=names)
    return Evidence(
        file=table.file,
        kind=table.kind,
        encoding=table.encoding,
        header=table.header,
        columns=tuple(describe(name, [row[at] for row in table.rows]) for at, name in enumerate(table.columns)),
        rows=len(table.rows),
        refused=table.refused,
        duplicates=len(table.rows) - len(set(table.rows)),
        sources_with_several_targets=count_several(table),
        notes=table.notes,
    )


def describe(name: str, cells: Sequence[str]) -> Column:
    """The facts about one column."""
    counts = Counter(cells)
    filled = [cell for cell in cells if cell.strip()]
    return Column(
        name=name,
        distinct=len(counts),
        share_distinct=share(len(counts), len(cells)),
        mean_characters=share(sum(map(len, filled)), len(filled)),
        max_characters=max(map(len, filled), default=0),
        mean_words=share(sum(len(cell.split()) for cell in filled), len(filled)),
        share_numeric=share(sum(map(is_number, filled)), len(filled)),
        share_empty=share(len(cells) - len(filled), len(cells)),
        examples=tuple(dict.fromkeys(filled[: 20 * EXAMPLES]))[:EXAMPLES],
    )


def share(part: int, whole: int) -> float:
    """One number by another, nothing by nothing being nothing."""
    return part / whole if whole else 0.0


def count_several(table: Table) -> int:
    """How many source texts stand beside different target texts."""
    if len(table.columns) < 2:
        return 0
    source, target = guess_columns(table, -1, -1)
    beside: dict[str, set[str]] = defaultdict(set)
    for row in table.rows:
        beside[row[source]].add(row[target])
    return sum(len(texts) > 1 for texts in beside.values())
