"""Source and target texts from any table, for tasks that turn one text into another.

Tables of inflection: a word, one of its forms and the features of it, as in `manducar manducado V.PTCP;PST`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from shlex import quote
from typing import NamedTuple

from atento.data.records import BadRows, Refusal, counted, excerpt, in_words, join, stop_or_skip
from atento.data.sources import read_source
from atento.data.tables.headers import COUPLES, LANGUAGES, Header, are_numbers
from atento.data.tables.table import Table
from atento.errors import NO_SETTINGS, InputError, nearest

INFLECTION_ROWS = 500
PARTS = re.compile(r"[;,|:=+/. ]+")
LEAST_KINSHIP = 0.3  # pairs of letters that a word and its form share
LEAST_LEMMAS = 0.02  # of the rows are different words: each may have many forms ...
LEAST_FORMS = 0.2  # ... which are different themselves
MOST_WORDS = 2.5  # of a word or form


class Inflection(NamedTuple):
    """The numbers of the columns, from 0."""

    lemma: int
    form: int
    features: int


def find_inflection(table: Table) -> Inflection | None:
    """The three columns where a table has them: two of kindred words, and one of parts that come again and again."""
    if len(table.columns) < 3:
        return None
    rows = table.rows[:: 1 + len(table.rows) // INFLECTION_ROWS]
    columns = [[row[at].strip() for row in rows] for at in range(len(table.columns))]
    features = [at for at, cells in enumerate(columns) if are_features(cells)]
    words = [at for at, cells in enumerate(columns) if at not in features and are_words(cells)]
    if len(features) != 1 or len(words) < 2:
        return None
    lemma, form = words[:2]
    names = [table.columns[at].lower() for at in (lemma, form)]
    if names in (["form", "lemma"], ["inflected", "lemma"], ["target", "source"]):
        lemma, form = form, lemma
    varied = max(len(set(columns[at])) for at in (lemma, form)) >= LEAST_FORMS * len(rows)
    if not varied or kinship(columns[lemma], columns[form]) < LEAST_KINSHIP:
        return None
    return Inflection(lemma, form, features[0])


def are_features(cells: Sequence[str]) -> bool:
    """Whether cells are bundles of few parts: two or more in most, each part in many cells."""
    parts = [[part for part in PARTS.split(cell) if part] for cell in cells]
    total = sum(map(len, parts))
    several = sum(len(some) > 1 and not re.search(r"\s", cell) for some, cell in zip(parts, cells, strict=True))
    return 2 * several > len(cells) and 5 * len({part for some in parts for part in some}) <= total


def are_words(cells: Sequence[str]) -> bool:
    """Whether cells are words."""
    filled = [cell for cell in cells if cell]
    if not filled or are_numbers(filled) or LEAST_LEMMAS * len(filled) > len(set(filled)):
        return False
    return sum(len(cell.split()) for cell in filled) <= MOST_WORDS * len(filled)


def kinship(ones: Sequence[str], others: Sequence[str]) -> float:
    """The mean share of letter pairs of the shorter word that stand in the longer one, too."""
    shares = [shared_pairs(one, other) for one, other in zip(ones, others, strict=True) if one and other]
    return sum(shares) / len(shares) if shares else 0.0


def shared_pairs(one: str, other: str) -> float:
    """From 0 to 1."""
    first, second = (
        {text[at : at + 2] for at in range(max(1, len(text) - 1))} for text in (one.lower(), other.lower())
    )
    return len(first & second) / min(len(first), len(second))


SAMPLE_ROWS = 1000
BESIDE = ","  # data.source=lemma,features: a word, and beside it its features
Pair = tuple[str, str]  # (source, target)


class Pairs(NamedTuple):
    """Source and target of every usable row, and where they came from."""

    file: str
    pairs: tuple[tuple[str, str], ...]
    lines: tuple[int, ...]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]
    source_column: str
    target_column: str
    table: Table
    keys: tuple[tuple[str, str], ...] = ()  # what data.* must say for another file to be read alike


def read_pairs(
    source: str,
    *,
    source_column: str = "",
    target_column: str = "",
    header: Header = "auto",
    bad_rows: BadRows = "stop",
) -> Pairs:
    """The pairs in a file, or in two parallel files; outer white space is dropped, inner text left as it is."""
    names = [name for name in (*source_column.split(BESIDE), target_column) if name]
    table = read_source(source, header=header, names=names)
    if not table.rows:
        raise nothing_left(table.file, stop_or_skip(table.refused, bad_rows))
    first, beside, second, notes = choose_with_features(table, source_column, target_column)

    def pair_of(at: int) -> Pair | Refusal:
        row = table.rows[at]
        pair = row[first].strip(), row[second].strip()
        if not all(pair):
            return empty_cell(table, at, first if not pair[0] else second)
        return (join([pair[0], row[beside].strip()]), pair[1]) if beside >= 0 else pair

    read = f"{table.columns[first]}{BESIDE}{table.columns[beside]}" if beside >= 0 else table.columns[first]
    keys = {"source": read, "target": table.columns[second]}
    return collect(table, pair_of, bad_rows, columns=(first, second), notes=notes, keys=keys)


def choose_with_features(table: Table, source: str, target: str) -> tuple[int, int, int, tuple[str, ...]]:
    """The columns of source, its features (-1: none) and target, and what to say when they were guessed."""
    word, beside = find_source(table, source)
    if beside >= 0:
        _, second, _ = choose_columns(table, table.columns[word], target)
        return word, beside, second, ()
    inflection = None if source or target else find_inflection(table)
    if inflection is None:
        first, second, notes = choose_columns(table, source, target)
        return first, -1, second, notes
    names = [table.columns[at] for at in inflection]
    note = (
        f"source is {names[0]} with its features {names[2]}, target is {names[1]}; --set data.source=... chooses others"
    )
    return inflection.lemma, inflection.features, inflection.form, (note,)


def find_source(table: Table, name: str) -> tuple[int, int]:
    """The column of the source, and that of its features where two are named; -1 stands for none."""
    if BESIDE not in name or name in table.columns:
        return find_column(table, name, "data.source"), -1
    word, _, features = name.partition(BESIDE)
    return find_column(table, word.strip(), "data.source"), find_column(table, features.strip(), "data.source")


def collect(
    table: Table,
    pair_of: Callable[[int], Pair | Refusal],
    bad_rows: BadRows,
    *,
    columns: tuple[int, int],
    notes: tuple[str, ...],
    keys: Mapping[str, int | str] | None = None,
) -> Pairs:
    """The pair or the refusal of every row; an error when nothing is left."""
    pairs, lines, refused = [], [], list(table.refused)
    for at, line in enumerate(table.lines):
        found = pair_of(at)
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            pairs.append(found)
            lines.append(line)
    ordered = stop_or_skip(refused, bad_rows)
    if not pairs:
        raise nothing_left(table.file, ordered)
    source, target = (table.columns[at] if at >= 0 else "" for at in columns)
    named = {"source": columns[0], "target": columns[1]} if keys is None else keys
    known = tuple(
        (key, at if isinstance(at, str) else table.columns[at]) for key, at in named.items() if at not in (-1, "")
    )
    return Pairs(table.file, tuple(pairs), tuple(lines), ordered, table.notes + notes, source, target, table, known)


def choose_columns(table: Table, source: str, target: str) -> tuple[int, int, tuple[str, ...]]:
    """The numbers of the source and target columns, and what to say when they were guessed."""
    if len(table.columns) == 1:
        raise InputError(
            f"{table.file}:1: there is one column, and a pair needs two.",
            found=f"the column {table.columns[0]!r}, e.g. {excerpt(table.rows[0][0])}",
            fix="part source and target by a tab (.tsv) or a comma (.csv), or give two files: train.de,train.en",
        )
    asked = [find_column(table, source, "data.source"), find_column(table, target, "data.target")]
    if source and asked[0] == asked[1]:
        other = table.columns[guess_columns(table, asked[0], -1)[1]]
        raise InputError(
            f"{table.file}:1: source and target are the same column {table.columns[asked[0]]!r}.",
            found=f"the columns {in_words(table.columns)}",
            fix=f"pass --set data.target={other}",
        )
    if -1 not in asked:
        return asked[0], asked[1], ()
    first, second = guess_columns(table, *asked)
    return first, second, guess_notes(table.columns, first, second)


def find_column(table: Table, name: str, key: str) -> int:
    """The number of the column of this name, from 0; -1 when no name is given."""
    if not name:
        return -1
    if name in table.columns:
        return table.columns.index(name)
    numbers = [str(number + 1) for number in range(len(table.columns))]
    if not table.header and name in numbers:
        return numbers.index(name)
    raise InputError(
        f"{table.file}:1: there is no column {name!r}.",
        found=f"the columns {in_words(table.columns)}",
        fix=f"pass --set {quote(f'{key}={nearest(name, table.columns)}')}",
    )


def guess_columns(table: Table, source: int, target: int) -> tuple[int, int]:
    """Columns by well-known names, else two languages, else the first two of text; -1 stands for one to be found."""
    names = [name.lower() for name in table.columns]
    for couple in COUPLES:
        if couple[0] in names and couple[1] in names:
            first, second = names.index(couple[0]), names.index(couple[1])
            if source in (-1, first) and target in (-1, second):
                return first, second
    free = [at for at in range(len(names)) if at not in (source, target)]
    likely = [at for at in free if names[at] in LANGUAGES]
    if len(likely) < (source, target).count(-1):
        likely = sorted(free, key=lambda at: is_number_column(table, at))  # columns of text first
    order = iter(likely)
    return source if source >= 0 else next(order), target if target >= 0 else next(order)


def is_number_column(table: Table, column: int) -> bool:
    """Whether a column holds numbers rather than text."""
    return are_numbers([row[column] for row in table.rows[:SAMPLE_ROWS]])


def guess_notes(columns: Sequence[str], first: int, second: int) -> tuple[str, ...]:
    """What was chosen, said when there was more to choose from."""
    unused = [name for at, name in enumerate(columns) if at not in (first, second)]
    if not unused:
        return ()
    return (
        f"{len(columns)} columns: source is {columns[first]}, target is {columns[second]}, {in_words(unused)} "
        f"{'is' if len(unused) == 1 else 'are'} not used; --set data.source=... chooses others",
    )


def empty_cell(table: Table, row: int, column: int) -> Refusal:
    """The refusal of a pair one side of which is empty."""
    return Refusal(
        *table.place(row, column),
        f"the column {table.columns[column]!r} is empty here.",
        found=excerpt(table.rows[row][column]),
        fix="write a text there, or delete the row",
    )


def nothing_left(file: str, refused: Sequence[Refusal]) -> InputError:
    """The error for a file no row of which can be used."""
    return InputError(
        f"{refused[0].file if refused else file}: none of the {counted(len(refused), 'row')} can be used.",
        found=f"first {refused[0]}" if refused else "no rows",
        fix=refused[0].fix if refused else "add rows",
        settings=refused[0].settings if refused else NO_SETTINGS,
    )
