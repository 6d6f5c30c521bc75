"""Which signs a column uses for decimals and for thousands, decided by all its cells, then by the rest of its table.

`1.234,5` and `1.5` say it; `1.234` fits both. Then numbers below 1000 without a separator say it: `963` beside `1.438`.
Then other columns, then the delimiter: semicolons delimit where commas are decimals. What is left fits both readings.
"""

import re
from collections.abc import Iterable, Sequence
from math import log10
from statistics import median
from typing import NamedTuple

from atento.data.numbers.cells import Decimal, NumberText, is_money_or_share, split_number

NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|\.\d+)(?:[eE][+-]?\d+)?%?")
GROUPS = r"[1-9]\d{{0,2}}(?:(?P<t>[{0}' \u00a0])\d{{3}})(?:(?P=t)\d{{3}})*"
LAKHS = r"[1-9]\d?(?:,\d{2})+,\d{3}"  # 1,23,456 in India
BY_POINT = re.compile(rf"(?:\d*|{GROUPS.format(',')}|{LAKHS})(?:\.\d*)?")
BY_COMMA = re.compile(rf"(?:\d*|{GROUPS.format('.')})(?:,\d*)?")
EITHER = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # a decimal, or thousands
SEPARATORS = re.compile(r"[.,' \u00a0]")
FEW = 0.05  # of the cells may be written otherwise: errors of the file
NAMES = {".": "points", ",": "commas", "'": "apostrophes", " ": "spaces", "\u00a0": "spaces"}


class Dialect(NamedTuple):
    """How the numbers of a column are written."""

    decimal: Decimal = "."
    thousands: str = ""  # the separator of thousands that some cell has
    surely: bool = True  # whether a cell of this column, or the user, says so
    assumed: str = ""  # a body that fits both readings, decided by the delimiter
    unclear: str = ""  # a body that fits both readings, which nothing decides
    mixed: tuple[str, str] | None = None  # bodies of two dialects, in one column
    blanks: bool = True  # whether blanks may separate thousands

    def value(self, body: str, exponent: str = "") -> float | None:
        """The number of a body; None where it is none in this dialect."""
        decimal = self.decimal
        if self.mixed is not None:  # each by itself, for a first look
            decimal = "." if BY_POINT.fullmatch(body) else ","
        form = BY_COMMA if decimal == "," else BY_POINT
        if not form.fullmatch(body) or (" " in body and not self.blanks):
            return None
        whole, _, part = body.partition(decimal)
        return float(f"{SEPARATORS.sub('', whole) or '0'}.{part or '0'}{exponent}")


def is_number(cell: str) -> bool:
    """Whether a cell is a number in some dialect, alone or with a currency or percent sign."""
    if NUMBER.fullmatch(cell.strip()):
        return True
    number = split_number(cell) if any(map(str.isdigit, cell)) else None
    if number is None or (number.unit and not is_money_or_share(number.unit)):
        return False
    alone = " " in number.body and not number.unit and "." not in number.body and "," not in number.body
    return not alone and bool(BY_POINT.fullmatch(number.body) or BY_COMMA.fullmatch(number.body))


class Bodies(NamedTuple):
    """The bodies of a column by what they say about decimals."""

    point: list[str]  # the decimal sign is a point, or commas separate thousands
    comma: list[str]
    either: list[str]  # 1.234: a decimal or thousands
    whole: list[str]  # digits alone
    grouped: list[str]  # 1 234 and 1'234


def sort_bodies(numbers: Iterable[NumberText]) -> Bodies:
    """The bodies of the cells of a column, by what they say."""
    found = Bodies([], [], [], [], [])
    for number in numbers:
        body = number.body
        by_point, by_comma = BY_POINT.fullmatch(body), BY_COMMA.fullmatch(body)
        if body.isdigit():
            found.whole.append(body)
        elif by_point and by_comma:
            if "." not in body and "," not in body:
                found.grouped.append(body)
            elif number.exponent:
                (found.point if "." in body else found.comma).append(body)
            else:
                found.either.append(body)
        elif by_point:
            found.point.append(body)
        elif by_comma:
            found.comma.append(body)
    return found


def dialect_of(
    numbers: Sequence[NumberText],
    *,
    asked: Decimal = "",
    elsewhere: Decimal = "",
    delimiter: str = ",",
    money: Decimal | None = "",
) -> Dialect:
    """The dialect of a column; `asked`: the decimal sign by the user, `elsewhere`: that of the other columns, `money`:
    that of its currency, None where that has no decimals.
    """
    found = sort_bodies(numbers)
    blanks = blanks_group(found, numbers)
    dialect = of_decimals(found, asked, elsewhere, delimiter, money)
    bodies = [*found.point, *found.comma, *found.either, *(body for body in found.grouped if blanks or " " not in body)]
    separators = (separator_in(body, dialect.decimal) for body in bodies)
    return dialect._replace(thousands=next((one for one in separators if one), ""), blanks=blanks)


def of_decimals(found: Bodies, asked: Decimal, elsewhere: Decimal, delimiter: str, money: Decimal | None) -> Dialect:
    """The decimal sign."""
    point, comma = found.point, found.comma
    if point and comma:
        few, most = sorted((point, comma), key=len)
        if not asked and len(few) > FEW * len(most):
            return Dialect(mixed=(point[0], comma[0]))
        return Dialect(asked or ("." if most is point else ","))
    if point or comma:
        return Dialect("." if point else ",")
    if not found.either:
        return Dialect(asked or elsewhere or ".", surely=False)
    if asked:
        return Dialect(asked)
    signs = {sign for body in found.either for sign in ".," if sign in body}
    if len(signs) > 1:
        return Dialect(elsewhere) if elsewhere else Dialect(mixed=(found.either[0], other_body(found.either)))
    sign: Decimal = "." if signs == {"."} else ","
    if money is None or (money and money != sign):
        return Dialect("," if sign == "." else ".")
    return of_either(found, sign, elsewhere, delimiter)


def of_either(found: Bodies, sign: Decimal, elsewhere: Decimal, delimiter: str) -> Dialect:
    """The decimal sign where every separator stands before three digits, as in 1.234."""
    other: Decimal = "," if sign == "." else "."
    if found.grouped:  # thousands are separated by something else
        return Dialect(sign)
    whole = [int(body) for body in found.whole if int(body)]
    separated = [int(SEPARATORS.sub("", body)) for body in found.either]
    if whole and max(whole) < 1000 and is_nearer(whole, separated):
        return Dialect(other) if delimiter else Dialect(sign, surely=False)  # JSON has decimal points
    if elsewhere and not (whole and max(whole) >= 1000 and elsewhere == other):
        return Dialect(elsewhere, surely=False)
    if sign == ("," if delimiter == ";" else "."):
        return Dialect(sign, surely=False, assumed=found.either[0] if delimiter else "")
    return Dialect(sign, surely=False, unclear=found.either[0])


def is_nearer(whole: Sequence[int], separated: Sequence[int]) -> bool:
    """Whether numbers without a separator are nearer to the others as thousands than as decimals, by their size."""
    size, thousands = log10(median(whole)), log10(median(separated))
    return abs(size - thousands) < abs(size - (thousands - 3))


def other_body(bodies: Sequence[str]) -> str:
    """The first body with another separator than the first body has."""
    return next(body for body in bodies if ("." in body) != ("." in bodies[0]))


def separator_in(body: str, decimal: str) -> str:
    """The separator of thousands in a body; empty: it has none."""
    return next((sign for sign in body if sign != decimal and SEPARATORS.fullmatch(sign)), "")


def blanks_group(found: Bodies, numbers: Sequence[NumberText]) -> bool:
    """Whether blanks separate thousands rather than the numbers of a list: `1 024` does, `120 130` may not."""
    beside = bool(found.point or found.comma or found.either) or any(number.unit for number in numbers)
    small = bool(found.whole) and all(int(body) < 1000 for body in found.whole)
    return beside or small or any(re.search(r" 0\d\d", body) for body in found.grouped)


def has_plain_points(cells: Sequence[str]) -> bool:
    """Whether cells are plain numbers with decimal points, one of which cannot separate thousands: a first look."""
    try:
        list(map(float, cells))
    except ValueError:
        return False
    return any("." in cell and not EITHER.fullmatch(cell.strip()) for cell in cells)


def decimal_of_table(columns: Iterable[Sequence[str]]) -> Decimal:
    """The decimal sign that columns of numbers, given by a sample of their cells, agree on; empty: none tells."""
    signs: set[Decimal] = set()
    for cells in columns:
        if has_plain_points(cells):
            signs.add(".")
            continue
        split = [split_number(cell) for cell in cells if "." in cell or "," in cell]
        numbers = [number for number in split if number is not None]
        if numbers and len(numbers) >= (1 - FEW) * len(split):
            whole = [number for cell in cells if cell.isdigit() and (number := split_number(cell)) is not None]
            dialect = dialect_of([*numbers, *whole], delimiter="\t")
            if dialect.surely and not dialect.mixed:
                signs.add(dialect.decimal)
    return signs.pop() if len(signs) == 1 else ""
