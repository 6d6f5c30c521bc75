"""Cells to numbers, a column at once: what is missing, what is no number, and what was decided about the others."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.numbers.cells import Decimal, NumberText, is_missing_mark, split_number
from atento.data.numbers.dialects import EITHER, NAMES, Dialect, dialect_of
from atento.data.numbers.units import SHARES, Unit, is_flag, unit_of
from atento.data.records import in_words

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]
INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
MIN_SHARE = 0.8  # of the cells that are not missing
MOST_MARKS, LONGEST_MARK = 2, 20  # texts, and their characters, that may stand for missing numbers in a column
LIMITS = ("<", ">")  # before the limit below or above which nothing is measured
MISSING = "nan"  # as Python writes a missing number
DECIMALS: dict[str, Decimal] = {"": "", "point": ".", "comma": ","}  # words of the key data.decimal
CHOICES = ("data.decimal=comma", "data.decimal=point")


class Around(NamedTuple):
    """What decides the dialect of a column besides its cells."""

    asked: Decimal = ""  # by the user
    elsewhere: Decimal = ""  # in the other columns
    delimiter: str = ","  # of the cells; empty: the file is no text with a delimiter


class Doubt(NamedTuple):
    """Why the numbers of a column cannot be used as they are; `{}` is the name of the column."""

    problem: str
    found: str
    fix: str
    choices: tuple[str, ...] = ()  # settings, one of which the user must choose


class NumberCells(NamedTuple):
    """The numbers of N cells; NaN where a number is missing or a cell is no number."""

    values: Numbers
    empty: Mask  # blank, or a mark of a missing number
    invalid: Mask  # neither missing nor a number
    decided: tuple[tuple[str, str], ...] = ()  # sentences with {} for the name of the column, and an example of each
    doubt: Doubt | None = None  # what must be settled before the numbers are used
    decimal: Decimal = ""  # the decimal sign that separators other than decimal points show; empty: none

    @property
    def is_numeric(self) -> bool:
        """Whether most cells that are not missing are numbers."""
        filled = len(self.values) - int(self.empty.sum())
        return filled > 0 and filled - int(self.invalid.sum()) >= MIN_SHARE * filled

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are whole."""
        filled = self.values[~self.empty & ~self.invalid]
        return bool(len(filled) and np.isfinite(filled).all() and (filled == np.rint(filled)).all())

    @property
    def is_plain(self) -> bool:
        """Whether the cells are written as Python writes numbers."""
        return not self.decided and self.doubt is None


def read_numbers(cells: Sequence[str], around: Around = Around()) -> NumberCells:
    """The numbers of a column, in the dialect of the whole column."""
    try:
        values = np.array([float(cell) for cell in cells], np.float64)
    except ValueError:
        return parse_cells(cells, around)
    if np.isfinite(values).all() and have_points(cells):
        return NumberCells(values, np.zeros(len(cells), bool), np.zeros(len(cells), bool))
    return parse_cells(cells, around)


def have_points(cells: Sequence[str]) -> bool:
    """Whether cells that Python reads as numbers have decimal points: one shows it, or none has a separator."""
    joined = "\n".join(cells)
    if "_" in joined:
        return False
    return "." not in joined or any("." in cell and not EITHER.fullmatch(cell.strip()) for cell in cells)


def parse_cells(cells: Sequence[str], around: Around) -> NumberCells:
    """The same cell by cell."""
    empty = np.array([is_missing_mark(cell) for cell in cells], bool)
    split = [None if missing else split_number(cell) for cell, missing in zip(cells, empty, strict=True)]
    unit = unit_of([number for number in split if number is not None])
    there = {row: number for row, number in enumerate(split) if number is not None and unit.fits(number)}
    numbers = list(there.values())
    dialect = dialect_of(numbers, **around._asdict(), money=unit.decimal)
    values = np.full(len(cells), np.nan)
    for row, number in there.items():
        value = dialect.value(number.body, number.exponent)
        if value is not None:
            values[row] = (-value if number.negative else value) * (number.multiple if unit.multiplies else 1)
    infinite = [row for row, cell in enumerate(cells) if cell[-1:] in "fFyY \t" and INFINITE.fullmatch(cell.strip())]
    values[infinite] = [float(cells[row]) for row in infinite]
    invalid = np.isnan(values) & ~empty
    marks = repeated_marks(cells, invalid, int(np.isfinite(values).sum()))
    if marks:
        marked = np.array([cell.strip() in marks for cell in cells], bool) & invalid
        empty, invalid = empty | marked, invalid & ~marked
    shown = {row: values[row] for row in there if not np.isnan(values[row])}
    decided = (*of_dialect(cells, there, shown, dialect), *of_unit(cells, there, shown, unit), *of_marks(marks))
    shows = dialect.surely and (dialect.decimal == "," or dialect.thousands)
    return NumberCells(values, empty, invalid, decided, doubt_of(dialect, unit), dialect.decimal if shows else "")


def repeated_marks(cells: Sequence[str], invalid: Mask, numbers: int) -> tuple[str, ...]:
    """One or two texts that repeat among numbers, without digits or as `<1`: they stand for missing ones."""
    texts = Counter(cells[row].strip() for row in np.flatnonzero(invalid).tolist())
    if not 0 < len(texts) <= MOST_MARKS or texts.total() > numbers:
        return ()
    fit = (
        count > 1 and len(text) <= LONGEST_MARK and (text[0] in LIMITS or not any(map(str.isdigit, text)))
        for text, count in texts.items()
    )
    return tuple(sorted(texts)) if all(fit) else ()


def of_dialect(
    cells: Sequence[str], there: dict[int, NumberText], values: dict[int, float], dialect: Dialect
) -> list[tuple[str, str]]:
    """What was decided about decimals, thousands and brackets."""
    rows = {
        "decimals are written with commas in {}": [
            row for row in values if dialect.decimal == "," and "," in there[row].body
        ],
        f"{NAMES.get(dialect.thousands, '')} separate thousands in {{}}": [
            row for row in values if dialect.thousands and dialect.thousands in there[row].body
        ],
        "numbers in brackets are negative in {}": [row for row in values if there[row].brackets],
    }
    said = [(note, example(cells, some[0], values)) for note, some in rows.items() if some]
    if dialect.assumed:
        sign, other = ("point", "comma") if "." in dialect.assumed else ("comma", "point")
        as_decimal, as_thousands = (Dialect(DECIMALS[key]).value(dialect.assumed) for key in (sign, other))
        shown = f"{dialect.assumed} is {as_decimal:.15g}; if it is {as_thousands:.15g}, pass --set data.decimal={other}"
        said.append((f"{sign}s are read as decimal {sign}s in {{}}", shown))
    return said


def of_unit(
    cells: Sequence[str], there: dict[int, NumberText], values: dict[int, float], unit: Unit
) -> list[tuple[str, str]]:
    """What was left out beside numbers."""
    said = [(f"the sign {unit.sign} of {{}} is left out", "")] if unit.sign else []
    if unit.sign in SHARES:
        said = [(said[0][0], example(cells, row, values)) for row in list(values)[:1]]
    multiplied = [row for row in values if unit.multiplies and there[row].multiple != 1]
    if multiplied:
        said.append(("K, M and B multiply numbers in {}", example(cells, multiplied[0], values)))
    flags = [row for row in values if is_flag(there[row]) and there[row].unit != unit.sign]
    if flags:
        said.append(("letters behind numbers are left out in {}", example(cells, flags[0], values)))
    return said


def of_marks(marks: Sequence[str]) -> list[tuple[str, str]]:
    """Which texts stand for missing numbers."""
    return [(f"{in_words([repr(mark) for mark in marks])} stands for a missing number in {{}}", "")] if marks else []


def example(cells: Sequence[str], row: int, values: dict[int, float]) -> str:
    """`12.336,60 is 12336.6`."""
    return f"{cells[row].strip()} is {values[row]:.15g}"


def doubt_of(dialect: Dialect, unit: Unit) -> Doubt | None:
    """What must be settled before the numbers of a column are used."""
    if unit.other:
        fix = f"write all numbers of a column in one unit, {unit.sign} or {unit.other}"
        return Doubt("{} holds numbers of two units.", f"{unit.sign} and {unit.other}", fix)
    if dialect.mixed is not None:
        one, other = dialect.mixed
        fix = "write all with one sign, or pass --set data.decimal=point or comma and leave the others out"
        return Doubt("decimals are written in two ways in {}.", f"{one} and {other}", fix, CHOICES)
    if not dialect.unclear:
        return None
    sign, other = ("point", "comma") if "." in dialect.unclear else ("comma", "point")
    decimal, thousands = (Dialect(DECIMALS[key]).value(dialect.unclear) for key in (sign, other))
    return Doubt(
        "the numbers of {} can be read in two ways.",
        f"{dialect.unclear} is {thousands:.15g} if {sign}s separate thousands, {decimal:.15g} if they are decimals",
        f"pass --set data.decimal={other} for {thousands:.15g}, or --set data.decimal={sign} for {decimal:.15g}",
        CHOICES,
    )


def tell_decided(columns: Sequence[tuple[str, NumberCells]]) -> list[str]:
    """Notes on what was decided about columns of numbers, each with the names of its columns."""
    names: dict[str, list[str]] = {}
    examples: dict[str, str] = {}
    for name, cells in columns:
        for sentence, shown in cells.decided:
            names.setdefault(sentence, []).append(repr(name))
            examples.setdefault(sentence, f": {shown}" if shown else "")
    return [sentence.format(in_words(several)) + examples[sentence] for sentence, several in names.items()]


def suggest_fix(cell: str) -> str:
    """How to mend a cell that is no number, for a message: with the number only where no other can be meant."""
    number = split_number(cell)
    if number is None:
        return "write a number there"
    dialect = dialect_of([number], delimiter="")
    value = dialect.value(number.body, number.exponent)
    if value is not None and PLAIN.fullmatch(cell.strip()) and not EITHER.fullmatch(cell.strip()):
        return "write it as the other numbers of its column are written"
    clear = dialect.surely or number.body.isdigit()
    if value is None or not clear or dialect.mixed or number.multiple != 1:
        return "write a number there, its decimals behind a point and its thousands without a separator"
    return f"write the number alone: {-value if number.negative else value:.15g}"


def write_plain(cells: Sequence[str], numbers: NumberCells) -> list[str]:
    """Cells as Python writes numbers; what is no number as it is."""
    parts = zip(cells, numbers.values.tolist(), numbers.empty, numbers.invalid, strict=True)
    return [cell if wrong else MISSING if missing else plain(value) for cell, value, missing, wrong in parts]


def plain(value: float) -> str:
    """`1234` and `1234.5`."""
    return repr(value).removesuffix(".0")
