"""The currency or unit beside the numbers of a column, and letters behind them that multiply or comment."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from atento.data.numbers.cells import FLAGS, Decimal, NumberText, is_money_or_share

MIN_SHARE = 0.8  # of the numbers of a column that have its unit
MULTIPLIED = 0.2  # of the numbers that have K, M or B behind them
FEW = 0.05  # of the numbers may have another: errors of the file
SHARES = frozenset("%‰")  # signs whose absence changes a number


WHOLE_MONEY_NAMES = "¥ ￥ \\ ₩ ₫ 円 元 원 JPY KRW VND CLP IDR Rp"
POINT_MONEY_NAMES = "$ US$ A$ C$ NZ$ HK$ S$ £ ₹ Rs Rs. USD GBP INR AUD CAD NZD HKD SGD"
WHOLE_MONEY = frozenset(WHOLE_MONEY_NAMES.split())  # currencies without decimals
POINT_MONEY = frozenset(POINT_MONEY_NAMES.split())  # $1,234 is 1234


class Unit(NamedTuple):
    """What stands beside the numbers of a column."""

    sign: str = ""  # empty: none
    other: str = ""  # another unit that many numbers of the column have; empty: none
    multiplies: bool = False  # whether letters multiply: 4.2K and 1.1M

    @property
    def decimal(self) -> Decimal | None:
        """The decimal sign that numbers of this currency have; None: they have no decimals; empty: nothing tells."""
        return None if self.sign in WHOLE_MONEY else "." if self.sign in POINT_MONEY else ""

    def fits(self, number: NumberText) -> bool:
        """Whether a number is of this unit; one without a sign is, but not among percents."""
        if (number.unit and number.unit in (self.sign, self.other)) or is_flag(number):
            return True
        if self.multiplies:
            return not number.unit or number.multiple != 1
        return not number.unit and (self.sign not in SHARES or not number.body.strip("0"))


def unit_of(numbers: Sequence[NumberText]) -> Unit:
    """The unit of a column."""
    units = Counter(number.unit for number in numbers if number.unit and not is_flag(number))
    if units.total() >= MULTIPLIED * len(numbers) > 0 and all(one.multiple != 1 for one in numbers if one.unit):
        return Unit(multiplies=True)
    if not units or units.total() < MIN_SHARE * len(numbers):
        return Unit()
    (sign, most), *others = units.most_common()
    if not others:
        return Unit(sign)
    other, count = others[0]
    if not (is_money_or_share(sign) and is_money_or_share(other)):
        return Unit()
    return Unit(sign, other if count > FEW * most else "")


def is_flag(number: NumberText) -> bool:
    """Whether a letter behind a number comments on it, as in statistics: `12.3 p` is provisional."""
    return number.spaced and FLAGS.fullmatch(number.unit) is not None
