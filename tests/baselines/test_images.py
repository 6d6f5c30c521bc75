"""Linear models over small pictures and questions, against scikit-learn by hand."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from atento.baselines.images import FREEDOM, LinearPictures, LinearQuestions, QuestionOnly, seen
from atento.errors import InputError

PICTURES = {f"p{number}": np.full((2, 2, 3), (250 * (number % 2), number, 9), dtype=np.uint8) for number in range(8)}
SOURCES = list(PICTURES)
LABELS = ["red" if number % 2 else "dark" for number in range(8)]


def load(source):
    return PICTURES[source]


def cut(source):
    picture, question = source.split("|")
    return picture, question


def test_a_picture_is_its_pixels_and_how_often_each_shade_occurs():
    numbers = seen(load, ["p1"])[0]
    assert numbers.shape == (2 * 2 * 3 + 4**3,)
    np.testing.assert_allclose(numbers[:3], np.array([250, 1, 9]) / 127.5 - 1)
    assert numbers[12:].sum() == 1 and numbers[12 + 3 * 16] == 1  # the fourth shade of red, the first of the others


def test_labels_are_those_of_a_logistic_regression():
    by_hand = LogisticRegression(C=FREEDOM, max_iter=1000).fit(seen(load, SOURCES[:6]), LABELS[:6])
    model = LinearPictures(load).fit(SOURCES[:6], LABELS[:6])
    assert model.predict(SOURCES) == by_hand.predict(seen(load, SOURCES)).tolist() == LABELS


def test_questions_alone_and_beside_the_picture():
    asked = [f"{source}|{word}?" for source in SOURCES for word in ("red", "dark")]
    always = ["yes" if "red" in one else "no" for one in asked]
    blind = QuestionOnly(cut).fit(asked, always)
    assert blind.predict(asked) == always
    bright = ["yes" if int(one[1]) % 2 else "no" for one in asked]
    both = LinearQuestions(load, cut=cut).fit(asked, bright)
    assert both.predict(asked) == bright
    assert len(set(QuestionOnly(cut).fit(asked, bright).predict(asked))) <= 2


def test_one_label_alone_is_said_and_an_unfitted_model_says_so():
    assert LinearPictures(load).fit(SOURCES, ["a"] * 8).predict(SOURCES[:2]) == ["a", "a"]
    assert LinearQuestions(load, cut=cut).fit(["p0|x?"], ["a"]).predict([]) == []
    for model in (LinearPictures(load), LinearQuestions(load, cut=cut), QuestionOnly(cut)):
        with pytest.raises(InputError):
            model.predict(["p0|x?"])
