"""What follows from the size of a set, and what a user says goes before it."""

import pytest

from atento.data.builtin.catalogue import BUILTIN
from atento.spec import Recipe
from atento.tasks.task import fill_defaults, fill_sizes
from atento.tasks.translate import TRANSLATE
from atento.tasks.translate_defaults import MODELS, defaults, sized


def recipe(data="pairs.tsv", **values):
    return Recipe().with_values({"data.train": data, **values})


def pairs(count):
    return [("a b", "b a")] * count


def test_more_pairs_more_subwords_and_less_dropout():
    found = [sized(recipe(), pairs(count)) for count in (100, 1_000, 10_000, 100_000, 1_000_000)]
    sizes, dropouts = ([one[key] for one in found] for key in ("tokens.size", "model.dropout"))
    assert sizes == sorted(sizes)
    assert dropouts == sorted(dropouts, reverse=True)
    assert sizes[0] < sizes[-1]
    assert dropouts[0] > dropouts[-1]


@pytest.mark.parametrize("data", [name for name, one in BUILTIN.items() if one.task == "translate"])
def test_built_in_sets_keep_values_of_their_own(data):
    assert sized(recipe(data), pairs(1000)) == {}
    for model in MODELS:
        assert not {"train.average", "train.label_smoothing", "decode.beam"} & set(defaults(data, model))


def test_what_the_user_says_goes_before_the_size():
    said = {"model.dropout": 0.0}
    sized_up = fill_sizes(TRANSLATE, recipe(**said), said, pairs(1000))
    assert sized_up.model.dropout == 0.0
    assert sized_up.tokens.size == sized(recipe(), pairs(1000))["tokens.size"]


def test_every_family_has_values():
    for family, kin in (("jordan", "rnn"), ("gru-before", "gru+dot"), ("lstm", "transformer/lstm+dot")):
        assert defaults("numbers", family) == defaults("numbers", kin)
        assert fill_defaults(TRANSLATE, {"model.name": family}, data="numbers").model.hidden == 128
