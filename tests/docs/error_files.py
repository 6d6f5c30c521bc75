"""The files of docs/errors.md, most of them with one fault: an example has those in its folder that it names."""

from datetime import date, timedelta

ADJECTIVES = ("moving", "funny", "dull", "endless", "bright", "slow", "warm")
DAYS = [date(2026, 1, 1) + timedelta(day) for day in range(79)]


def reviews(rows, *, labels):
    """Texts with one of the labels each; the text alone decides which."""
    return "".join(
        f"a {ADJECTIVES[row % 7]} and {ADJECTIVES[row * 3 % 7]} film about part {row},{labels[row % len(labels)]}\n"
        for row in range(rows)
    )


def sales(days=DAYS, *, odd="", at=-1, pattern="{day},{value}\n"):
    """A series with one value a day; in the row `at` the value is odd."""
    values = [odd if row == at else 100 + row % 7 for row in range(len(days))]
    return "".join(pattern.format(day=day, value=value) for day, value in zip(days, values, strict=True))


FILES = {
    "broken.toml": "[model]\nname = gru\n",
    "config.yaml": "model: {name: gru}\n",
    "dates.csv": "day,sales\n" + "".join(f"{day:%d/%m/%Y},{100 + day.day % 7}\n" for day in DAYS[:11]),
    "decimal.csv": "day;sales\n" + sales(pattern="{day};1.{value}\n"),
    "empty.csv": "",
    "few.csv": "text,opinion\na warm film,good\na slow film,bad\n",
    "gap.csv": "day,sales\n" + sales(at=20),
    "many-bad.csv": "text,opinion\n" + reviews(31, labels=("good", "")),
    "missing-days.csv": "day,sales\n" + sales(DAYS[:20] + DAYS[22:]),
    "mixed.csv": "day,sales\n" + sales([*DAYS[:40], "soon", *DAYS[41:]]),
    "one-label.csv": "text,opinion\n" + reviews(31, labels=("good",)),
    "other.csv": "review,opinion\na slow film,bad\na warm film,good\n",
    "pairs.tsv": "".join(f"{first} {last} film\t{last} {first} film\n" for first in ADJECTIVES for last in ADJECTIVES),
    "paper.pdf": "%PDF-1.4\n",
    "parallel.de": "eins\nzwei\ndrei\n",
    "parallel.en": "one\ntwo\n",
    "quoted.csv": 'text,opinion\n"a warm film,good\na slow film,bad\n',
    "recipe.toml": '[data]\ntrain = "reviews.csv"\n\n[model]\nname = "gru"\nhiden = 64\n',
    "reviews.csv": "text,opinion\n" + reviews(61, labels=("good", "bad", "good")),
    "sales.csv": "day,sales\n" + sales(),
    "twice.csv": "day,sales\n" + sales([*DAYS, DAYS[-1]]),
    "unordered.csv": "day,sales\n" + sales(DAYS[::-1]),
    "words.csv": "day,sales\n" + sales(odd="many", at=30),
}
