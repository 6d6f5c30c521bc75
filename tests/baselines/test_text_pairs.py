"""The nearest neighbour by hand and against edit distances in plain loops."""

import random

import pytest

from atento.baselines import text_pairs
from atento.baselines.text_pairs import Nearest


def edits(left, right):
    """Levenshtein's table, row by row."""
    row = list(range(len(right) + 1))
    for place, letter in enumerate(left, 1):
        before, row[0] = row[0], place
        for at, other in enumerate(right, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (letter != other))
    return row[-1]


def some_words(count, *, seed):
    chance = random.Random(seed)
    return ["".join(chance.choices("abcd", k=chance.randint(0, 7))) for _ in range(count)]


def test_by_hand():
    model = Nearest().fit(["kitten", "sunday", "flaw"], ["1", "2", "3"])
    assert model.predict(["sitting", "saturday", "lawn", "sunday", ""]) == ["1", "2", "3", "2", "3"]
    assert [edits("kitten", "sitting"), edits("sunday", "saturday"), edits("flaw", "lawn")] == [3, 3, 2]


def test_of_equally_near_ones_the_first():
    assert Nearest().fit(["ab", "ac", "ab"], ["first", "second", "third"]).predict(["ad", "ab"]) == ["first", "first"]


@pytest.mark.parametrize("rows", [1, 7, 256])
def test_against_brute_force(monkeypatch, rows):
    monkeypatch.setattr(text_pairs, "ROWS", rows)
    sources, questions = some_words(101, seed=0), some_words(37, seed=1)
    targets = [str(number) for number in range(101)]
    expected = [targets[min(range(101), key=lambda index: edits(question, sources[index]))] for question in questions]
    assert Nearest().fit(sources, targets).predict(questions) == expected


def test_beyond_a_size_every_kth_pair_stands_for_all(monkeypatch):
    sources, questions = some_words(101, seed=0), some_words(37, seed=1)
    targets = [str(number) for number in range(101)]
    monkeypatch.setattr(text_pairs, "MOST_DISTANCES", 37 * 101 // 3 + 1)  # a third of all
    expected = Nearest().fit(sources[::3], targets[::3])
    found = Nearest().fit(sources, targets).predict(questions)
    monkeypatch.undo()
    assert found == expected.predict(questions)


def test_nothing_asked_nothing_answered():
    assert Nearest().fit(["a"], ["b"]).predict([]) == []
