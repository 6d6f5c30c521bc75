"""The nearest text against edit distances in plain loops; affix rules by hand."""

import random
from difflib import SequenceMatcher

import pytest

from atento.baselines import AffixRules, NearestText, text_to_text


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
    model = NearestText().fit(["kitten", "sunday", "flaw"], ["1", "2", "3"])
    assert model.predict(["sitting", "saturday", "lawn", "sunday", ""]) == ["1", "2", "3", "2", "3"]
    assert [edits("kitten", "sitting"), edits("sunday", "saturday"), edits("flaw", "lawn")] == [3, 3, 2]


def test_of_equally_near_ones_the_first():
    assert NearestText().fit(["ab", "ac", "ab"], ["first", "second", "third"]).predict(["ad", "ab"]) == [
        "first",
        "first",
    ]


@pytest.mark.parametrize("rows", [1, 7, 256])
def test_against_brute_force(monkeypatch, rows):
    monkeypatch.setattr(text_to_text, "ROWS", rows)
    sources, questions = some_words(101, seed=0), some_words(37, seed=1)
    targets = [str(number) for number in range(101)]
    expected = [targets[min(range(101), key=lambda index: edits(question, sources[index]))] for question in questions]
    assert NearestText().fit(sources, targets).predict(questions) == expected


def test_beyond_a_size_every_kth_pair_stands_for_all(monkeypatch):
    sources, questions = some_words(101, seed=0), some_words(37, seed=1)
    targets = [str(number) for number in range(101)]
    monkeypatch.setattr(text_to_text, "MAX_DISTANCES", 37 * 101 // 3 + 1)  # a third of all
    expected = NearestText().fit(sources[::3], targets[::3])
    found = NearestText().fit(sources, targets).predict(questions)
    monkeypatch.undo()
    assert found == expected.predict(questions)


def test_nothing_asked_nothing_answered():
    assert NearestText().fit(["a"], ["b"]).predict([]) == []


FORMS = [
    ("amar\tV;PST", "amaba"),
    ("cantar\tV;PST", "cantaba"),
    ("comer\tV;PST", "comía"),
    ("vivir\tV;PST", "vivía"),
    ("tocar\tV;PRS", "toque"),
    ("sacar\tV;PRS", "saque"),
    ("hablar\tV;PRS", "hable"),
    ("spielen\tV.PTCP", "gespielt"),
    ("kaufen\tV.PTCP", "gekauft"),
]


@pytest.fixture(scope="module")
def fitted():
    return AffixRules().fit(*zip(*FORMS, strict=True))


@pytest.mark.spec("K05")
@pytest.mark.parametrize(
    "source, expected",
    [
        ("bailar\tV;PST", "bailaba"),  # the ending -ar, of that feature
        ("beber\tV;PST", "bebía"),  # the ending -er
        ("buscar\tV;PRS", "busque"),  # the longer ending -car goes before -ar
        ("bailar\tV;PRS", "baile"),
        ("machen\tV.PTCP", "gemacht"),  # both ends
        ("amar\tV;FUT", "amar"),  # features never seen: a copy
    ],
)
def test_affixes_by_hand(fitted, source, expected):
    assert fitted.predict([source]) == [expected]


def test_without_features_and_without_likeness():
    model = AffixRules().fit(["cat", "dog", "box"], ["cats", "dogs", "boxes"])
    assert model.predict(["log", "fox", ""]) == ["logs", "foxes", "s"]


def test_nothing_kept_is_nothing_kept():
    model = AffixRules().fit(["one", "two"], ["1", "2"])
    assert model.predict(["one", "two"]) == ["1", "2"]


def test_very_long_pairs_teach_no_affixes(monkeypatch):
    """The longest common part of two texts takes their product in steps: 10⁹ for texts of 30,000 characters."""
    compared = []

    def matcher(_, one, other, **options):
        compared.append(len(one) * len(other))
        return SequenceMatcher(None, one, other, **options)

    monkeypatch.setattr(text_to_text, "SequenceMatcher", matcher)
    fitted = text_to_text.AffixRules().fit(["walk", "w" * 30_011, "talk"], ["walked", "w" * 30_013, "talked"])
    assert compared == [24, 24]
    assert fitted.predict(["balk"]) == ["balked"]
