"""What kind of table a file is: by the ending of its name, else by what stands in it."""

import json
from collections import Counter
from pathlib import Path
from typing import Literal, NamedTuple

from atento.data.delimited import read_delimited
from atento.data.files import inner_name
from atento.data.line_kinds import LineKind, is_conllu, line_kind

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
