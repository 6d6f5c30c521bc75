"""Detection of the format of a file: by the suffix of its name, else by its first lines."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from atento.data.files.opening import inner_name
from atento.data.records import excerpt
from atento.data.tables.formats.delimited import read_delimited
from atento.data.tables.formats.lexicon import is_lexicon
from atento.data.tables.formats.ruled import is_number_table, is_ruled, is_spaced
from atento.data.tables.formats.word_tags import SEPARATORS, tag_separator
from atento.errors import InputError

LineFormat = Literal["conllu", "conll", "fasttext", "trec", "labelled", "tagged"]
Kind = Literal[
    "csv", "tsv", "jsonl", "parquet", "parallel", "text", "conll", "lines", "folder", "ts", "tsf", "arff", "npz", "npy",
    "sequences", "images", "xlsx", "tmx", "ruled", "spaced", "tagged", "lexicon",
]  # fmt: skip
KIND_SUFFIXES: dict[Kind, str] = {
    "csv": ".csv",
    "tsv": ".tsv .tab",
    "jsonl": ".jsonl .ndjson .json",
    "parquet": ".parquet .pq",
    "conll": ".conll .conllu .conllx .bio .iob .iob2",
    "ts": ".ts",
    "tsf": ".tsf",
    "arff": ".arff",
    "npz": ".npz",
    "npy": ".npy",
    "xlsx": ".xlsx .xlsm",
    "tmx": ".tmx",
}
SUFFIXES = {suffix: kind for kind, suffixes in KIND_SUFFIXES.items() for suffix in suffixes.split()}
KIND_WORDS: dict[Kind, str] = {
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON lines",
    "text": "text, one column and one row per line",
    "conll": "one word per line (CoNLL)",
    "lines": "lines of a label and a text",
    "tagged": "words with a tag behind each",
    "tmx": "a translation memory (TMX)",
    "ruled": "a table ruled with bars",
    "spaced": "a table whose columns spaces separate",
    "lexicon": "a pronouncing dictionary",
}
# On a tie the earlier one: files with semicolons have decimal commas, hardly the other way round.
DELIMITERS = ("\t", ";", "|", ",")
LONG_DELIMITERS = ("|||", ":::", "+++$+++", "_!_", "::", "||")  # a longer one before one that is part of it
WEAK_DELIMITERS = frozenset({"::", "||"})  # which may also stand inside the cells of a table
SAMPLE_LINES = 500
SAMPLE_CHARACTERS = 200_000
WORD_ID = re.compile(r"\d+(?:[-.]\d+)?")
HEAD = re.compile(r"\d*|_")  # the id of a word, or nothing
COARSE_FINE = re.compile(r"([A-Z][A-Z0-9_]*):([A-Za-z0-9_]+)[ \t]+(\S.*)")
LABEL_WORD = re.compile(r"\w+(?:[-./:+]\w+)*:?")  # no punctuation at its end but a colon
ENTITY = re.compile(r"O|[BIESLU]-[\w.-]+")
FASTTEXT = "__label__"
DOCUMENT_START = "-DOCSTART-"
BYTE_ORDER_MARK = "\ufeff"  # may be on a line of its own
TMX_START = re.compile(r"\s*+(?:<\?xml[^>]*>)?\s*+(?:<!DOCTYPE[^>]*>)?\s*+<tmx\b", re.IGNORECASE)
LIBSVM = re.compile(r"[+-]?\d+(?:\.\d+)?(?:,\d+)*(?:\s+\d+:\S+)+\s*")
JSON_LIST_START = re.compile(r"\s*\[\s*[\[{\"]")  # over several lines
MAX_COLUMNS = 20
MIN_LINES = 8  # with fewer, a repeated first word may be chance


def kind_by_name(path: str) -> Kind | None:
    """The format by the suffix of the name."""
    return SUFFIXES.get(Path(inner_name(path)).suffix.lower())


def kind_by_content(text: str) -> Kind:
    """The format by the first lines."""
    lines = first_lines(text).split("\n")
    filled = [line for line in lines if line.strip()]
    first = filled[0].strip()
    if first.startswith("{") or is_json_list(first) or (JSON_LIST_START.match(text) and is_json_list(text.strip())):
        return "jsonl"
    if TMX_START.match(text):
        return "tmx"
    if share(LIBSVM.fullmatch(line) is not None for line in filled) >= 0.9:
        raise InputError(
            "the lines are numbered features of each example (LIBSVM), and no task here reads those.",
            found=excerpt(first),
            fix="give the texts or sequences that the features were made of, with a label for each, as CSV",
        )
    if is_number_table(lines[:-1] if len(text.lstrip()) > SAMPLE_CHARACTERS else lines):  # the last may be cut
        return "spaced"
    if long_delimiter(text):
        return "csv"
    lines_as = line_format(lines, spread=spread_lines(text))
    if lines_as is not None:
        return "conll" if lines_as in ("conll", "conllu") else "tagged" if lines_as == "tagged" else "lines"
    if is_lexicon(lines):
        return "lexicon"
    if is_ruled(lines):
        return "ruled"
    if is_spaced(lines):
        return "spaced"
    if 2 * sum("\t" in line.strip() for line in filled) >= len(filled):
        return "tsv"
    fit = best_fit(text)
    if fit.alike >= 0.9 and (fit.spaced < 0.5 or are_facts(first_lines(text), fit.delimiter)):
        return "csv"
    return "text"


def are_facts(text: str, delimiter: str) -> bool:
    """Whether lines with a space after each delimiter are rows of a table, not sentences: many, wide and terse."""
    rows = read_delimited(text, "", delimiter, quoted=True).rows
    widths = Counter(map(len, rows))
    width, same = widths.most_common(1)[0]
    words = sum(len(cell.split()) for row in rows for cell in row)
    return len(rows) >= 2 * MIN_LINES and width > 2 and same >= 0.95 * len(rows) and words <= 2 * width * len(rows)


def first_lines(text: str) -> str:
    """The first lines of a text, from the first one that is not blank."""
    return "\n".join(text.lstrip()[:SAMPLE_CHARACTERS].split("\n")[:SAMPLE_LINES])


def spread_lines(text: str) -> list[str]:
    """The first lines of a text, and as many at equal distances after them: its labels may be sorted."""
    head = first_lines(text)
    begin = len(text) - len(text.lstrip()) + len(head)
    lines = head.split("\n")
    starts = {text.find("\n", begin + at * (len(text) - begin) // SAMPLE_LINES) + 1 for at in range(SAMPLE_LINES)}
    found = []
    for start in sorted(starts - {0}):
        end = text.find("\n", start)
        found.append(text[start : end if end >= 0 else len(text)])
    return lines + [line for line in found if line.strip()]


def is_json_list(line: str) -> bool:
    """Whether a line is a JSON list."""
    try:
        return line.startswith("[") and isinstance(json.loads(line), list)
    except (ValueError, RecursionError):
        return False


def line_format_of(text: str, kind: Kind) -> LineFormat | None:
    """The format of a text of word or label lines, among files of this kind; None for any other."""
    lines = first_lines(text).split("\n")
    if kind == "conll":
        return "conllu" if is_conllu([line for line in lines if line.strip()], least=0.5) else "conll"
    found = line_format(lines, spread=spread_lines(text)) if kind in ("tsv", "lines", "tagged") else None
    return None if kind == "tsv" and found not in ("conll", "conllu") else found


def line_format(lines: Sequence[str], *, spread: Sequence[str] = ()) -> LineFormat | None:
    """The format of lines with one word each or with a label before a text; None for a table or plain text. `spread`
    are lines from all parts of the file.
    """
    filled = [line for line in lines if not is_blank(line)]
    if not filled:
        return None
    if is_conllu(filled):
        return "conllu"
    if share(line.startswith(FASTTEXT) for line in filled) >= 0.9:
        return "fasttext"
    if is_conll(lines):
        return "conll"
    if any(separator in filled[0] for separator in SEPARATORS) and tag_separator(filled):
        return "tagged"
    if share(COARSE_FINE.fullmatch(line) is not None for line in filled) >= 0.9:
        return "trec"
    return "labelled" if begin_with_labels([line for line in spread or lines if not is_blank(line)]) else None


def is_blank(line: str) -> bool:
    """Whether a line holds white space and byte order marks only."""
    return not line.replace(BYTE_ORDER_MARK, "").strip()


def share(truths: Iterable[bool]) -> float:
    """The share of true values, from 0 to 1."""
    listed = list(truths)
    return sum(listed) / max(1, len(listed))


def is_conllu(filled: Sequence[str], least: float = 0.9) -> bool:
    """Whether at least this share of the lines has ten columns, the first a word id and the seventh a word's head."""
    rows = [line.split("\t") for line in filled if not line.startswith("#")]
    whole = [row for row in rows if len(row) == 10 and WORD_ID.fullmatch(row[0])]
    return bool(rows) and share(HEAD.fullmatch(row[6]) is not None for row in whole) * len(whole) >= least * len(rows)


def is_conll(lines: Sequence[str]) -> bool:
    """Whether nearly all lines have the same number of columns, words first and tags last, with blank lines between;
    without those, the tags must be such as B-PER and O.
    """
    if any(line.startswith(DOCUMENT_START) for line in lines):
        return True
    blocks = sentence_lines(lines)
    rows = [line.split("\t") if "\t" in line else line.split() for block in blocks for line in block]
    if not rows:
        return False
    if len(blocks) < 2:
        tags = [row[-1] for row in rows if len(row) > 1]
        return len(rows) >= MIN_LINES and share(map(is_entity, tags)) >= 0.95 and 2 <= len({*tags}) < len(tags) / 3
    width, same = Counter(map(len, rows)).most_common(1)[0]
    if not 2 <= width <= MAX_COLUMNS or same < 0.9 * len(rows) or len(rows) < 2 * len(blocks):
        return False
    rows = [row for row in rows if len(row) == width]
    distinct = [len({row[at] for row in rows}) for at in range(width)]
    tagged = any(2 <= count < max(distinct) and 3 * count <= len(rows) + 3 for count in distinct[1:])
    spaced = share(" " in cell.strip() for row in rows for cell in row)
    return tagged and spaced < 0.05


def is_entity(tag: str) -> bool:
    """Whether a tag is O, or B-PER and the like."""
    return ENTITY.fullmatch(tag) is not None


def sentence_lines(lines: Sequence[str]) -> list[list[str]]:
    """The lines of each sentence, without comments before them and starts of documents."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if is_blank(line):
            blocks.append([])
        elif not line.startswith(DOCUMENT_START) and not (line.startswith(("# ", "#\t")) and not blocks[-1]):
            blocks[-1].append(line)
    return [block for block in blocks if block]


def begin_with_labels(filled: Sequence[str]) -> bool:
    """Whether nearly all lines begin with one of few repeated words, followed by text."""
    parts = [line.split(None, 1) for line in filled]
    whole = [part for part in parts if len(part) == 2]
    if len(whole) < max(MIN_LINES, 0.95 * len(parts)) or any("\t" in line for line in filled):
        return False
    firsts = Counter(part[0] for part in whole)
    once = sum(count == 1 for count in firsts.values())
    few = 1 < len(firsts) <= min(50, max(2, len(whole) // 20)) and once <= 0.01 * len(whole)
    varied = len({part[1] for part in whole}) > len(whole) / 2
    return few and varied and all(LABEL_WORD.fullmatch(label) for label in firsts)


def delimiter_of(text: str) -> str:
    """The delimiter of a CSV file; a comma where none is clear, or below a header of one name without quotes, where
    commas belong to the texts, a sign that stands nowhere in the file.
    """
    several = long_delimiter(text)
    if several:
        return several
    fit = best_fit(text)
    if fit.alike >= 0.5:
        return fit.delimiter
    header = text.lstrip(f"\n{BYTE_ORDER_MARK}").partition("\n")[0]
    is_one_name = '"' not in text and not any(sign in header for sign in DELIMITERS)
    return next((sign for sign in (",", ";", "|", "\t") if sign not in text), ",") if is_one_name else ","


def long_delimiter(text: str) -> str:
    """The delimiter of several signs that stands equally often in nearly every line; empty: there is none, or one sign
    fits as well.
    """
    filled = [line for line in first_lines(text).split("\n") if line.strip()]
    for delimiter in LONG_DELIMITERS:
        counts = Counter(line.count(delimiter) for line in filled).most_common(1)
        fits = counts and counts[0][0] > 0 and len(filled) >= MIN_LINES and counts[0][1] >= 0.95 * len(filled)
        if fits and (delimiter not in WEAK_DELIMITERS or best_fit(text).alike < 0.9):
            return delimiter
    return ""


class DelimiterFit(NamedTuple):
    """How well a delimiter fits: the share of rows of the usual width, and of delimiters before a space."""

    delimiter: str
    alike: float
    spaced: float

    @property
    def score(self) -> float:
        """Higher is better."""
        return self.alike * (1 - self.spaced / 2)


def best_fit(text: str) -> DelimiterFit:
    """The delimiter that fits the first lines best."""
    return max((fit_of(first_lines(text), delimiter) for delimiter in DELIMITERS), key=lambda fit: fit.score)


def fit_of(text: str, delimiter: str) -> DelimiterFit:
    """How well a delimiter fits; 0 where most rows have one field."""
    records = read_delimited(text, "", delimiter, quoted=True)
    widths = Counter(map(len, records.rows))
    if not widths:
        return DelimiterFit(delimiter, 0.0, 0.0)
    width, rows = widths.most_common(1)[0]
    spaced = share(cell.startswith(" ") for cells in records.rows for cell in cells[1:])
    alike = rows / (len(records.rows) + len(records.refused)) if width > 1 else 0.0
    return DelimiterFit(delimiter, alike, spaced)
