"""What kind of table a file is: by the ending of its name, else by what stands in it.

Text files that are no tables: one word a line with its tags, or a label before each text. Told by their lines.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from atento.data.files.opening import inner_name
from atento.data.tables.delimited import read_delimited

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


Kind = Literal[
    "csv",
    "tsv",
    "jsonl",
    "parquet",
    "parallel",
    "text",
    "conll",
    "lines",
    "folder",
    "ts",
    "arff",
    "npz",
    "npy",
    "sequences",
    "pictures",
]

SUFFIXES: dict[str, Kind] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".conll": "conll",
    ".conllu": "conll",
    ".conllx": "conll",
    ".bio": "conll",
    ".iob": "conll",
    ".iob2": "conll",
    ".ts": "ts",
    ".arff": "arff",
    ".npz": "npz",
    ".npy": "npy",
}

KIND_WORDS: dict[Kind, str] = {
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON lines",
    "text": "text, one column and one row a line",
    "conll": "one word a line (CoNLL)",
    "lines": "lines of a label and a text",
}

# On a tie the earlier one: decimal commas stand in files parted by semicolons, hardly the other way round.
DELIMITERS = ("\t", ";", "|", ",")
SAMPLE_LINES = 500
SAMPLE_CHARACTERS = 200_000


class Fit(NamedTuple):
    """How well a delimiter explains the first lines: rows alike, and the delimiter not followed by a space."""

    delimiter: str
    alike: float
    spaced: float

    @property
    def score(self) -> float:
        """Higher is better."""
        return self.alike * (1 - self.spaced / 2)


def kind_by_name(path: str) -> Kind | None:
    """The kind that the ending of the name promises."""
    return SUFFIXES.get(Path(inner_name(path)).suffix.lower())


def kind_by_content(text: str) -> Kind:
    """The kind that the first lines look like."""
    lines = sample(text).split("\n")
    filled = [line for line in lines if line.strip()]
    first = filled[0].strip()
    if first.startswith("{") or is_json_list(first):
        return "jsonl"
    form = line_kind(lines)
    if form is not None:
        return "conll" if form in ("conll", "conllu") else "lines"
    if 2 * sum("\t" in line.strip() for line in filled) >= len(filled):
        return "tsv"
    fit = best_fit(text)
    return "csv" if fit.alike >= 0.9 and fit.spaced < 0.5 else "text"


def form_of(text: str, kind: Kind) -> LineKind | None:
    """Which of the ways to write words or labels in lines this is; None: another format, or rows of a table."""
    lines = sample(text).split("\n")
    if kind == "conll":
        return "conllu" if is_conllu([line for line in lines if line.strip()], least=0.5) else "conll"
    found = line_kind(lines) if kind in ("tsv", "lines") else None
    if kind == "tsv":
        return found if found in ("conll", "conllu") else None
    return found


def delimiter_of(text: str) -> str:
    """The delimiter of a CSV file; a comma when none is clear."""
    fit = best_fit(text)
    return fit.delimiter if fit.alike >= 0.5 else ","


def best_fit(text: str) -> Fit:
    """The delimiter that explains the first lines best."""
    return max((measure(sample(text), delimiter) for delimiter in DELIMITERS), key=lambda fit: fit.score)


def measure(text: str, delimiter: str) -> Fit:
    """The share of rows with the usual number of fields, 0 when that is one field."""
    records = read_delimited(text, "", delimiter, quoted=True)
    widths = Counter(map(len, records.rows))
    if not widths:
        return Fit(delimiter, 0.0, 0.0)
    width, rows = widths.most_common(1)[0]
    spaced = text.count(delimiter + " ") / max(1, text.count(delimiter))
    alike = rows / (len(records.rows) + len(records.refused)) if width > 1 else 0.0
    return Fit(delimiter, alike, spaced)


def sample(text: str) -> str:
    """The first lines that hold anything."""
    return "\n".join(text.lstrip()[:SAMPLE_CHARACTERS].split("\n")[:SAMPLE_LINES])


def is_json_list(line: str) -> bool:
    """Whether a line is a list in JSON."""
    if not line.startswith("["):
        return False
    try:
        return isinstance(json.loads(line), list)
    except (ValueError, RecursionError):
        return False
