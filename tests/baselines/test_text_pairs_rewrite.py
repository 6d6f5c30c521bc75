"""Ends of words changed as those of like words were."""

import pytest

from atento.baselines.text_pairs import Rewrite

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
    return Rewrite().fit(*zip(*FORMS, strict=True))


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
def test_by_hand(fitted, source, expected):
    assert fitted.predict([source]) == [expected]


def test_without_features_and_without_likeness():
    model = Rewrite().fit(["cat", "dog", "box"], ["cats", "dogs", "boxes"])
    assert model.predict(["log", "fox", ""]) == ["logs", "foxes", "s"]


def test_nothing_kept_is_nothing_kept():
    model = Rewrite().fit(["one", "two"], ["1", "2"])
    assert model.predict(["one", "two"]) == ["1", "2"]
