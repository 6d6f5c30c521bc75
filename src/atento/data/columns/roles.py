"""The likely role of each column: text, label, several labels, two texts, words with tags. All are guesses."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from atento.data.records import LIST_SEPARATOR, split_items
from atento.data.tables.cells import LabelFormat, label_format
from atento.data.tables.column_names import (
    CERTAIN_LABEL,
    ENTITIES,
    LABEL,
    METADATA,
    TAGS,
    TEXT,
    TWO_TEXTS,
    WORDS,
    is_named,
)
from atento.data.tables.headers import are_numbers
from atento.data.tables.table import Table
from atento.data.tables.wide import SCIENTIFIC

SAMPLE_ROWS = 2000
MOST_COLUMNS = 2000  # the first and the last, half each
ALIGNED_ROWS = 300  # whose words and tags are compared
MOST_ALIGNED = 60  # columns that are compared with each other
FEW_TAGS = 6  # of a file with few words
INDICATORS = frozenset({"0", "1", "true", "false", "0.0", "1.0"})
AGREED = frozenset({"gold"})
DECIMAL = re.compile(r"[+-]?\d*\.\d+")
MOST_REPEATS = 0.05  # of the cells with several labels name one of them twice, by mistake
MANY_LABELS = 20  # distinct ones in any file; in long ones a tenth of the rows


@dataclass(frozen=True)
class ColumnSample:
    """Statistics of the sampled cells of one column; `cells` are the filled ones, stripped."""

    index: int
    name: str
    rows: int
    cells: list[str]
    distinct: int
    characters: float  # mean length of a cell
    words: float  # mean number of words of a cell

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers."""
        return are_numbers(self.cells)

    @property
    def is_decimal(self) -> bool:
        """Whether the column holds numbers that are not all whole; `2,7` alone may be two labels."""
        if not self.is_numeric:
            return False
        commas = [cell for cell in self.cells if "," in cell]
        decimal = 2 * len(commas) > len(self.cells) and all(cell.count(",") == 1 for cell in commas)
        return decimal or any(re.search(r"\.\d*[1-9]", cell) or has_fraction(cell) for cell in self.cells)

    @property
    def holds_lists(self) -> bool:
        """Whether most cells are lists."""
        return 2 * sum(LIST_SEPARATOR in cell for cell in self.cells) > len(self.cells)

    @property
    def holds_links(self) -> bool:
        """Whether most cells are addresses of pages or files."""
        return 2 * sum(bool(re.match(r"\w+://|/\w+/|www\.", cell)) for cell in self.cells) > len(self.cells)


def has_fraction(cell: str) -> bool:
    """Whether a number in scientific notation is not whole, or is a measurement: numpy writes 1 as `1.0e+00`."""
    if "e" not in cell.lower():
        return False
    return SCIENTIFIC.fullmatch(cell) is None or not float(cell).is_integer()


class Roles(NamedTuple):
    """The index of the column that fits each role best; -1 where none does."""

    text: int
    label: int
    labels: int  # several labels in one cell
    indicators: tuple[int, ...]  # columns of 0 and 1, each of which is a label
    first: int  # two texts whose relation is the label
    second: int
    words: int
    tags: int


def find_roles(table: Table) -> Roles:
    """The best column for each role, for any task."""
    samples = sample_columns(table)
    text = text_column(samples)
    indicators = indicator_columns(samples)
    label = label_column(samples, taken={text, *(indicators if len(indicators) > 1 else ())})
    first, second = two_texts(samples, taken={label})
    words, tags = words_and_tags(samples)
    return Roles(text, label, labels_column(samples, taken={text}), indicators, first, second, words, tags)


def sample_columns(table: Table) -> list[ColumnSample]:
    """A sample of every column, from rows spaced evenly over the table; of very many columns those in the middle are
    not looked at, and have no cells.
    """
    rows = table.rows[:: max(1, -(-len(table.rows) // SAMPLE_ROWS))]
    samples, last = [], len(table.columns) - MOST_COLUMNS // 2
    for at, name in enumerate(table.columns):
        looked_at = at < MOST_COLUMNS // 2 or at >= last
        filled = [cell for row in rows if (cell := row[at].strip())] if looked_at else []
        count = max(1, len(filled))
        characters, words = sum(map(len, filled)) / count, sum(len(cell.split()) for cell in filled) / count
        samples.append(ColumnSample(at, name.lower(), len(rows), filled, len(set(filled)), characters, words))
    return samples


def text_column(samples: Iterable[ColumnSample], taken: Iterable[int] = ()) -> int:
    """The column of the longest texts, without numbers, labels and links; a usual name for texts counts fourfold."""
    free = [sample for sample in samples if sample.index not in set(taken) and sample.cells]
    likely = [sample for sample in free if not sample.is_numeric and not sample.holds_links] or free
    varied = [sample for sample in likely if not has_repeated_values(sample)]
    content = [sample for sample in varied if is_named(sample.name, TEXT) or not is_named(sample.name, METADATA)]
    best = content or varied or likely
    if not best:
        return -1
    return max(best, key=lambda one: one.characters * (4 if is_named(one.name, TEXT) else 1)).index


def label_column(samples: Iterable[ColumnSample], taken: Iterable[int] = ()) -> int:
    """A column of few repeated values: one with a usual name for labels, else the first or last column."""
    samples = list(samples)
    free = [sample for sample in samples if sample.index not in set(taken) and sample.cells and not sample.holds_links]
    single = [one for one in free if not any(LIST_SEPARATOR in cell for cell in one.cells)]
    if any(is_label(one) and not is_named(one.name, METADATA) for one in single):
        free = single  # a list is taken for one label only where nothing else can be
    named = [one for one in free if is_named(one.name, LABEL) and not one.is_decimal and may_be_label(one)]
    likely = [sample for sample in free if is_label(sample) and not is_named(sample.name, METADATA)]
    varied = [one for one in named if one.distinct > 1 and 2 * len(one.cells) > one.rows]  # a single value is no label
    if varied or (named and not [one for one in likely if one not in named]):
        varied = varied or [one for one in named if one.distinct > 1] or named
        best = min(varied, key=preference)
        return next((one.index for one in likely if best.is_numeric and says_in_words(one, best)), best.index)
    ends = (0, len(samples) - 1)
    likely = [one for one in likely if 2 * len(one.cells) > one.rows] or likely
    best_of = min(likely, key=lambda one: (one.index not in ends, one.is_numeric, -one.index), default=None)
    return best_of.index if best_of is not None else -1


def preference(sample: ColumnSample) -> tuple[bool, bool, bool, int]:
    """Of columns that are named as labels are, the one that is preferred has the lowest value: what all annotators
    agreed on, a certain name, words, few values.
    """
    certain = is_named(sample.name, CERTAIN_LABEL)
    return not is_named(sample.name, AGREED), not certain, sample.is_numeric, sample.distinct


def says_in_words(sample: ColumnSample, codes: ColumnSample) -> bool:
    """Whether a column names in words what another column says by numbers: each number goes with one name."""
    if sample.is_numeric or not sample.distinct == codes.distinct > 1 or len(sample.cells) != len(codes.cells):
        return False
    return len(set(zip(sample.cells, codes.cells, strict=True))) == codes.distinct


def is_label(sample: ColumnSample) -> bool:
    """Whether the cells of a column are few short repeated values."""
    short = sample.words <= 4 and sample.characters <= 40
    return short and not sample.is_decimal and sample.distinct >= 2 and has_repeated_values(sample)


def may_be_label(sample: ColumnSample) -> bool:
    """Whether a column named as a label can be one; in a very short table it always can."""
    return 2 * sample.distinct <= sample.rows or sample.rows < 2 * MANY_LABELS


def has_repeated_values(sample: ColumnSample) -> bool:
    """Whether the column has few distinct values."""
    most = max(MANY_LABELS, sample.rows // 10) if sample.rows > 2 * MANY_LABELS else sample.rows // 2
    return 0 < sample.distinct <= most


def labels_column(samples: Iterable[ColumnSample], taken: Iterable[int] = ()) -> int:
    """A column with several labels in a cell, preferably one with a usual name for labels."""
    found: list[tuple[bool, int]] = []
    for sample in samples:
        if sample.index in set(taken) or not sample.cells or sample.is_decimal or is_named(sample.name, METADATA):
            continue
        if label_format(sample.cells) is not None and not are_measures(sample.cells):
            found.append((not is_named(sample.name, LABEL | TAGS), sample.index))
    return min(found)[1] if found else -1


def are_measures(cells: Sequence[str]) -> bool:
    """Whether lists are measurements or votes rather than sets of labels: decimal numbers, or an item comes twice."""
    lists = [split_items(cell) for cell in cells if LIST_SEPARATOR in cell]
    repeats = sum(len(set(items)) < len(items) for items in lists)
    decimals = sum(all(DECIMAL.fullmatch(item.strip()) for item in items) for items in lists)
    return bool(lists) and (repeats > MOST_REPEATS * len(lists) or 2 * decimals > len(lists))


def label_format_of(table: Table, column: int, separator: str) -> LabelFormat | None:
    """How labels are written in a column: with the given separator, else with the one that is found."""
    return label_format([row[column].strip() for row in table.rows if row[column].strip()], separator)


def indicator_columns(samples: Iterable[ColumnSample]) -> tuple[int, ...]:
    """The columns of 0 and 1."""
    return tuple(
        sample.index
        for sample in samples
        if sample.cells and len(sample.cells) == sample.rows and set(sample.cells) <= INDICATORS
    )


def two_texts(samples: Iterable[ColumnSample], taken: Iterable[int] = ()) -> tuple[int, int]:
    """Two columns of varied text: by well-known names, else the two longest; -1 where there are none."""
    free = [sample for sample in samples if sample.index not in set(taken) and sample.cells]
    names = {re.sub(r"[\W_]+", "", sample.name): sample.index for sample in free}
    for one, other in TWO_TEXTS:
        if one in names and other in names:
            return names[one], names[other]
    varied = [sample for sample in free if is_text(sample) or is_asked_again(sample)]
    if len(varied) < 2:
        return -1, -1
    longest = sorted(sorted(varied, key=lambda sample: -sample.words)[:2], key=lambda sample: sample.index)
    return longest[0].index, longest[1].index


def is_text(sample: ColumnSample) -> bool:
    """Whether a column holds varied texts of more than a word."""
    return not (sample.is_numeric or sample.holds_links or has_repeated_values(sample)) and sample.words >= 1.5


def is_asked_again(sample: ColumnSample) -> bool:
    """Whether a column holds texts that come again but are no labels: questions, each with several answers."""
    return not (sample.is_numeric or sample.holds_links) and sample.words >= 4 and sample.distinct > MANY_LABELS


def words_and_tags(samples: Iterable[ColumnSample], words: int = -1, tags: int = -1) -> tuple[int, int]:
    """Two columns with equally many items in each cell and few distinct tags; columns that are given stay."""
    return aligned_columns(samples, words, tags) or (words, tags)


def aligned_columns(samples: Iterable[ColumnSample], words: int = -1, tags: int = -1) -> tuple[int, int] | None:
    """The same, among the columns that are given; None where there are no such columns."""
    samples = [sample for sample in samples if sample.words > 1]  # a wide table has thousands with one item a cell
    samples = [one for at, one in enumerate(samples) if at < MOST_ALIGNED or one.index in (words, tags)]
    lists = {sample.index: [split_cell(cell) for cell in sample.cells[:ALIGNED_ROWS]] for sample in samples}
    found: list[tuple[bool | int, ...]] = []
    for one in samples:
        for other in samples:
            if one.index == other.index or words not in (-1, one.index) or tags not in (-1, other.index):
                continue
            known = is_named(one.name, WORDS) and (is_named(other.name, TAGS) or tags >= 0)
            if one.holds_lists == other.holds_lists and are_aligned(lists[one.index], lists[other.index], known=known):
                names = (
                    is_named(other.name, ENTITIES) or other.name in ("tag", "tags"),
                    is_named(other.name, TAGS | LABEL),
                    is_named(one.name, WORDS | TEXT),
                )
                found.append((*(not name for name in names), other.index, one.index))
    return (min(found)[-1], min(found)[-2]) if found else None


def are_aligned(words: Sequence[list[str]], tags: Sequence[list[str]], *, known: bool = False) -> bool:
    """Whether the cells of two columns have equally many items and, unless names are known, far fewer distinct tags."""
    if not words or len(words) != len(tags):
        return False
    equal = sum(len(one) == len(other) for one, other in zip(words, tags, strict=True))
    total = sum(map(len, words))
    if known or total <= 1.5 * len(words) or 10 * equal < 9 * len(words):
        return known and total > len(words) and 10 * equal >= 9 * len(words)
    tag_set = {tag for row in tags for tag in row}
    word_set = {word for row in words for word in row}
    return len(tag_set) < len(word_set) and 3 * len(tag_set) <= total + FEW_TAGS


def split_cell(cell: str) -> list[str]:
    """The items of a cell: those of a list, else its words."""
    return split_items(cell) if LIST_SEPARATOR in cell else cell.split()
