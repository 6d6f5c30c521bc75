from itertools import pairwise

import pytest

from atento.data.columns.leaks import near_duplicate_key, near_duplicate_keys, near_duplicate_rows

SAME = [
    ("Who was Galileo the man ?", "who was galileo, the man?"),
    ("  A group\u00a0of kids", "a GROUP of kids..."),
    ("Straße nach Süden, ja!", "STRASSE nach süden ja"),
    ("premise one here\tThe other.", "Premise one here\tthe other"),
    ("你去哪里？", "你去哪里"),
    ("ﬁne words are here", "Fine words — are here"),
]
OTHER = [
    ("who was Galileo the man", "who was Newton the man"),
    ("go there and stop", "go there and stopped"),
    ("a b c\td", "a b\tc d"),  # which text of two says it matters
    ("0.5,1 -0.25,0", "0.5,1 0.25,0"),  # numbers are no words
    ("Go!", "go"),  # too short to be judged
    ("'cause", "cause"),
    ("...", "!!!"),
]


@pytest.mark.parametrize("one, other", SAME)
def test_case_spaces_and_punctuation_alone_make_a_near_duplicate(one, other):
    assert near_duplicate_key(one) == near_duplicate_key(other) != ""
    assert near_duplicate_rows([one], [other]) == [0]


@pytest.mark.parametrize("one, other", OTHER)
def test_anything_else_makes_another_text(one, other):
    assert near_duplicate_key(one) != near_duplicate_key(other) or near_duplicate_key(one) == ""
    assert near_duplicate_rows([one], [other]) == []


def test_rows_are_found_by_number():
    texts = ["The cat sat down.", "a dog ran off", "the cat SAT down!", "no"]
    assert near_duplicate_rows(texts, ["the cat sat down", "no"]) == [0, 2]
    assert near_duplicate_rows(texts, []) == []
    assert near_duplicate_keys(texts) == {"the cat sat down", "a dog ran off"}
    assert all(near_duplicate_rows([one], [other]) == [] for one, other in pairwise(texts))
