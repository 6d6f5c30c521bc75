"""Series in the format of the Monash archive (.tsf): a header of @tags, then a line for each series.

`T1:1979-01-01 00-00-00:1149.87,1053.8,?`: the attributes that the header names, then the numbers; `?` is a missing one.
A row has the attributes, the frequency of the header, and the numbers as one list.
"""

from atento.data.records import Place, Records, Refusal, Row, blank, collect, counted, excerpt, without_blank_end
from atento.data.tables.number_lists import is_missing, parse_number
from atento.errors import InputError

FREQUENCY, VALUES = "frequency", "values"  # names of columns that a header does not name
MISSING_NUMBER = "nan"
TSF_FREQUENCIES = {
    "yearly": "1y", "quarterly": "3mo", "monthly": "1mo", "weekly": "7d", "daily": "1d", "hourly": "1h",
    "half_hourly": "30min", "10_minutes": "10min", "minutely": "1min", "4_seconds": "4s", "10_seconds": "10s",
}  # fmt: skip


def read_tsf(text: str, file: str) -> Records:
    """The rows of a .tsf file."""
    lines = without_blank_end(text.split("\n"))
    attributes, frequency, first = read_tsf_header(lines, file)
    fixed = [TSF_FREQUENCIES.get(frequency, frequency)] if frequency else []

    def row(number: int, line: str) -> Row | Refusal:
        if not line.strip():
            return blank(file, number)
        parts = line.split(":")
        if len(parts) != len(attributes) + 1:
            problem = f"the line has {counted(len(parts) - 1, 'attribute')} before its numbers."
            fix = f"write {', '.join([*attributes, 'numbers'])} with colons between them"
            return Refusal(file, number, 1, problem, excerpt(line), fix)
        cells = [cell.strip() for cell in parts[-1].split(",")]
        bad = next((at for at, cell in enumerate(cells) if parse_number(cell) is None and not is_missing(cell)), -1)
        if bad >= 0:
            at = len(line) - len(parts[-1]) + sum(len(cell) + 1 for cell in cells[:bad]) + 1
            fix = "write a number, or ? where it is missing"
            return Refusal(file, number, at, f"value {bad + 1} is no number.", excerpt(cells[bad]), fix)
        numbers = " ".join(MISSING_NUMBER if is_missing(cell) else cell for cell in cells)
        return *(part.strip() for part in parts[:-1]), *fixed, numbers

    rows, numbers, refused = collect((at, row(at, line)) for at, line in enumerate(lines[first:], start=first + 1))
    columns = (*attributes, *([FREQUENCY] if fixed else []), VALUES)
    notes = (f"{file} is read as .tsf: {len(rows):,} series",)

    def locate(line: int, column: int) -> Place:
        before = lines[line - 1].split(":")[: min(column, len(attributes))]
        return Place(file, line, sum(len(part) + 1 for part in before) + 1)

    return Records(columns, rows, numbers, refused, locate, notes)


def read_tsf_header(lines: list[str], file: str) -> tuple[list[str], str, int]:
    """The names of the attributes, the frequency, and the index of the line of the first series."""
    attributes: list[str] = []
    frequency = ""
    for at, line in enumerate(lines):
        words = line.strip().split()
        tag = words[0].lower() if words else ""
        if tag == "@data":
            return attributes, frequency, at + 1
        if tag == "@attribute" and len(words) > 1:
            attributes.append(words[1])
        elif tag == "@frequency" and len(words) > 1:
            frequency = words[1].lower()
        elif words and not tag.startswith(("@", "#")):
            break
    raise InputError(
        f"{file}:1:1: this is no .tsf file: there is no line @data.",
        found=excerpt(lines[0] if lines else ""),
        fix="write the tags of a .tsf file before the series, @data last, or give the file as CSV",
    )
