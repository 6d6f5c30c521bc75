"""Opinions: every bag of words comes with both labels, and no opinion is in two parts."""

from collections import Counter, defaultdict

import pytest

from atento.baselines import BASELINES
from atento.data.builtin.texts import LANGUAGES, opinions
from atento.errors import InputError
from atento.spec import DataRecipe


@pytest.fixture(scope="module", params=LANGUAGES)
def parts(request):
    return request.param, opinions(DataRecipe(train="opinions", source=request.param), 0)


def test_the_same_words_are_for_and_against(parts):
    name, made = parts
    labels = set(LANGUAGES[name].labels)
    for part in (made.train, made.valid, made.test):
        by_bag = defaultdict(Counter)
        for text, label in part:
            by_bag[tuple(sorted(text.replace(",", " ,").split()))][label] += 1
        assert all(set(count) == labels and len(set(count.values())) == 1 for count in by_bag.values())


def test_the_label_is_what_the_words_say(parts):
    name, made = parts
    language = LANGUAGES[name]
    for text, label in made.test:
        clause = next(part for part in text.split(", ")[1:] if part.endswith((*language.likes, *language.dislikes)))
        denied = clause.removeprefix(language.subject).split()[0] == language.no
        assert label == language.labels[clause.endswith(language.likes) == denied]


def test_parts_are_as_promised(parts):
    _, made = parts
    assert (len(made.train), len(made.valid), len(made.test)) == (8000, 500, 1000)
    texts = [text for part in (made.train, made.valid, made.test) for text, _ in part]
    assert len(set(texts)) == len(texts)


@pytest.mark.spec("B01")
def test_a_bag_of_words_is_at_chance():
    made = opinions(DataRecipe(train="opinions"), 1)
    bag = BASELINES["bag-of-words"].make().fit(*zip(*made.train[:800], strict=True))
    said = bag.predict([text for text, _ in made.test])
    right = sum(label == true for label, (_, true) in zip(said, made.test, strict=True)) / len(said)
    assert right == pytest.approx(0.5)


def test_another_language_is_refused():
    with pytest.raises(InputError, match="'fr'"):
        opinions(DataRecipe(train="opinions", source="fr"), 0)
    with pytest.raises(InputError, match=r"data\.length"):
        opinions(DataRecipe(train="opinions", length=3), 0)
