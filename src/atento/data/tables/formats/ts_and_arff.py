"""Labelled sequences in the formats of the UCR and UEA archives: .ts of sktime and aeon, and .arff of Weka.

A .ts file has a header of @tags, then one case a line: channels separated by colons, the numbers of a channel by
commas, the label last; `?` is a missing number. With timestamps a step is `(time,number)`.

An .arff file has numeric attributes and a class, or, with several channels, one quoted relation a case, its channels
separated by a written line break: `'1,2,3\n4,5,6',label`.
"""

import csv
import re
from typing import NamedTuple

from atento.data.records import (
    Place,
    Records,
    Refusal,
    Row,
    blank,
    collect,
    counted,
    excerpt,
    in_words,
    without_blank_end,
)
from atento.data.tables.wide import LABEL, SEQUENCE, TARGET, channel_cells, without_missing_end, write_channels
from atento.errors import InputError

COLON = re.compile(r":(?![^()]*\))")  # but not one of a timestamp in brackets
TIMESTAMPED = re.compile(r"\(([^,()]*),([^()]*)\)")
TRUE = "true"
ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s+(.+)", re.IGNORECASE)
QUOTED = re.compile(r"""\s*(['"])(.*)\1\s*,\s*(.+?)\s*""")
NUMERIC = ("numeric", "real", "integer")
LINE_END = "\\n"  # as two characters


class TsHeader(NamedTuple):
    """The tags of a .ts file."""

    tags: dict[str, list[str]]  # in lower case -> the words after them
    first: int  # index of the line of the first case

    def is_true(self, tag: str) -> bool:
        """Whether the value of a tag is true."""
        return [word.lower() for word in self.tags.get(tag, [])[:1]] == [TRUE]

    @property
    def labels(self) -> list[str]:
        """The labels that the file lists; none where it does not."""
        return self.tags.get("classlabel", [])[1:] if self.is_true("classlabel") else []

    @property
    def last_column(self) -> str:
        """What follows the channels of a case: a label, a number, or nothing."""
        return LABEL if self.is_true("classlabel") else TARGET if self.is_true("targetlabel") else ""

    @property
    def channels(self) -> int:
        """The number of channels; 0 where it is that of the first case."""
        number = next(iter(self.tags.get("dimensions") or self.tags.get("dimension") or [""]), "")
        return int(number) if number.isdigit() else int(self.is_true("univariate"))


def read_ts(text: str, file: str) -> Records:
    """The rows of a .ts file: a sequence and its label or number for each case."""
    lines = without_blank_end(text.split("\n"))
    head = read_ts_header(lines, file)
    channels, stamped = head.channels, head.is_true("timestamps")

    def row(number: int, line: str) -> Row | Refusal:
        nonlocal channels
        case = read_case(line, file, number, head, channels) if line.strip() else blank(file, number)
        if isinstance(case, Refusal):
            return case
        channels = channels or len(case[0])
        return write_channels(case[0]), *([case[1]] if head.last_column else [])

    cases = enumerate(lines[head.first :], start=head.first + 1)
    rows, numbers, refused = collect((at, row(at, line)) for at, line in cases if not line.lstrip().startswith("#"))

    def locate_number(line: int, step: int, channel: int) -> Place:
        return Place(file, line, number_column(lines[line - 1], step, channel, stamped=stamped))

    def locate(line: int, column: int) -> Place:
        if column == 0 or not head.last_column:
            return Place(file, line, 1)
        return Place(file, line, len(lines[line - 1]) - len(COLON.split(lines[line - 1])[-1].lstrip()) + 1)

    columns = (SEQUENCE, *([head.last_column] if head.last_column else []))
    notes: tuple[str, ...] = (
        f"{file} is read as a .ts file: {counted(len(rows), 'sequence')} of {counted(channels, 'channel')}",
    )
    if stamped:
        notes += ("timestamps are not read: steps are taken in the order of the file",)
    return Records(columns, rows, numbers, refused, locate, notes, locate_number)


def read_ts_header(lines: list[str], file: str) -> TsHeader:
    """The tags before @data; an error where that line is missing."""
    tags: dict[str, list[str]] = {}
    for at, line in enumerate(lines):
        words = line.strip().split()
        if not words or words[0].startswith("#"):
            continue
        if not words[0].startswith("@"):
            break
        if words[0].lower() == "@data":
            return TsHeader(tags, at + 1)
        tags[words[0][1:].lower()] = words[1:]
    raise InputError(
        f"{file}:1:1: this is no .ts file: there is no line @data.",
        found=excerpt(lines[0] if lines else ""),
        fix="write the tags of a .ts file before the cases, @data last, or give the file as CSV or JSONL",
    )


def read_case(
    line: str, file: str, number: int, head: TsHeader, channels: int
) -> tuple[list[list[str]], str] | Refusal:
    """The cells of each channel of a case, and its label."""
    parts = [part.strip() for part in COLON.split(line)]
    label = parts.pop() if head.last_column else ""
    if channels and len(parts) != channels:
        return wrong_channels(line, file, number, head, channels=channels, there=len(parts))
    if head.labels and label not in head.labels:
        fix = f"write one of {in_words(head.labels)}, or add it to @classLabel"
        return Refusal(file, number, len(line) - len(label) + 1, "the label is not in @classLabel.", repr(label), fix)
    stamped = head.is_true("timestamps")
    cells = [
        channel_cells(",".join(value for _, value in TIMESTAMPED.findall(part)) if stamped else part) for part in parts
    ]
    other = next((at for at, channel in enumerate(cells) if len(channel) != len(cells[0])), -1)
    if other >= 0 or not cells:
        lengths = in_words([str(len(channel)) for channel in cells])
        problem = f"channel {other + 1} has {len(cells[other])} steps where channel 1 has {len(cells[0])}."
        at = number_column(line, 0, other, stamped=stamped)
        fix = "give all channels equally many steps"
        return Refusal(file, number, at, problem, f"channels of {lengths} steps", fix)
    return cells, label


def wrong_channels(line: str, file: str, number: int, head: TsHeader, *, channels: int, there: int) -> Refusal:
    """The refusal of a case with another number of channels than the header or the first case has."""
    if not there:
        fix = f"write a colon and one of {in_words(head.labels)} at its end" if head.labels else "write a colon and it"
        return Refusal(file, number, 1, f"the case has no {head.last_column} after a colon.", excerpt(line), fix)
    expected = (
        "@univariate is true" if head.is_true("univariate") else f"there should be {counted(channels, 'channel')}"
    )
    fix = f"separate channels by colons, the {head.last_column or 'last channel'} last"
    if head.is_true("univariate"):
        fix = f"write @univariate false and @dimensions {there} in the header where every case has {there}"
    return Refusal(file, number, 1, f"the case has {counted(there, 'channel')}: {expected}.", excerpt(line), fix)


def number_column(line: str, step: int, channel: int, *, stamped: bool) -> int:
    """The column, from 1, of a number of a case."""
    parts = COLON.split(line)
    begin = sum(len(part) + 1 for part in parts[:channel])
    part = parts[channel]
    if stamped:
        found = [match.start(2) for match in TIMESTAMPED.finditer(part)]
        return begin + (found[step] if step < len(found) else 0) + 1
    cells = part.split(",")
    inner = sum(len(cell) + 1 for cell in cells[:step])
    blank_before = len(cells[step]) - len(cells[step].lstrip()) if step < len(cells) else 0
    return begin + inner + blank_before + 1


def read_arff(text: str, file: str) -> Records:
    """The rows of an .arff file: a sequence and its label for each case."""
    lines = without_blank_end(text.split("\n"))
    kinds, first = read_arff_header(lines, file)
    relational = "relational" in (kind.lower() for kind in kinds)
    numeric = [at for at, kind in enumerate(kinds) if kind.split()[0].lower() in NUMERIC]
    label = next((at for at in reversed(range(len(kinds))) if at not in numeric), -1)
    if not relational and (not numeric or label < 0):
        raise InputError(
            f"{file}:1:1: these are no labelled sequences.",
            found=f"{counted(len(numeric), 'numeric attribute')} of {len(kinds)}, and a class is needed beside them",
            fix="declare the steps as numeric attributes and the class last",
        )
    shorter = 0

    def row(number: int, line: str) -> Row | Refusal:
        nonlocal shorter
        if not line.strip():
            return blank(file, number)
        channels, name = read_relation(line) if relational else read_flat(line, numeric, label, len(kinds))
        if not channels or len({len(channel) for channel in channels}) > 1:
            fix = "give every attribute a value, and all channels equally many steps"
            return Refusal(file, number, 1, "the case does not fit its attributes.", excerpt(line), fix)
        kept = without_missing_end(channels)
        shorter += len(kept[0]) < len(channels[0])
        return write_channels(kept), name

    cases = enumerate(lines[first:], start=first + 1)
    rows, numbers, refused = collect((at, row(at, line)) for at, line in cases if not line.lstrip().startswith("%"))
    notes: tuple[str, ...] = (f"{file} is read as .arff: {counted(len(rows), 'sequence')}",)
    if shorter:
        notes += (f"{counted(shorter, 'case')} with missing numbers at the end: read as shorter sequences",)

    def locate_number(line: int, step: int, channel: int) -> Place:
        written = lines[line - 1]
        begin = written.index(written.lstrip()[0]) + relational
        parts = written[begin:].split(LINE_END)
        before = sum(len(part) + len(LINE_END) for part in parts[:channel])
        return Place(file, line, begin + before + sum(len(cell) + 1 for cell in parts[channel].split(",")[:step]) + 1)

    def locate(line: int, column: int) -> Place:
        return Place(file, line, 1 if column == 0 else lines[line - 1].rstrip().rindex(",") + 2)

    return Records((SEQUENCE, LABEL), rows, numbers, refused, locate, notes, locate_number)


def read_arff_header(lines: list[str], file: str) -> tuple[list[str], int]:
    """The type of each outer attribute, and the index of the line of the first case."""
    kinds: list[str] = []
    depth = 0
    for at, line in enumerate(lines):
        word = line.strip().lower()
        if word.startswith("@data"):
            return kinds, at + 1
        if word.startswith("@end"):
            depth -= 1
        found = ATTRIBUTE.match(line.strip())
        if found is not None:
            kinds += [found[2].strip()] if depth == 0 else []
            depth += found[2].strip().lower() == "relational"
    raise InputError(
        f"{file}:1:1: this is no .arff file: there is no line @data.",
        found=excerpt(lines[0] if lines else ""),
        fix="write @relation, the attributes and @data before the cases, or give the file as CSV",
    )


def read_flat(line: str, numeric: list[int], label: int, width: int) -> tuple[list[list[str]], str]:
    """The single channel of a case, and its class; empty where the case has another number of values."""
    cells = next(csv.reader([line], quotechar="'", skipinitialspace=True))
    if len(cells) != width:
        return [], ""
    return [channel_cells(",".join(cells[at] for at in numeric))], cells[label].strip()


def read_relation(line: str) -> tuple[list[list[str]], str]:
    """The channels of a quoted case, and its class; empty where it is not quoted."""
    found = QUOTED.fullmatch(line)
    if found is None:
        return [], ""
    return [channel_cells(channel) for channel in found[2].split(LINE_END)], found[3].strip("'\"")
