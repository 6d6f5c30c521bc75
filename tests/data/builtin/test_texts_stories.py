"""Stories: what must agree agrees, and the entropy is the mean of what choices are worth."""

import itertools
import math
import random
import re

import pytest

from atento.data.builtin.texts import ANIMALS, PEOPLE, VERBS, entropy, stories, story
from atento.errors import InputError
from atento.spec import DataRecipe

FORM = re.compile(
    r"The (?P<colour>\w+) (?P<animal>\w+) (?P<place>[\w ]+?)(?: \((?P<who>\w+) \w+ (?P<them>\w+)\))? (?P<verb>\w+) "
    r'(?P<person>\w+)\. "[\w ]+", (?P<pronoun>\w+) says\.'
)


@pytest.mark.spec("K06")
def test_verbs_pronouns_quotations_and_brackets_agree():
    generator = random.Random(1)
    for _ in range(500):
        found = FORM.fullmatch(story(generator.randrange))
        assert found
        many = found["animal"] not in ANIMALS
        assert found["verb"] in (VERBS if many else VERBS.values())
        assert found["pronoun"] == PEOPLE[found["person"]]
        assert found["who"] in (None, found["pronoun"])
        assert found["them"] in (None, "them" if many else "it")


@pytest.mark.spec("K06")
def test_the_entropy_by_counting_all_stories():
    """Every way through the choices, with its probability: minus the mean logarithm of what each story has."""
    chances: dict[str, float] = {}

    def walk(taken):
        ways, path = [], iter(taken)

        def choose(count):
            ways.append(count)
            return next(path, 0)

        text = story(choose)
        if len(ways) == len(taken):
            chances[text] = chances.get(text, 0.0) + math.prod(1 / way for way in ways)
            return
        for way in range(ways[len(taken)]):
            walk([*taken, way])

    some = {"Ana": "she", "Ben": "he"}
    backup = dict(PEOPLE)
    PEOPLE.clear()
    PEOPLE.update(some)  # a third of the stories: 2 people instead of 6
    try:
        walk([])
        expected = entropy()
    finally:
        PEOPLE.clear()
        PEOPLE.update(backup)
    assert sum(chances.values()) == pytest.approx(1)
    assert -sum(chance * math.log(chance) for chance in chances.values()) == pytest.approx(expected)


def test_parts_share_no_story():
    made = stories(DataRecipe(train="stories"), 0)
    parts = [{source for source, _ in part} for part in (made.train, made.valid, made.test)]
    assert [len(part) for part in parts] == [8000, 200, 400]
    assert not any(one & other for one, other in itertools.combinations(parts, 2))
    assert stories(DataRecipe(train="stories"), 0) == made
    with pytest.raises(InputError):
        stories(DataRecipe(train="stories", length=3), 0)
