"""Files of Weka (.arff) as the UCR and UEA archives have them: numeric attributes and a class, or one relation a case.

Of several channels each case is a quoted table, channels parted by a written line end: `'1,2,3\\n4,5,6',label`.
"""

import csv
import re

from atento.data.records import Place, Records, Refusal, blank, counted, excerpt, without_blank_end
from atento.data.sequences.written import LABEL, SEQUENCE, cells_of, without_missing_end, write_channels
from atento.errors import InputError

ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s+(.+)", re.IGNORECASE)
QUOTED = re.compile(r"""\s*(['"])(.*)\1\s*,\s*(.+?)\s*""")
NUMERIC = ("numeric", "real", "integer")
LINE_END = "\\n"  # as two characters


def read_arff(text: str, file: str) -> Records:
    """A sequence and its label from each case."""
    lines = without_blank_end(text.split("\n"))
    kinds, first = read_head(lines, file)
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


def read_head(lines: list[str], file: str) -> tuple[list[str], int]:
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
