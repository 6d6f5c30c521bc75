"""Which column of a table is what: a text, a label, several labels, two texts, words with tags. Guesses, to be said."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from atento.data.records import BETWEEN, split
from atento.data.tables.cells import LabelCells, cells_of_labels
from atento.data.tables.headers import are_numbers
from atento.data.tables.names import ENTITIES, LABEL, NEITHER, SURELY, TAGS, TEXT, TWO_TEXTS, WORDS, is_named
from atento.data.tables.table import Table

SAMPLE_ROWS = 2000
STEP_ROWS = 300  # whose words and tags are counted
FEW_TAGS = 6  # of a file with few words
MANY_LABELS = 20  # of any file; of long ones a tenth of the rows


class Look(NamedTuple):
    """One column as its sampled cells show it; `cells` are those that hold anything, stripped."""

    at: int
    name: str
    rows: int
    cells: list[str]
    distinct: int
    characters: float  # mean length of a cell
    words: float  # mean words of a cell

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return are_numbers(self.cells)

    @property
    def score(self) -> bool:
        """Whether it holds numbers some of which are no whole ones; `2,7` alone may be two labels."""
        if not self.numeric:
            return False
        commas = [cell for cell in self.cells if "," in cell]
        decimal = 2 * len(commas) > len(self.cells) and all(cell.count(",") == 1 for cell in commas)
        return decimal or any(re.search(r"\.\d*[1-9]", cell) or "e" in cell.lower() for cell in self.cells)

    @property
    def listed(self) -> bool:
        """Whether its cells are lists."""
        return 2 * sum(BETWEEN in cell for cell in self.cells) > len(self.cells)

    @property
    def link(self) -> bool:
        """Whether it holds addresses of pages or files."""
        return 2 * sum(bool(re.match(r"\w+://|/\w+/|www\.", cell)) for cell in self.cells) > len(self.cells)


class Roles(NamedTuple):
    """The numbers of the columns, from 0, that fit each role best; -1: none does."""

    text: int
    label: int
    labels: int  # several labels in one cell
    switches: tuple[int, ...]  # columns of 0 and 1, each of which is a label
    first: int  # two texts that a label compares
    second: int
    words: int
    tags: int


def find_roles(table: Table) -> Roles:
    """What each column could be, whatever the task."""
    looks = look_at(table)
    text = text_column(looks)
    switches = switch_columns(looks)
    label = label_column(looks, taken={text, *(switches if len(switches) > 1 else ())})
    first, second = two_texts(looks, taken={label})
    words, tags = words_and_tags(looks)
    return Roles(text, label, labels_column(looks, taken={text}), switches, first, second, words, tags)


def look_at(table: Table) -> list[Look]:
    """Every column, by rows taken evenly from the whole table."""
    rows = table.rows[:: max(1, -(-len(table.rows) // SAMPLE_ROWS))]
    return [look_at_column(at, name, [row[at].strip() for row in rows]) for at, name in enumerate(table.columns)]


def look_at_column(at: int, name: str, cells: Sequence[str]) -> Look:
    """One column in numbers."""
    filled = [cell for cell in cells if cell]
    count = max(1, len(filled))
    characters = sum(map(len, filled)) / count
    words = sum(len(cell.split()) for cell in filled) / count
    return Look(at, name.lower(), len(cells), filled, len(set(filled)), characters, words)


def text_column(looks: Iterable[Look], taken: Iterable[int] = ()) -> int:
    """The longest column that is neither numbers, labels nor addresses; a name that texts go by counts fourfold."""
    free = [look for look in looks if look.at not in set(taken) and look.cells]
    likely = [look for look in free if not look.numeric and not look.link] or free
    varied = [look for look in likely if not is_repeated(look)]
    content = [look for look in varied if is_named(look.name, TEXT) or not is_named(look.name, NEITHER)]
    best = content or varied or likely
    return max(best, key=lambda look: look.characters * (4 if is_named(look.name, TEXT) else 1)).at if best else -1


def label_column(looks: Iterable[Look], taken: Iterable[int] = ()) -> int:
    """A column of few values that come again and again; one named as labels are, else at an end of the table."""
    looks = list(looks)
    free = [look for look in looks if look.at not in set(taken) and look.cells and not look.link]
    named = [look for look in free if is_named(look.name, LABEL) and not look.score and may_be_label(look)]
    likely = [look for look in free if is_label(look) and not is_named(look.name, NEITHER)]
    if named:
        told = [look for look in named if look.distinct > 1] or named  # one value alone tells nothing apart
        return min(told, key=lambda look: (not is_named(look.name, SURELY), look.numeric, look.distinct)).at
    ends = (0, len(looks) - 1)
    return min(likely, key=lambda look: (look.at not in ends, -look.at)).at if likely else -1


def is_label(look: Look) -> bool:
    """Whether a column holds one of few short values in each cell."""
    return not look.score and look.distinct >= 2 and is_repeated(look) and look.words <= 4 and look.characters <= 40


def may_be_label(look: Look) -> bool:
    """Whether a column that is named as labels are holds some; of a very short table nobody can tell."""
    return 2 * look.distinct <= look.rows or look.rows < 2 * MANY_LABELS


def is_repeated(look: Look) -> bool:
    """Whether values come again and again."""
    most = max(MANY_LABELS, look.rows // 10) if look.rows > 2 * MANY_LABELS else look.rows // 2
    return 0 < look.distinct <= most


def labels_column(looks: Iterable[Look], taken: Iterable[int] = ()) -> int:
    """A column whose cells hold several labels; one named as labels are before others."""
    found: list[tuple[bool, int]] = []
    for look in looks:
        if look.at in set(taken) or not look.cells or look.score or is_named(look.name, NEITHER):
            continue
        if cells_of_labels(look.cells) is not None:
            found.append((not is_named(look.name, LABEL | TAGS), look.at))
    return min(found)[1] if found else -1


def how_labels_are_parted(table: Table, column: int, separator: str) -> LabelCells | None:
    """How a column's cells hold labels: parted as the user says, else as they seem to be."""
    return cells_of_labels([row[column].strip() for row in table.rows if row[column].strip()], separator)


def switch_columns(looks: Iterable[Look]) -> tuple[int, ...]:
    """The columns that say yes or no by 0 and 1."""
    return tuple(
        look.at
        for look in looks
        if look.cells and len(look.cells) == look.rows and set(look.cells) <= {"0", "1", "true", "false", "0.0", "1.0"}
    )


def two_texts(looks: Iterable[Look], taken: Iterable[int] = ()) -> tuple[int, int]:
    """Two columns of varied text: by well-known names, else the first two; -1 where there are none."""
    free = [look for look in looks if look.at not in set(taken) and look.cells]
    names = {re.sub(r"[\W_]+", "", look.name): look.at for look in free}
    for one, other in TWO_TEXTS:
        if one in names and other in names:
            return names[one], names[other]
    varied = [look for look in free if is_text(look)]
    if len(varied) < 2:
        return -1, -1
    longest = sorted(sorted(varied, key=lambda look: -look.words)[:2], key=lambda look: look.at)
    return longest[0].at, longest[1].at


def is_text(look: Look) -> bool:
    """Whether a column holds varied text of more than a word."""
    return not (look.numeric or look.link or is_repeated(look)) and look.words >= 1.5


def words_and_tags(looks: Iterable[Look], words: int = -1, tags: int = -1) -> tuple[int, int]:
    """Two columns with as many items in each cell, those of one being few; numbers that are given stay."""
    looks = [look for look in looks if look.words > 1]  # a wide table has thousands of columns with one item a cell
    lists = {look.at: [items(cell) for cell in look.cells[:STEP_ROWS]] for look in looks}
    found: list[tuple[bool | int, ...]] = []
    for one in looks:
        for other in looks:
            if one.at == other.at or words not in (-1, one.at) or tags not in (-1, other.at):
                continue
            known = is_named(one.name, WORDS) and (is_named(other.name, TAGS) or tags >= 0)
            if one.listed == other.listed and in_step(lists[one.at], lists[other.at], known=known):
                names = (
                    is_named(other.name, ENTITIES) or other.name in ("tag", "tags"),
                    is_named(other.name, TAGS | LABEL),
                    is_named(one.name, WORDS | TEXT),
                )
                found.append((*(not name for name in names), other.at, one.at))
    return (min(found)[-1], min(found)[-2]) if found else (words, tags)


def in_step(words: Sequence[list[str]], tags: Sequence[list[str]], *, known: bool = False) -> bool:
    """Whether cells have as many items in both columns, and, unless names say so, the tags are far fewer."""
    if not words or len(words) != len(tags):
        return False
    level = sum(len(one) == len(other) for one, other in zip(words, tags, strict=True))
    total = sum(map(len, words))
    if known or total <= 1.5 * len(words) or 10 * level < 9 * len(words):
        return known and total > len(words) and 10 * level >= 9 * len(words)
    tag_set = {tag for row in tags for tag in row}
    word_set = {word for row in words for word in row}
    return len(tag_set) < len(word_set) and 3 * len(tag_set) <= total + FEW_TAGS


def items(cell: str) -> list[str]:
    """The items of a cell: a list's, else what spaces part."""
    return split(cell) if BETWEEN in cell else cell.split()
