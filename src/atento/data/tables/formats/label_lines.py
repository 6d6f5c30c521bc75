"""Lines with a label before a text: `__label__x text` (fastText), `COARSE:fine text` (TREC), `label text`."""

import re

from atento.data.records import Place, Records, Refusal, blank, collect, excerpt, join_items, without_blank_end
from atento.data.tables.sniffing import COARSE_FINE, FASTTEXT, LineFormat

LABELS = re.compile(rf"(?:{FASTTEXT}\S+(?:[ \t,]+|$))+")
FIRST_WORD = re.compile(r"(\S+)[ \t]+(\S.*)")
NOTES: dict[LineFormat, str] = {
    "fasttext": "each line is one or more labels after __label__, and a text",
    "trec": "each line is COARSE:fine and a text; coarse is the label unless --set data.label=fine",
    "labelled": "each line is a label, a space and a text",
}


def read_label_lines(text: str, file: str, kind: LineFormat) -> Records:
    """The rows of such lines, with columns label and text, or coarse, fine and text; other lines are refused."""
    lines = without_blank_end(text.split("\n"))
    rows, starts, refused = collect(
        (number, cells_of(line, kind) or refusal(file, number, line, kind))
        for number, line in enumerate(lines, start=1)
    )
    columns = ("coarse", "fine", "text") if kind == "trec" else ("label", "text")

    def locate(line: int, at: int) -> Place:
        found = lines[line - 1]
        if at >= len(columns):
            return Place(file, line, len(found) + 1)
        if columns[at] == "text":
            return Place(file, line, len(found) - len((cells_of(found, kind) or ("",))[-1]) + 1)
        return Place(file, line, len(FASTTEXT) + 1 if kind == "fasttext" else 1)

    return Records(columns, rows, starts, refused, locate, (NOTES[kind],))


def cells_of(line: str, kind: LineFormat) -> tuple[str, ...] | None:
    """The labels and the text of a line; a fine label includes its coarse one, since `other` is in several."""
    if kind == "fasttext":
        found = LABELS.match(line)
        if found is None or not line[found.end() :].strip():
            return None
        labels = [label.removeprefix(FASTTEXT).rstrip(",") for label in found.group().split()]
        return join_items(labels), line[found.end() :]
    match = (COARSE_FINE if kind == "trec" else FIRST_WORD).fullmatch(line)
    if match is None:
        return None
    if kind == "trec":
        return match[1], f"{match[1]}:{match[2]}", match[3]
    return match[1].removesuffix(":"), match[2]


def refusal(file: str, number: int, line: str, kind: LineFormat) -> Refusal:
    """The refusal of a line that is blank, or without a label or a text."""
    if not line.strip():
        return blank(file, number)
    written = {"fasttext": "__label__good a text", "trec": "COARSE:fine a text"}.get(kind, "label a text")
    begun = {"fasttext": LABELS, "trec": re.compile(r"[A-Z][A-Z0-9_]*:[A-Za-z0-9_]+\s*$")}.get(kind, FIRST_WORD)
    if begun.match(line) or kind == "labelled":
        return Refusal(
            file, number, len(line) + 1, "no text follows the label.", excerpt(line), f"write it as {written}"
        )
    return Refusal(file, number, 1, "the line does not begin with a label.", excerpt(line), f"write it as {written}")
