"""Linear models over small images and questions, against scikit-learn by hand. The nearest image, by brute force."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from atento.baselines import LinearImageQuestions, LinearImages, NearestImage, QuestionOnly, images
from atento.baselines.images import INVERSE_PENALTY, pixel_features
from atento.errors import InputError

IMAGES = {f"p{number}": np.full((2, 2, 3), (250 * (number % 2), number, 9), dtype=np.uint8) for number in range(8)}
SOURCES = list(IMAGES)
LABELS = ["red" if number % 2 else "dark" for number in range(8)]


def load(source):
    return IMAGES[source]


def split(source):
    image, question = source.split("|")
    return image, question


def test_a_picture_is_its_pixels_and_how_often_each_shade_occurs():
    numbers = pixel_features(load, ["p1"])[0]
    assert numbers.shape == (2 * 2 * 3 + 4**3,)
    np.testing.assert_allclose(numbers[:3], np.array([250, 1, 9]) / 127.5 - 1)
    assert numbers[12:].sum() == 1 and numbers[12 + 3 * 16] == 1  # the fourth shade of red, the first of the others


def test_labels_are_those_of_a_logistic_regression():
    by_hand = LogisticRegression(C=INVERSE_PENALTY, max_iter=1000).fit(pixel_features(load, SOURCES[:6]), LABELS[:6])
    model = LinearImages(load).fit(SOURCES[:6], LABELS[:6])
    assert model.predict(SOURCES) == by_hand.predict(pixel_features(load, SOURCES)).tolist() == LABELS


def test_questions_alone_and_beside_the_picture():
    asked = [f"{source}|{word}?" for source in SOURCES for word in ("red", "dark")]
    always = ["yes" if "red" in one else "no" for one in asked]
    blind = QuestionOnly(split).fit(asked, always)
    assert blind.predict(asked) == always
    bright = ["yes" if int(one[1]) % 2 else "no" for one in asked]
    both = LinearImageQuestions(load, split=split).fit(asked, bright)
    assert both.predict(asked) == bright
    assert len(set(QuestionOnly(split).fit(asked, bright).predict(asked))) <= 2


def test_one_label_alone_is_said_and_an_unfitted_model_says_so():
    assert LinearImages(load).fit(SOURCES, ["a"] * 8).predict(SOURCES[:2]) == ["a", "a"]
    assert LinearImageQuestions(load, split=split).fit(["p0|x?"], ["a"]).predict([]) == []
    for model in (LinearImages(load), LinearImageQuestions(load, split=split), QuestionOnly(split)):
        with pytest.raises(InputError):
            model.predict(["p0|x?"])


RANDOM_IMAGES = {
    str(number): np.random.default_rng(number).integers(0, 256, (5, 5, 3), np.uint8) for number in range(23)
}


def test_the_target_of_the_nearest_pixels(monkeypatch):
    monkeypatch.setattr(images, "ROWS", 3)  # several rounds
    known, asked = list(RANDOM_IMAGES)[:16], list(RANDOM_IMAGES)[16:]
    model = NearestImage(RANDOM_IMAGES.__getitem__).fit(known, [f"caption {name}" for name in known])

    def distance(one, other):
        return ((RANDOM_IMAGES[one].astype(float) - RANDOM_IMAGES[other].astype(float)) ** 2).sum()

    expected = [f"caption {min(known, key=lambda name: distance(name, one))}" for one in asked]
    assert model.predict(asked) == expected
    assert model.predict(known) == [f"caption {name}" for name in known]
    assert model.predict([]) == []


def test_before_it_has_learned():
    with pytest.raises(InputError, match="has not learned"):
        NearestImage(RANDOM_IMAGES.__getitem__).predict(["1"])
    with pytest.raises(InputError, match="as many of each"):
        NearestImage(RANDOM_IMAGES.__getitem__).fit(["1"], [])
