"""Facts about a table from which tasks are recognised: its columns, their roles, duplicates, sequences and time."""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from atento.data.columns.column import Column, describe_column
from atento.data.columns.roles import Roles, aligned_columns, find_roles, sample_columns, text_column, two_texts
from atento.data.evidence.series import SeriesEvidence, evidence_in_rows, series_evidence
from atento.data.examples.pairs import find_column
from atento.data.examples.translations import Inflection, find_inflection, guess_columns
from atento.data.records import Refusal
from atento.data.sequences.long import CASES, LongColumns, find_cases
from atento.data.sources.reading import is_large, read_source
from atento.data.tables.cells import label_format
from atento.data.tables.chunks import first_chunk
from atento.data.tables.column_names import is_named
from atento.data.tables.headers import Header
from atento.data.tables.table import Table

MOST_COLUMNS = 1000  # that are described
SAMPLE_ROWS = 500  # whose two texts are compared
NUMBER_START = re.compile(r"\s*[\d+\-.$€£¥₹iI]")  # a first look, which most tables of texts do not pass


@dataclass(frozen=True)
class Evidence:
    """The facts about a file."""

    file: str
    kind: str
    encoding: str
    header: bool
    columns: tuple[Column, ...]
    roles: Roles
    inflection: Inflection | None
    text_similarity: float  # word overlap of the two texts of a row, above that of two rows; from 0 to 1
    rows: int
    refused: tuple[Refusal, ...]
    duplicates: int  # rows that are equal to an earlier row
    sources_with_several_targets: int  # in the likely source and target columns
    notes: tuple[str, ...]
    long: LongColumns | None = None  # the columns of a table in long format, where several rows are one sequence
    series: SeriesEvidence | None = None  # what the table holds as time series

    def column(self, at: int) -> Column | None:
        """The column at an index; None where it is -1."""
        return self.columns[at] if at >= 0 else None

    def to_json(self) -> dict[str, Any]:
        """The facts as JSON."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        plain["roles"] = {role: names_of(self.columns, at) for role, at in self.roles._asdict().items()}
        return plain


def gather(
    source_file: str,
    *,
    header: Header = "auto",
    source: str = "",
    label: str = "",
    others: Sequence[str] = (),
    sheet: str = "",
) -> Evidence:
    """The facts about a source; `source`, `label` and `others` are columns that the user named, with which the file
    is parsed as it will be read.
    """
    names = [name for name in (source, label, *others) if name]
    return evidence_of(read_rows(source_file, header=header, names=names, sheet=sheet), source=source, label=label)


def read_rows(source: str, *, header: Header = "auto", names: Sequence[str] = (), sheet: str = "") -> Table:
    """The table of a source; of a file too large for memory, that of its first rows."""
    if not is_large(source):
        return read_source(source, header=header, names=names, sheet=sheet)
    with first_chunk(source) as chunk:
        table = read_source(chunk, header=header, names=names)
    note = f"{table.file} is large: judged by its first {len(table.rows):,} rows"
    return replace(table, notes=(*table.notes, note))


def evidence_of(table: Table, *, source: str = "", label: str = "") -> Evidence:
    """The facts about a table, with its bad rows listed; of a very wide one, those of some columns."""
    in_rows = evidence_in_rows(table)
    table = with_some_columns(table, (*source.split(","), *label.split(",")))
    roles = find_roles(table)
    if source or label:
        roles = with_named_columns(
            table, roles, named_columns(table, source, "source"), named_columns(table, label, "label")
        )
    return Evidence(
        file=table.file,
        kind=table.kind,
        encoding=table.encoding,
        header=table.header,
        columns=tuple(describe_column(name, [row[at] for row in table.rows]) for at, name in enumerate(table.columns)),
        roles=roles,
        inflection=find_inflection(table),
        text_similarity=text_similarity(table, roles.first, roles.second),
        rows=len(table.rows),
        refused=table.refused,
        duplicates=len(table.rows) - len(set(table.rows)),
        sources_with_several_targets=count_ambiguous_sources(table),
        notes=table.notes,
        long=find_cases(table) if table.header and any(is_named(name, CASES) for name in table.columns) else None,
        series=in_rows or (series_evidence(table) if may_hold_numbers(table) else None),
    )


def with_some_columns(table: Table, named: Sequence[str]) -> Table:
    """A table with its first and last columns and those that the user named, where it has very many."""
    width = len(table.columns)
    if width <= MOST_COLUMNS:
        return table
    half = MOST_COLUMNS // 2
    kept = [at for at, name in enumerate(table.columns) if at < half or at >= width - half or name in named]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    note = f"{width:,} columns: judged by the first {half} and the last {half}"
    columns = tuple(table.columns[at] for at in kept)
    return replace(table, columns=columns, rows=rows, notes=(*table.notes, note))


def may_hold_numbers(table: Table) -> bool:
    """Whether any cell begins as a number may, also one with a unit or an infinite one."""
    return any(NUMBER_START.match(cell) for row in table.rows for cell in row)


def named_columns(table: Table, names: str, key: str) -> tuple[int, ...]:
    """The indices of the columns that a recipe key names, several with commas between."""
    several = [names] if names in table.columns else [name.strip() for name in names.split(",")]
    return tuple(find_column(table, name, f"data.{key}") for name in several if name)


def with_named_columns(table: Table, roles: Roles, source: tuple[int, ...], label: tuple[int, ...]) -> Roles:
    """The roles with the columns that the user named; several named labels are indicator columns."""
    samples = sample_columns(table)
    one = label[0] if len(label) == 1 else -1
    first, second = two_texts(samples, taken=label)
    words, tags = aligned_columns(samples, source[0] if source else -1, one) or (-1, -1)
    several = one >= 0 and label_format(samples[one].cells) is not None
    return Roles(
        text=source[0] if source else text_column(samples, taken=label),
        label=one if label else roles.label,
        labels=(one if several else -1) if label else roles.labels,
        indicators=(label if len(label) > 1 else ()) if label else roles.indicators,
        first=first,
        second=second,
        words=words,
        tags=tags,
    )


def names_of(columns: Sequence[Column], at: int | Sequence[int]) -> str | list[str] | None:
    """The name of the column, or of the columns, in a role."""
    if isinstance(at, int):
        return columns[at].name if at >= 0 else None
    return [columns[each].name for each in at]


def count_ambiguous_sources(table: Table) -> int:
    """How many source texts have different target texts."""
    if len(table.columns) < 2:
        return 0
    source, target = guess_columns(table, -1, -1)
    targets: dict[str, set[str]] = defaultdict(set)
    for row in table.rows:
        targets[row[source]].add(row[target])
    return sum(len(texts) > 1 for texts in targets.values())


def text_similarity(table: Table, first: int, second: int) -> float:
    """The mean word overlap of the two texts of a row, less that of texts of neighbouring rows."""
    if min(first, second) < 0:
        return 0.0
    rows = table.rows[:: 1 + len(table.rows) // SAMPLE_ROWS]
    ones, others = ([set(row[at].lower().split()) for row in rows] for at in (first, second))
    return max(0.0, mean_overlap(ones, others) - mean_overlap(ones, others[1:] + others[:1]))


def mean_overlap(ones: Sequence[set[str]], others: Sequence[set[str]]) -> float:
    """The mean overlap coefficient of pairs of sets: the share of the smaller set that is in the larger."""
    pairs = [(one, other) for one, other in zip(ones, others, strict=True) if one and other]
    return sum(len(one & other) / min(len(one), len(other)) for one, other in pairs) / len(pairs) if pairs else 0.0
