"""Recipe keys of recurrent encoders and decoders become parts; those without a meaning are refused."""

import pytest

from atento.errors import InputError
from atento.layers import masked_mean
from atento.models.backbones import BahdanauDecoder, FixedVectorDecoder, LuongDecoder
from atento.models.backbones.recurrent import ConcatContext, NoContext, ZeroState
from atento.models.builders import Vocabularies, build_translator
from atento.models.summaries import end_states, last_state, masked_max
from atento.spec import ModelRecipe


def build(name, **choices):
    return build_translator(ModelRecipe(name=name, **{"hidden": 10, "heads": 2, **choices}), Vocabularies(13, 11))


@pytest.mark.parametrize(
    "keys, summarise",
    [
        ({}, end_states),
        ({"pooling": "last"}, end_states),
        ({"pooling": "mean"}, masked_mean),
        ({"pooling": "max"}, masked_max),
        ({"directions": 1}, last_state),
        ({"directions": 1, "pooling": "max"}, masked_max),
    ],
)
def test_summary_and_directions_of_an_encoder(keys, summarise):
    encoder = build("gru", **keys).encoder
    assert encoder.summarize is summarise
    assert encoder.stack.directions == keys.get("directions", 2)
    assert encoder.size == 10, "as wide either way"


def test_the_summary_of_a_transformer_is_the_mean_unless_told():
    assert build("transformer/gru").encoder.summarize is masked_mean
    assert build("transformer/gru", pooling="last").encoder.summarize is last_state


@pytest.mark.parametrize(
    "name, handover, first, feed",
    [
        ("gru", "auto", True, ConcatContext),
        ("gru", "state", True, NoContext),
        ("gru", "input", False, ConcatContext),
        ("gru", "both", True, ConcatContext),
        ("gru+dot", "auto", True, NoContext),
        ("gru+dot", "both", True, ConcatContext),
    ],
)
def test_how_a_decoder_gets_the_summary(name, handover, first, feed):
    decoder = build(name, context=handover).decoder
    assert (type(decoder.first_states) is not ZeroState) is first
    assert type(decoder.feed) is feed


def test_when_a_decoder_looks():
    assert type(build("lstm").decoder) is FixedVectorDecoder
    assert type(build("lstm+additive").decoder) is LuongDecoder
    decoder = build("lstm+additive", attend="bahdanau", layers=2).decoder
    assert type(decoder) is BahdanauDecoder
    assert [cell.input_size for cell in decoder.stack.cells] == [20, 10]
    assert build("lstm+additive", attend="bahdanau", context="both").decoder.stack.cell(0).input_size == 30


def test_one_direction_needs_no_even_width():
    assert build("gru", hidden=7, directions=1).encoder.size == 7
    with pytest.raises(InputError, match="must be even") as caught:
        build("gru", hidden=7)
    assert "model.directions=1" in caught.value.fix


@pytest.mark.parametrize(
    "name, keys, why",
    [
        ("lstm", {"attend": "bahdanau"}, "attends to nothing"),
        ("transformer", {"attend": "bahdanau"}, "attends to the states of the source"),
        ("gru/transformer", {"context": "state"}, "attends to the states of the source"),
        ("transformer", {"pooling": "max"}, "attends to the states of the source"),
    ],
)
def test_keys_without_a_meaning_are_refused(name, keys, why):
    ((key, value),) = keys.items()
    with pytest.raises(InputError) as caught:
        build(name, **keys)
    assert caught.value.problem.startswith(f"model {name!r}: model.{key} has no meaning here")
    assert why in caught.value.problem
    assert caught.value.found == f"model.{key}={value}"
    assert f"leave model.{key} out" in caught.value.fix
