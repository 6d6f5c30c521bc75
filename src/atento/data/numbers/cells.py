"""One cell with a number: its sign, its digits with their separators, and a currency or unit beside them.

Blanks, apostrophes and minus signs of every kind are made one; digits of any script are kept, as Python reads them.
"""

import re
from typing import Literal, NamedTuple

Decimal = Literal["", ".", ","]  # the decimal sign; empty: it is not known

MISSING_WORDS = """
    na n/a nan null none nil - -- --- – — ? . .. ... … * ** : <na> -nan nat missing (null) nd n/d n.d. n.d s/d s.d.
    k.a. k.a n.a. n.a unavailable unknown not_available s.o. n.v.t. b.d. brak #nv nv
"""
MISSING = frozenset(["", "\\n", "not available", "no data", "n. a.", "k. a.", *MISSING_WORDS.split()])
MARK = re.compile(r"#(?:[^\s\d]\S{0,14}[!?]|n/[ad])|\.[a-z]")  # of spreadsheets and Stata: #DIV/0!, #N/A, .a
ALIKE = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "٬": "'", "−": "-", "‐": "-", "‑": "-", "–": "-", "－": "-", "＋": "+"}
    | {"．": ".", "，": ",", "٫": ".", "％": "%", "（": "(", "）": ")"}
    | dict.fromkeys("\u202f\u2007\u2008\u2009\u200a\t", "\u00a0")
    | dict.fromkeys("\u200b\u200e\u200f\ufeff")
)
CURRENCIES = r"""
    (?:US|A|AU|C|CA|NZ|HK|S|MX|R|NT)?\$ | [€£¥₹₽₩₺₪฿₫₴₦₱₡₲₸￥￡￠\\] | S/\.? | S?Fr\. | Rs\.? | R[Mp] | TL
    | AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KRW|MXN|MYR|NOK|NZD|PEN
    | PHP|PLN|RON|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|UYU|VND|ZAR
""".replace("\n", "").replace(" ", "")
AFTER = r"kr\.?|zł|Kč|Ft|lei|лв\.?|руб\.?|р\.|元|円|원|pts?|%|‰"
WORD = r"[^\W\d_]{1,8}(?:[²³/][^\W\d_]{0,4})?|°\s?[CFK]?|µ\w{1,3}"
BODY = r"\d[\d.,' \u00a0]*|[.,]\d+"
SHAPE = re.compile(  # blanks are never given back, or a long run of them would take minutes
    rf"(?P<open>\()?\s*+(?P<sign>[+-])?\s*+(?P<before>{CURRENCIES}|kr\.?)?\s*+(?P<inner>[+-])?\s*+"
    rf"(?P<body>{BODY})(?P<exponent>[eE][+-]?\d+)?"
    rf"(?P<blank>\s*+)(?P<minus>-)?\s*+(?P<after>{CURRENCIES}|{AFTER}|{WORD})?\s*+(?P<end>-)?\s*+(?P<close>\))?"
)
MARKED = re.compile(r"=\"(.*)\"|'(?=[\d+-])(.*)")  # a number that a spreadsheet was told to keep as text
MONEY_OR_SHARE = re.compile(rf"{CURRENCIES}|{AFTER}|°\s?[CFK]?")
MULTIPLES = {"K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}  # directly behind a number
FLAGS = re.compile(r"[bcdefnprsuz]{1,3}")  # behind a number and a blank: estimated, provisional (Eurostat)


LONGEST_NUMBER = 200  # characters; more are no number that anyone wrote
LARGEST_NUMBER = 1e30  # of a larger one the square overflows where a model computes with it


class NumberText(NamedTuple):
    """A number as it is written."""

    body: str  # digits and separators
    exponent: str  # e+05; empty: none
    negative: bool
    unit: str  # currency, percent or unit; empty: none
    brackets: bool  # whether brackets say that it is negative
    spaced: bool  # whether a blank parts the number from the unit behind it

    @property
    def multiple(self) -> float:
        """What a letter directly behind the number multiplies it by, as in 4.2K; 1: nothing."""
        return 1.0 if self.spaced else MULTIPLES.get(self.unit, 1.0)


def is_missing_mark(cell: str) -> bool:
    """Whether a cell is empty or says, in a way that is known, that there is no number."""
    text = cell.strip().lower()
    return text in MISSING or MARK.fullmatch(text) is not None


def split_number(cell: str) -> NumberText | None:
    """The parts of a cell that is written as a number; None for any other."""
    if len(cell) > LONGEST_NUMBER:
        return None
    text = cell.translate(ALIKE).strip()
    marked = MARKED.fullmatch(text)
    if marked is not None:
        text = (marked[1] or marked[2] or "").strip()
    found = SHAPE.fullmatch(text)
    if found is None:
        return None
    signs = [name for name in ("sign", "inner", "minus", "end") if found[name]]
    brackets = bool(found["open"])
    units = [found[name].replace(" ", "") for name in ("before", "after") if found[name]]
    if len(signs) + brackets > 1 or brackets != bool(found["close"]) or len(units) > 1:
        return None
    negative = brackets or any(found[name] == "-" for name in signs)
    spaced = bool(found["blank"]) or found["body"] != found["body"].rstrip()
    return NumberText(
        found["body"].strip(), found["exponent"] or "", negative, "".join(units), brackets, spaced and bool(units)
    )


def is_money_or_share(unit: str) -> bool:
    """Whether a unit is a currency, a percent sign or a degree, which stand beside numbers only."""
    return MONEY_OR_SHARE.fullmatch(unit) is not None
