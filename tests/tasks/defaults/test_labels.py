"""Defaults of the match task: as many passes as the pairs need, and nothing where the user said so."""

import pytest

from atento.models import LabelHead
from atento.models.builders import build_matcher
from atento.spec import Recipe
from atento.tasks.catalogue import MATCH
from atento.tasks.defaults.labels import LEAST_STEPS, PASSES, two_text_sizes
from atento.tasks.filling import fill_defaults, fill_sizes

PAIR = ("one two three four five\tsix seven eight nine ten", "yes")


def passes(count, **limits):
    recipe = Recipe().with_values({"train.batch_tokens": 1000, **limits})
    return two_text_sizes(recipe, [PAIR] * count, "cpu")


def test_few_pairs_are_gone_over_more_often():
    assert passes(100_000) == {"train.epochs": PASSES}
    assert passes(1000) == {"train.epochs": LEAST_STEPS // 10}  # ten words a pair: ten steps a pass
    assert passes(3) == {"train.epochs": LEAST_STEPS}


@pytest.mark.parametrize("key", ["train.steps", "train.epochs"])
def test_what_the_user_says_stands(key):
    assert passes(1000, **{key: 7}) == {}
    recipe = fill_defaults(MATCH, {key: 7}, data="some.tsv")
    assert fill_sizes(MATCH, recipe, {key: 7}, [PAIR] * 9).flat()[key] == 7


@pytest.mark.parametrize("name", [*MATCH.defaults.models, "rnn", "rnn+co"])
def test_every_default_makes_a_model(name):
    for data in ("some.tsv", "evidence"):
        recipe = fill_defaults(MATCH, {"model.name": name}, data=data)
        assert build_matcher(recipe.model, 7, LabelHead, 2)
