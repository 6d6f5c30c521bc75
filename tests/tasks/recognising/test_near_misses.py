"""A file that lacks one thing is taken for no task: the closest one is named, with what it lacks."""

import random

import pytest

from atento.data.evidence.evidence import gather
from atento.tasks.finding import LIKELY, recognise

DRAW = random.Random(0)
WORDS = ("the", "dog", "saw", "a", "cat", "near", "Lima", "and", "Anna", "walked", "home", "to", "Oslo", "today")
TAGS = {"Lima": "B-LOC", "Oslo": "B-LOC", "Anna": "B-PER"}


def noise() -> str:
    return f"{DRAW.gauss(50, 20):.1f}"


def table(header, make, rows=60):
    """Rows of a CSV file."""
    return "\n".join([header, *(",".join(make(row)) for row in range(rows))]) + "\n"


def sentence() -> str:
    return " ".join(DRAW.choices(WORDS, k=8))


TAGGED = "".join(f"{word} {TAGS.get(word, 'O')}\n" for word in DRAW.choices(WORDS, k=300))
STEPS = ",".join(f"V{at}" for at in range(2, 16))

# What is missing: the file, the closest task, and a word of what it lacks.
NEAR = {
    "rows of noise, each a series": (
        "m4.csv",
        table(f"id,{STEPS}", lambda row: [f"H{row}", *(noise() for _ in range(14))], rows=9),
        "forecast",
        "little to do with",
    ),
    "numbers without a time": ("log.csv", table("temp,hum", lambda _: [noise(), noise()]), "forecast", "row by row"),
    "numbers and kinds without a time": (
        "sites.csv",
        table("temp,hum,site", lambda _: [noise(), noise(), DRAW.choice("AB")]),
        "forecast",
        "none says the time",
    ),
    "words and tags without blank lines": ("ner.txt", TAGGED, "tag", "no blank line"),
    "words and tags with tabs, without blank lines": ("ner.tsv", TAGGED.replace(" ", "\t"), "tag", "no blank line"),
    "pairs without targets": (
        "pairs.csv",
        table("source,target", lambda _: [sentence(), ""]),
        "translate",
        "'target' is empty",
    ),
    "labels that never come again": (
        "ids.csv",
        table("text,label", lambda row: [sentence(), f"L{row}"]),
        "classify",
        "nearly all cells of 'label' differ",
    ),
    "images alone": ("list.csv", table("image", lambda row: [f"img/{row}.jpg"]), "caption", "nothing is written"),
    "images and their sizes": (
        "sizes.csv",
        table("image,width", lambda row: [f"img/{row}.jpg", str(100 + row * 7 % 31)]),
        "caption",
        "nothing is written",
    ),
    "sequences without labels": (
        "signals.csv",
        table("signal", lambda _: [" ".join(noise() for _ in range(20))]),
        "classify-series",
        "no column holds few labels",
    ),
    "names of rows and numbers": (
        "facts.csv",
        table("id,a,b", lambda row: [f"T{row}", str(row * 7 % 5), str(row * 3 % 11)]),
        "forecast",
        "none says the time",
    ),
}


@pytest.mark.parametrize("name", NEAR)
def test_the_closest_task_is_named_with_what_it_lacks(name, tmp_path):
    file, content, task, lacks = NEAR[name]
    (tmp_path / file).write_text(content)
    guesses = recognise(gather(str(tmp_path / file)))
    closest, guess = next(iter(guesses.items()))
    assert (closest, guess.likelihood < LIKELY) == (task, True), guesses
    assert lacks in guess.reason
