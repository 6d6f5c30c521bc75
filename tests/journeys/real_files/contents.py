"""What the files hold, and how each is entered."""

import csv
import io
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path


@dataclass(frozen=True)
class Expected:
    """How a file is to be read with no option, or which key settles it where it is refused.

    Means, rows and series are of the whole file, before it is split. `key` and `because` are words of the message of
    a refusal; `task` is the task that `--set KEY=VALUE` then gives, and empty where nothing can be done.
    """

    source: str  # what a user types
    task: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)  # the part of a column -> its name, several with commas
    rows: int = 0  # examples; of series, all their steps
    series: int = 1
    frequency: str = ""
    means: Mapping[str, float] = field(default_factory=dict)  # channel -> mean of all steps of all series
    labels: tuple[str, ...] = ()  # the classes, sorted
    example: tuple[str, str] = ("", "")  # a column and its text in the first row
    says: tuple[str, ...] = ()  # words that notes must hold
    left_out: int = 0  # rows that are listed and left out, or blank
    refused: bool = False
    key: str = ""  # KEY=VALUE that settles a refusal
    because: str = ""  # a word of the message


Make = Callable[[Path], Expected]
FILES: dict[str, Make] = {}


def real(name: str) -> Callable[[Make], Make]:
    """Enter a function under the name of its tool."""

    def enter(make: Make) -> Make:
        FILES[name] = make
        return make

    return enter


# --- what the files hold


WORDS = {
    "en": "the room was very clean and quiet but our breakfast came cold twice staff never smiled lovely view of garden",  # noqa: E501
    "de": "das Zimmer war sehr sauber und ruhig aber unser Frühstück kam zweimal kalt schöne Aussicht über Gärten größer",  # noqa: E501
    "es": "la habitación estaba muy limpia y tranquila pero el desayuno llegó frío dos veces señor mañana aquí también",
    "fr": "la chambre était très propre et calme mais le déjeuner arrivait froid deux fois où ça français été forêt",
    "pl": "pokój był bardzo czysty i cichy ale śniadanie przyszło zimne dwa razy piękny widok źle łóżko obsługa ogród",
    "ja": "部屋は とても きれい でした が 朝食が 冷たかった です 庭の 眺めも 良い スタッフは 親切 もう一度 泊まりたい",
}
NAMES = ("Anna Meier", "Peter Blackburn", "Ada Lovelace", "Juan Pérez", "Luis Gil")
PLACES = ("Brussels", "Lima", "Oslo", "Bern", "Quito")


def sentence(draw: random.Random, language: str = "en", low: int = 5, high: int = 12) -> str:
    """A few words, no two sentences alike in practice."""
    return " ".join(draw.choices(WORDS[language].split(), k=draw.randint(low, high)))


def reviews(count: int, language: str = "en", labels: Sequence[str] = ("neg", "pos"), seed: int = 0) -> list[list[str]]:
    """Rows of a text and a label."""
    draw = random.Random(seed)
    return [[sentence(draw, language), labels[draw.randrange(len(labels))]] for _ in range(count)]


def seasonal(count: int, *, base: float, swing: float, period: int, digits: int = 2, seed: int = 0) -> list[float]:
    """Numbers with a season and noise."""
    draw = random.Random(seed)
    wave = (math.sin(2 * math.pi * at / period) for at in range(count))
    return [round(base + swing * each + draw.gauss(0, swing / 5), digits) for each in wave]


def mean(values: Iterable[float]) -> float:
    """The mean of numbers."""
    listed = list(values)
    return sum(listed) / len(listed)


def days(count: int, first: date = date(2021, 3, 8)) -> list[date]:
    """Days in a row."""
    return [first + timedelta(at) for at in range(count)]


def months(count: int, year: int = 2012) -> list[date]:
    """First days of months in a row."""
    return [date(year + at // 12, at % 12 + 1, 1) for at in range(count)]


def grouped(number: float, digits: int, thousands: str, decimal: str) -> str:
    """A number in a locale's dialect: `1 234,50`."""
    text = f"{abs(number):,.{digits}f}".replace(",", "\0").replace(".", decimal).replace("\0", thousands)
    return ("-" if number < 0 else "") + text


def write(folder: Path, name: str, text: str, encoding: str = "utf-8", newline: str = "\n") -> str:
    """The path of a file of that text."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.replace("\n", newline).encode(encoding))
    return str(path)


def lines(rows: Iterable[Sequence[str]], delimiter: str) -> str:
    """Rows as a spreadsheet writes them: quotes where a cell needs them."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


def all_quoted(rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """Rows with quotes about every cell."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue()
