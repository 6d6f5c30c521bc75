"""Files of the UCR and UEA archives as sktime and aeon write them (.ts): a head of @tags, then one case a line.

Channels are parted by colons, the numbers of a channel by commas, and the last part is the label; `?` is a number that
is missing. With time stamps a step is `(time,number)`.

Files of Weka (.arff) as the UCR and UEA archives have them: numeric attributes and a class, or one relation a case.
Of several channels each case is a quoted table, channels parted by a written line end: `'1,2,3\n4,5,6',label`.
"""

import csv
import re
from typing import NamedTuple

from atento.data.records import Place, Records, Refusal, blank, counted, excerpt, in_words, without_blank_end
from atento.data.tables.wide import LABEL, SEQUENCE, TARGET, cells_of, without_missing_end, write_channels
from atento.errors import InputError

COLON = re.compile(r":(?![^()]*\))")  # of a time stamp within brackets none parts channels
STAMPED = re.compile(r"\(([^,()]*),([^()]*)\)")
TRUE = "true"


class Head(NamedTuple):
    """What the tags say."""

    tags: dict[str, list[str]]  # in small letters -> the words after them
    first: int  # line of the first case, from 0

    def says(self, tag: str) -> bool:
        """Whether a tag is true."""
        return [word.lower() for word in self.tags.get(tag, [])[:1]] == [TRUE]

    @property
    def labels(self) -> list[str]:
        """The labels there are; none where the file does not list them."""
        return self.tags.get("classlabel", [])[1:] if self.says("classlabel") else []

    @property
    def last_column(self) -> str:
        """What the last part of a case is; empty: there is none but channels."""
        return LABEL if self.says("classlabel") else TARGET if self.says("targetlabel") else ""

    @property
    def channels(self) -> int:
        """How many; 0: as many as the first case has."""
        number = next(iter(self.tags.get("dimensions") or self.tags.get("dimension") or [""]), "")
        return int(number) if number.isdigit() else int(self.says("univariate"))


def read_ts(text: str, file: str) -> Records:
    """A sequence and its label, or its number, from each case."""
    lines = without_blank_end(text.split("\n"))
    head = read_ts_head(lines, file)
    channels, stamped = head.channels, head.says("timestamps")
    rows: list[tuple[str, ...]] = []
    numbers: list[int] = []
    refused: list[Refusal] = []
    for at in range(head.first, len(lines)):
        if not lines[at].strip():
            refused.append(blank(file, at + 1))
            continue
        if lines[at].lstrip().startswith("#"):
            continue
        case = read_case(lines[at], file, at + 1, head, channels)
        if isinstance(case, Refusal):
            refused.append(case)
            continue
        parts, label = case
        channels = channels or len(parts)
        rows.append((write_channels(parts), *([label] if head.last_column else [])))
        numbers.append(at + 1)

    def inside(line: int, step: int, channel: int) -> Place:
        return Place(file, line, start_of(lines[line - 1], step, channel, stamped=stamped))

    def locate(line: int, column: int) -> Place:
        if column == 0 or not head.last_column:
            return Place(file, line, 1)
        return Place(file, line, len(lines[line - 1]) - len(COLON.split(lines[line - 1])[-1].lstrip()) + 1)

    columns = (SEQUENCE, *([head.last_column] if head.last_column else []))
    notes: tuple[str, ...] = (
        f"{file} is read as a .ts file: {counted(len(rows), 'sequence')} of {counted(channels, 'channel')}",
    )
    if stamped:
        notes += ("time stamps are not read: steps are taken in the order they stand",)
    return Records(columns, rows, numbers, refused, locate, notes, inside)


def read_ts_head(lines: list[str], file: str) -> Head:
    """The tags before @data; a file without it is refused."""
    tags: dict[str, list[str]] = {}
    for at, line in enumerate(lines):
        words = line.strip().split()
        if not words or words[0].startswith("#"):
            continue
        if not words[0].startswith("@"):
            break
        if words[0].lower() == "@data":
            return Head(tags, at + 1)
        tags[words[0][1:].lower()] = words[1:]
    raise InputError(
        f"{file}:1:1: this is no .ts file: no line says @data.",
        found=excerpt(lines[0] if lines else ""),
        fix="write the tags of a .ts file before the cases, @data last, or give the file as CSV or JSONL",
    )


def read_case(line: str, file: str, number: int, head: Head, channels: int) -> tuple[list[list[str]], str] | Refusal:
    """The cells of each channel, and the label."""
    parts = [part.strip() for part in COLON.split(line)]
    label = parts.pop() if head.last_column else ""
    if channels and len(parts) != channels:
        return other_width(line, file, number, head, channels=channels, there=len(parts))
    if head.labels and label not in head.labels:
        fix = f"write one of {in_words(head.labels)}, or add it to @classLabel"
        return Refusal(file, number, len(line) - len(label) + 1, "the label is not in @classLabel.", repr(label), fix)
    stamped = head.says("timestamps")
    cells = [cells_of(",".join(value for _, value in STAMPED.findall(part)) if stamped else part) for part in parts]
    odd = next((at for at, channel in enumerate(cells) if len(channel) != len(cells[0])), -1)
    if odd >= 0 or not cells:
        lengths = in_words([str(len(channel)) for channel in cells])
        problem = f"channel {odd + 1} has {len(cells[odd])} steps where channel 1 has {len(cells[0])}."
        at = start_of(line, 0, odd, stamped=stamped)
        return Refusal(file, number, at, problem, f"channels of {lengths} steps", "give all channels as many steps")
    return cells, label


def other_width(line: str, file: str, number: int, head: Head, *, channels: int, there: int) -> Refusal:
    """The refusal of a case with another number of channels than the head or the first case has."""
    if not there:
        fix = f"write a colon and one of {in_words(head.labels)} at its end" if head.labels else "write a colon and it"
        return Refusal(file, number, 1, f"the case has no {head.last_column} after a colon.", excerpt(line), fix)
    said = "@univariate is true" if head.says("univariate") else f"there should be {counted(channels, 'channel')}"
    fix = f"part channels by colons, the {head.last_column or 'last channel'} last"
    if head.says("univariate"):
        fix = f"write @univariate false and @dimensions {there} in the head where every case has {there}"
    return Refusal(file, number, 1, f"the case has {counted(there, 'channel')}: {said}.", excerpt(line), fix)


def start_of(line: str, step: int, channel: int, *, stamped: bool) -> int:
    """The column, from 1, where a number of a case begins."""
    parts = COLON.split(line)
    begin = sum(len(part) + 1 for part in parts[:channel])
    part = parts[channel]
    if stamped:
        found = [match.start(2) for match in STAMPED.finditer(part)]
        return begin + (found[step] if step < len(found) else 0) + 1
    cells = part.split(",")
    inner = sum(len(cell) + 1 for cell in cells[:step])
    blank_before = len(cells[step]) - len(cells[step].lstrip()) if step < len(cells) else 0
    return begin + inner + blank_before + 1


ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s+(.+)", re.IGNORECASE)
QUOTED = re.compile(r"""\s*(['"])(.*)\1\s*,\s*(.+?)\s*""")
NUMERIC = ("numeric", "real", "integer")
LINE_END = "\\n"  # as two characters


def read_arff(text: str, file: str) -> Records:
    """A sequence and its label from each case."""
    lines = without_blank_end(text.split("\n"))
    kinds, first = read_arff_head(lines, file)
    relational = "relational" in (kind.lower() for kind in kinds)
    numeric = [at for at, kind in enumerate(kinds) if kind.split()[0].lower() in NUMERIC]
    label = next((at for at in reversed(range(len(kinds))) if at not in numeric), -1)
    if not relational and (not numeric or label < 0):
        raise InputError(
            f"{file}:1:1: these are no labelled sequences.",
            found=f"{counted(len(numeric), 'numeric attribute')} of {len(kinds)}, and a class is needed beside them",
            fix="declare the steps as numeric attributes and the class last",
        )
    rows: list[tuple[str, ...]] = []
    numbers: list[int] = []
    refused: list[Refusal] = []
    shorter = 0
    for at in range(first, len(lines)):
        line = lines[at]
        if line.lstrip().startswith("%"):
            continue
        if not line.strip():
            refused.append(blank(file, at + 1))
            continue
        channels, name = read_relation(line) if relational else read_flat(line, numeric, label, len(kinds))
        if not channels or len({len(channel) for channel in channels}) > 1:
            fix = "give every attribute a value, and all channels as many steps"
            refused.append(Refusal(file, at + 1, 1, "the case does not fit its attributes.", excerpt(line), fix))
            continue
        kept = without_missing_end(channels)
        shorter += len(kept[0]) < len(channels[0])
        rows.append((write_channels(kept), name))
        numbers.append(at + 1)
    notes: tuple[str, ...] = (f"{file} is read as .arff: {counted(len(rows), 'sequence')}",)
    if shorter:
        notes += (f"{counted(shorter, 'case')} with missing numbers at the end: read as shorter sequences",)

    def inside(line: int, step: int, channel: int) -> Place:
        written = lines[line - 1]
        begin = written.index(written.lstrip()[0]) + relational
        parts = written[begin:].split(LINE_END)
        before = sum(len(part) + len(LINE_END) for part in parts[:channel])
        return Place(file, line, begin + before + sum(len(cell) + 1 for cell in parts[channel].split(",")[:step]) + 1)

    def locate(line: int, column: int) -> Place:
        return Place(file, line, 1 if column == 0 else lines[line - 1].rstrip().rindex(",") + 2)

    return Records((SEQUENCE, LABEL), rows, numbers, refused, locate, notes, inside)


def read_arff_head(lines: list[str], file: str) -> tuple[list[str], int]:
    """The kind of each outer attribute, and the line of the first case, from 0."""
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
        f"{file}:1:1: this is no .arff file: no line says @data.",
        found=excerpt(lines[0] if lines else ""),
        fix="write @relation, the attributes and @data before the cases, or give the file as CSV",
    )


def read_flat(line: str, numeric: list[int], label: int, width: int) -> tuple[list[list[str]], str]:
    """The one channel of a case, and its class; nothing where the case has another number of values."""
    cells = next(csv.reader([line], quotechar="'", skipinitialspace=True))
    if len(cells) != width:
        return [], ""
    return [cells_of(",".join(cells[at] for at in numeric))], cells[label].strip()


def read_relation(line: str) -> tuple[list[list[str]], str]:
    """The channels of a quoted case, and its class; nothing where it is not quoted."""
    found = QUOTED.fullmatch(line)
    if found is None:
        return [], ""
    return [cells_of(channel) for channel in found[2].split(LINE_END)], found[3].strip("'\"")
