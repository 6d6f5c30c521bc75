"""Tables drawn for people: ruled with bars as databases and Markdown do, or with columns that spaces separate.

psql        id | text | label        Markdown   | id | text |        mysql   +----+------+
           ----+------+-------                  |----|------|                | id | text |
"""

import re
from collections import Counter
from collections.abc import Sequence

from atento.data.records import Place, Records, Refusal, collect, counted, excerpt, without_blank_end

RULE = re.compile(r"[\s|+:=-]*[-=]{2,}[\s|+:=-]*")
FOOTER = re.compile(r"\(\d+ rows?\)|\d+ rows? in set.*")
BAR = "|"
FIELD = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')
NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|\.\d+)(?:[eE][+-]?\d+)?|NA|NaN|\?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}.*")
COMMENTS = ("#", "%")
MIN_LINES = 8
MOST_FIELDS = 200


def is_ruled(lines: Sequence[str]) -> bool:
    """Whether the first lines are a header and a rule of dashes below it, with bars between the columns."""
    filled = [line for line in lines if line.strip()][:4]
    if filled and filled[0].lstrip().startswith("+") and RULE.fullmatch(filled[0]):
        filled = filled[1:]
    if len(filled) < 3 or not RULE.fullmatch(filled[1]) or not re.search(r"[|+]", filled[1]):
        return False
    return BAR in filled[0] and len(cells_between(filled[0])) == len(cells_between(filled[2]))


def read_ruled(text: str, file: str) -> Records:
    """The rows between the rules; the footer is left out."""
    lines = without_blank_end(text.split("\n"))
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    inner = [(at, line) for at, line in numbered if not (RULE.fullmatch(line) or FOOTER.fullmatch(line.strip()))]
    header, body = cells_between(inner[0][1]), inner[1:]
    width = len(header)
    rows = [(number, cells_between(line)) for number, line in body]
    names = tuple(name or str(at) for at, name in enumerate(header, start=1))

    def locate(line: int, number: int) -> Place:
        starts = [found.start() + 1 for found in re.finditer(r"[^|]+", lines[line - 1])]
        return Place(file, line, starts[number] if number < len(starts) else len(lines[line - 1]) + 1)

    kept, starts, refused = collect(
        (number, cells if len(cells) == width else wrong_width(file, number, cells, width)) for number, cells in rows
    )
    notes = (f"{file} is a table ruled with bars; line {inner[0][0]} names its columns",)
    return Records(names, kept, starts, refused, locate, notes)


def wrong_width(file: str, number: int, cells: Sequence[str], width: int) -> Refusal:
    """The refusal of a line with more or fewer cells: a bar inside a text cannot be told from one between cells."""
    problem = f"the row has {counted(len(cells), 'cell')} where {width} are expected."
    return Refusal(file, number, 1, problem, found=excerpt(BAR.join(cells)), fix="write the row with as many bars")


def cells_between(line: str) -> tuple[str, ...]:
    """The cells of a line, without the bars at its ends."""
    bare = line.strip()
    if bare.startswith(BAR) and bare.endswith(BAR) and len(bare) > 1:
        bare = bare[1:-1]
    return tuple(cell.strip() for cell in bare.split(BAR))


def is_spaced(lines: Sequence[str]) -> bool:
    """Whether spaces separate the columns of a table: as many fields in every line, and a column of numbers or dates.

    The header may be one name short, as R writes it, and a field may stand between quotes.
    """
    rows = [fields_of(line) for line in lines if line.strip()]
    if len(rows) < MIN_LINES:
        return False
    width, same = Counter(map(len, rows[1:])).most_common(1)[0]
    tabbed = max(line.strip().count("\t") for line in lines)
    if (
        width <= 2 * tabbed + 1
        or not 2 <= width <= MOST_FIELDS
        or same < len(rows) - 1
        or not width - 1 <= len(rows[0]) <= width
    ):
        return False
    columns = list(zip(*rows[1:], strict=True))
    timed = [all(DATE.fullmatch(cell) for cell in column) for column in columns]
    numeric = [all(NUMBER.fullmatch(cell) for cell in column) for column in columns]
    named = not any(NUMBER.fullmatch(cell) for cell in rows[0])
    quoted = all('"' in line for line in lines if line.strip())
    return any(numeric) and (any(timed) or (named and sum(numeric) > 1) or quoted) and not all([*numeric, not named])


def is_number_table(lines: Sequence[str]) -> bool:
    """Whether every line but comments at the beginning holds as many numbers, with spaces between them."""
    rows = [line.split() for line in lines[comments_above(lines) :] if line.strip()]
    if len(rows) < MIN_LINES or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    return not any("\t" in line.strip() for line in lines) and all(
        NUMBER.fullmatch(cell) for row in rows for cell in row
    )


def comments_above(lines: Sequence[str]) -> int:
    """How many lines before the first row are comments or blank."""
    return next((at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(COMMENTS)), 0)


def fields_of(line: str) -> tuple[str, ...]:
    """The fields of a line, without the quotes about them."""
    return tuple(
        match[1].replace('""', '"') if match[1] is not None else match[2] for match in FIELD.finditer(line.strip())
    )


def read_spaced(text: str, file: str) -> Records:
    """The rows of such lines; a header that is one name short leaves the first column without a name."""
    lines = without_blank_end(text.split("\n"))
    above = comments_above(lines)
    numbered = [
        (number, fields_of(line)) for number, line in enumerate(lines, start=1) if number > above and line.strip()
    ]
    width = Counter(len(fields) for _, fields in numbered).most_common(1)[0][0]
    rows = [(number, ("", *fields) if len(fields) == width - 1 else fields) for number, fields in numbered]

    def locate(line: int, number: int) -> Place:
        starts = [found.start() + 1 for found in FIELD.finditer(lines[line - 1])]
        starts = [1, *starts] if len(starts) == width - 1 else starts
        return Place(file, line, starts[number] if number < len(starts) else len(lines[line - 1]) + 1)

    notes = [f"{file}: spaces separate the columns"]
    notes += [f"{counted(above, 'line')} of comments above the rows left out: {excerpt(lines[0])}"] if above else []
    return Records((), [cells for _, cells in rows], [number for number, _ in rows], [], locate, tuple(notes))
