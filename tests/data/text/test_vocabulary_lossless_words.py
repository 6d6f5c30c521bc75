"""Words of running text: nothing is lost."""

import json
import random

import pytest

from atento.data import LosslessWords, load_vocabulary
from atento.data.text.vocabulary import JOINER, UNKNOWN

SIGNS = f"ab c\n\n  \t.,-'(){JOINER}é_\u00a0"


@pytest.mark.spec("K06")
def test_by_hand():
    cut = LosslessWords([]).tokenize("First Citizen:\nBefore we  go, (hear)")
    assert cut == [
        "First",
        "Citizen",
        f"{JOINER}:",
        "\n",
        "Before",
        "we",
        " ",
        " ",
        "go",
        f"{JOINER},",
        f"({JOINER}",
        "hear",
        f"{JOINER})",
    ]


@pytest.mark.spec("K06")
def test_any_text_comes_back_as_it_was():
    chance = random.Random(3)
    for _ in range(1500):
        text = "".join(chance.choices(SIGNS, k=chance.randrange(17)))
        words = LosslessWords([])
        assert words.detokenize(words.tokenize(text)) == text


def test_tokens_stand_where_they_say():
    chance = random.Random(4)
    for _ in range(300):
        text = "".join(chance.choices(SIGNS.replace(JOINER, ""), k=13))
        words = LosslessWords([])
        pieces = [text[start:end] for start, end in words.offsets(text)]
        assert pieces == [token.replace(JOINER, "") for token in words.tokenize(text)]


def test_a_saved_vocabulary_is_the_same():
    words = LosslessWords.learn(["one two\nthree.", "one\ttwo"], size=4, least_count=1)
    again = load_vocabulary(json.loads(json.dumps(words.to_json())))
    assert isinstance(again, LosslessWords)
    assert again.id_to_token == words.id_to_token
    assert UNKNOWN in again.encode("four")
