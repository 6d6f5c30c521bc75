"""What a file looks like, in facts: others decide what to make of it."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from atento.data.columns.column import Column, describe
from atento.data.columns.roles import Roles, find_roles, look_at, text_column, two_texts, words_and_tags
from atento.data.examples.pairs import Inflection, find_column, find_inflection, guess_columns
from atento.data.records import Refusal
from atento.data.sequences.long import Long, find_cases
from atento.data.series.survey import Survey, survey
from atento.data.sources import read_source
from atento.data.tables.cells import cells_of_labels
from atento.data.tables.chunks import head_of, is_large
from atento.data.tables.headers import Header
from atento.data.tables.table import Table

SAMPLE = 500  # rows whose two texts are held beside each other


@dataclass(frozen=True)
class Evidence:
    """A file in numbers."""

    file: str
    kind: str
    encoding: str
    header: bool
    columns: tuple[Column, ...]
    roles: Roles
    inflection: Inflection | None
    kinship: float  # how much more two texts of a row have in common than texts of two rows, from 0 to 1
    rows: int
    refused: tuple[Refusal, ...]
    duplicates: int  # rows that say what an earlier row said
    sources_with_several_targets: int  # in the two columns that would be source and target of a pair
    notes: tuple[str, ...]
    long: Long | None = None  # the columns of a table with a row a step, where several rows are one case
    series: Survey | None = None  # what the table says as numbers in the course of time

    def column(self, at: int) -> Column | None:
        """The column in a role, where there is one."""
        return self.columns[at] if at >= 0 else None

    def to_json(self) -> dict[str, Any]:
        """The same in lists, dicts, texts and numbers."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        plain["roles"] = {role: named(self.columns, at) for role, at in self.roles._asdict().items()}
        return plain


def gather(
    source_file: str, *, header: Header = "auto", source: str = "", label: str = "", others: Sequence[str] = ()
) -> Evidence:
    """The facts about a file, or about parallel files; `source`, `label` and `others` are columns that the user named:
    the file is parsed with the names it will be read with.
    """
    names = [name for name in (source, label, *others) if name]
    return evidence_of(read_rows(source_file, header=header, names=names), source=source, label=label)


def read_rows(source: str, *, header: Header = "auto", names: Sequence[str] = ()) -> Table:
    """The rows that are looked at: all of them, but of a file too large for memory the first."""
    if not is_large(source):
        return read_source(source, header=header, names=names)
    with head_of(source) as head:
        table = read_source(head, header=header, names=names)
    note = f"{table.file} is large: judged by its first {len(table.rows):,} rows"
    return replace(table, notes=(*table.notes, note))


def evidence_of(table: Table, *, source: str = "", label: str = "") -> Evidence:
    """The facts about a table; bad rows are listed, not fatal."""
    roles = find_roles(table)
    if source or label:
        roles = cast(table, roles, named_columns(table, source, "source"), named_columns(table, label, "label"))
    return Evidence(
        file=table.file,
        kind=table.kind,
        encoding=table.encoding,
        header=table.header,
        columns=tuple(describe(name, [row[at] for row in table.rows]) for at, name in enumerate(table.columns)),
        roles=roles,
        inflection=find_inflection(table),
        kinship=kinship(table, roles.first, roles.second),
        rows=len(table.rows),
        refused=table.refused,
        duplicates=len(table.rows) - len(set(table.rows)),
        sources_with_several_targets=count_several(table),
        notes=table.notes,
        long=find_cases(table) if table.header else None,
        series=survey(table),
    )


def named_columns(table: Table, names: str, key: str) -> tuple[int, ...]:
    """The columns that a key of the recipe names, several with commas between."""
    several = [names] if names in table.columns else [name.strip() for name in names.split(",")]
    return tuple(find_column(table, name, f"data.{key}") for name in several if name)


def cast(table: Table, roles: Roles, source: tuple[int, ...], label: tuple[int, ...]) -> Roles:
    """The roles with columns that the user named; several named labels are columns of yes and no."""
    looks = look_at(table)
    one = label[0] if len(label) == 1 else -1
    first, second = two_texts(looks, taken=label)
    words, tags = words_and_tags(looks, source[0] if source else -1, one)
    several = one >= 0 and cells_of_labels(looks[one].cells) is not None
    return Roles(
        text=source[0] if source else text_column(looks, taken=label),
        label=one if label else roles.label,
        labels=(one if several else -1) if label else roles.labels,
        switches=(label if len(label) > 1 else ()) if label else roles.switches,
        first=first,
        second=second,
        words=words,
        tags=tags,
    )


def named(columns: Sequence[Column], at: int | Sequence[int]) -> str | list[str] | None:
    """The names of the columns in a role."""
    if isinstance(at, int):
        return columns[at].name if at >= 0 else None
    return [columns[each].name for each in at]


def count_several(table: Table) -> int:
    """How many source texts stand beside different target texts."""
    if len(table.columns) < 2:
        return 0
    source, target = guess_columns(table, -1, -1)
    beside: dict[str, set[str]] = defaultdict(set)
    for row in table.rows:
        beside[row[source]].add(row[target])
    return sum(len(texts) > 1 for texts in beside.values())


def kinship(table: Table, first: int, second: int) -> float:
    """Words that two texts of a row share, less those that texts of neighbouring rows share, by the shorter one."""
    if min(first, second) < 0:
        return 0.0
    rows = table.rows[:: 1 + len(table.rows) // SAMPLE]
    ones, others = ([set(row[at].lower().split()) for row in rows] for at in (first, second))
    return max(0.0, mean_overlap(ones, others) - mean_overlap(ones, others[1:] + others[:1]))


def mean_overlap(ones: Sequence[set[str]], others: Sequence[set[str]]) -> float:
    """The mean share of the smaller set that is in the larger one, too."""
    pairs = [(one, other) for one, other in zip(ones, others, strict=True) if one and other]
    return sum(len(one & other) / min(len(one), len(other)) for one, other in pairs) / len(pairs) if pairs else 0.0
