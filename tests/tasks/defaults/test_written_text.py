"""What follows from the size of a set, and what a user says goes before it."""

import pytest

from atento.data.builtin import BUILTIN
from atento.models import ModelName
from atento.spec import Recipe
from atento.tasks.catalogue import TRANSLATE
from atento.tasks.defaults.written_text import TEXT_TO_TEXT, translate_defaults, translate_sizes
from atento.tasks.filling import fill_defaults, fill_sizes


def recipe(data="pairs.tsv", **values):
    return Recipe().with_values({"data.train": data, "train.budget": 600, **values})


def pairs(count):
    return [("a b c d e f", "f e d c b a")] * count


def test_more_pairs_more_subwords():
    sizes = [
        translate_sizes(recipe(), pairs(count), "cpu")["tokens.vocab_size"] for count in (100, 1_000, 10_000, 100_000)
    ]
    assert sizes == [500, 800, 2500, 7900]


def test_the_more_passes_the_more_dropout():
    sizes = [translate_sizes(recipe(), pairs(count), "cpu") for count in (1_000, 20_000, 200_000)]
    assert [one["model.dropout"].value for one in sizes] == [0.3, 0.2, 0.1]
    assert translate_sizes(recipe(), pairs(200_000), "cuda")["model.dropout"].value > 0.1


def test_where_no_pass_can_be_made_a_smaller_model_learns_more():
    short = recipe(**{"train.budget": 60, "train.threads": 1})
    values = translate_sizes(short, pairs(100_000), "cpu")
    assert (values["model.hidden"].value, values["tokens.vocab_size"], values["decode.beam"]) == (128, 2000, 1)
    assert "model.hidden" not in translate_sizes(recipe(), pairs(100_000), "cpu")
    assert values["train.batch_tokens"] < translate_sizes(recipe(), pairs(100_000), "cpu")["train.batch_tokens"]


def test_a_short_run_warms_up_shortly():
    def warmup(seconds):
        chosen = recipe(**{"train.budget": seconds, "train.threads": 1, "train.warmup": 400})
        return translate_sizes(chosen, pairs(10_000), "cpu")["train.warmup"]

    assert warmup(600) == 400
    assert warmup(30) == 30 * 6_000 // 256 // 10


@pytest.mark.parametrize("data", [name for name, one in BUILTIN.items() if one.task == "translate"])
def test_built_in_sets_keep_values_of_their_own(data):
    assert translate_sizes(recipe(data), pairs(1000), "cpu") == {}
    for model in map(ModelName.parse, TEXT_TO_TEXT.models):
        assert not {"train.ema", "train.label_smoothing", "decode.beam"} & set(translate_defaults(data, model))


def test_what_the_user_says_goes_before_the_size():
    said = {"model.dropout": 0.0}
    sized_up = fill_sizes(TRANSLATE, recipe(**said), said, pairs(1000))
    assert sized_up.model.dropout == 0.0
    assert sized_up.tokens.vocab_size == translate_sizes(recipe(), pairs(1000), "cpu")["tokens.vocab_size"]


def test_values_depend_on_the_decoder_s_family_alone():
    for name, other in (("lstm", "transformer/lstm+dot"), ("gru", "gru+dot")):
        assert translate_defaults("numbers", ModelName.parse(name)) == translate_defaults(
            "numbers", ModelName.parse(other)
        )
        assert fill_defaults(TRANSLATE, {"model.name": name}, data="numbers").model.hidden == 128
