"""Text files that are no tables: one word a line with its tags, or a label before each text. Told by their lines."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

LineKind = Literal["conllu", "conll", "fasttext", "trec", "labelled"]

WORD_ID = re.compile(r"\d+(?:[-.]\d+)?")
COARSE_FINE = re.compile(r"([A-Z][A-Z0-9_]*):([A-Za-z0-9_]+)[ \t]+(\S.*)")
FASTTEXT = "__label__"
DOCUMENT = "-DOCSTART-"
MARK = "\ufeff"  # of the byte order; it may stand on a line of its own
MOST_COLUMNS = 20
FEWEST_LINES = 8  # with fewer, a first word that comes again says nothing


def line_kind(lines: Sequence[str]) -> LineKind | None:
    """The kind these lines look like, blank ones among them; None: a table or plain text."""
    filled = [line for line in lines if not is_blank(line)]
    if not filled:
        return None
    if is_conllu(filled):
        return "conllu"
    if share(line.startswith(FASTTEXT) for line in filled) >= 0.9:
        return "fasttext"
    if is_conll(lines):
        return "conll"
    if share(COARSE_FINE.fullmatch(line) is not None for line in filled) >= 0.9:
        return "trec"
    return "labelled" if begin_with_labels(filled) else None


def is_blank(line: str) -> bool:
    """Whether a line holds nothing that can be seen."""
    return not line.replace(MARK, "").strip()


def share(truths: Iterable[bool]) -> float:
    """How many of them hold, from 0 to 1."""
    listed = list(truths)
    return sum(listed) / max(1, len(listed))


def is_conllu(filled: Sequence[str], least: float = 0.9) -> bool:
    """Whether at least this share of the lines has ten columns, the first of which counts words."""
    rows = [line.split("\t") for line in filled if not line.startswith("#")]
    return bool(rows) and share(len(row) == 10 and WORD_ID.fullmatch(row[0]) is not None for row in rows) >= least


def is_conll(lines: Sequence[str]) -> bool:
    """As many columns in nearly every line, single words first, few tags last, blank lines between sentences."""
    if any(line.startswith(DOCUMENT) for line in lines):
        return True
    blocks = sentences(lines)
    rows = [cut(line) for block in blocks for line in block]
    if len(blocks) < 2 or not rows:
        return False
    width, same = Counter(map(len, rows)).most_common(1)[0]
    if not 2 <= width <= MOST_COLUMNS or same < 0.9 * len(rows) or len(rows) < 2 * len(blocks):
        return False
    rows = [row for row in rows if len(row) == width]
    distinct = [len({row[at] for row in rows}) for at in range(width)]
    tagged = any(2 <= count < max(distinct) and 3 * count <= len(rows) + 3 for count in distinct[1:])
    spaced = share(" " in cell.strip() for row in rows for cell in row)
    return tagged and spaced < 0.05


def sentences(lines: Sequence[str]) -> list[list[str]]:
    """Lines between blank ones, without comments before them and marks of documents."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if is_blank(line):
            blocks.append([])
        elif not line.startswith(DOCUMENT) and not (line.startswith("# ") and not blocks[-1]):
            blocks[-1].append(line)
    return [block for block in blocks if block]


def cut(line: str) -> list[str]:
    """The fields of a line: by tabs where it has any, else by spaces."""
    return line.split("\t") if "\t" in line else line.split()


def begin_with_labels(filled: Sequence[str]) -> bool:
    """Whether nearly all lines begin with one of very few words that come again and again, and text follows it."""
    parts = [line.split(None, 1) for line in filled]
    whole = [part for part in parts if len(part) == 2]
    if len(whole) < max(FEWEST_LINES, 0.95 * len(parts)) or any("\t" in line for line in filled):
        return False
    firsts = Counter(part[0] for part in whole)
    once = sum(count == 1 for count in firsts.values())
    few = 1 < len(firsts) <= min(50, max(2, len(whole) // 20)) and once <= 0.01 * len(whole)
    return few and len({part[1] for part in whole}) > len(whole) / 2 and bare(firsts)


def bare(labels: Counter[str]) -> bool:
    """Whether labels are written alike, as words of a sentence would not be: no signs at their end, no two cases."""
    return all(re.fullmatch(r"\w+(?:[-./:+]\w+)*:?", label) for label in labels)
