"""Words of running text: nothing is lost."""

import json
import random

import pytest

from atento.data.text.levels import load_vocabulary
from atento.data.text.vocabulary import JOIN, UNKNOWN, RunningWords

SIGNS = f"ab c\n\n  \t.,-'(){JOIN}é_\u00a0"


@pytest.mark.spec("K06")
def test_by_hand():
    cut = RunningWords([]).cut("First Citizen:\nBefore we  go, (hear)")
    assert cut == [
        "First",
        "Citizen",
        f"{JOIN}:",
        "\n",
        "Before",
        "we",
        " ",
        " ",
        "go",
        f"{JOIN},",
        f"({JOIN}",
        "hear",
        f"{JOIN})",
    ]


@pytest.mark.spec("K06")
def test_any_text_comes_back_as_it_was():
    chance = random.Random(3)
    for _ in range(1500):
        text = "".join(chance.choices(SIGNS, k=chance.randrange(17)))
        words = RunningWords([])
        assert words.join(words.cut(text)) == text


def test_tokens_stand_where_they_say():
    chance = random.Random(4)
    for _ in range(300):
        text = "".join(chance.choices(SIGNS.replace(JOIN, ""), k=13))
        words = RunningWords([])
        pieces = [text[start:end] for start, end in words.offsets(text)]
        assert pieces == [token.replace(JOIN, "") for token in words.cut(text)]


def test_a_saved_vocabulary_is_the_same():
    words = RunningWords.learn(["one two\nthree.", "one\ttwo"], most=4, least_count=1)
    again = load_vocabulary(json.loads(json.dumps(words.to_json())))
    assert isinstance(again, RunningWords)
    assert again.tokens == words.tokens
    assert UNKNOWN in again.encode("four")
