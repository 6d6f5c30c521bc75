"""Names of models with one part become modules, or are refused with a way out."""

import pytest

from atento.attention import Additive, Causal, Softmax, Sparsemax
from atento.blocks import AttentionPooling
from atento.errors import InputError
from atento.models import LabelHead
from atento.models.backbones import CausalTransformer, FixedVectorDecoder, RecurrentEncoder, TransformerEncoder
from atento.models.builders import build_classifier, build_language_model, build_tagger
from atento.models.builders.choices import summary_of
from atento.models.summaries import SUMMARIES
from atento.recurrent import GRUCell, LSTMCell
from atento.spec import ModelRecipe


def recipe(name, **choices):
    return ModelRecipe(name=name, **{"hidden": 10, "heads": 2, **choices})


def classifier(name, **choices):
    return build_classifier(recipe(name, **choices), 13, LabelHead, 5)


def tagger(name, **choices):
    return build_tagger(recipe(name, **choices), 13, LabelHead, 5)


def language_model(name, **choices):
    return build_language_model(recipe(name, **choices), 13)


def test_names_become_modules():
    assert isinstance(classifier("lstm").encoder, RecurrentEncoder)
    assert classifier("lstm").pooling is None
    pooled = classifier("gru+additive+sparsemax")
    assert isinstance(pooled.pooling, AttentionPooling)
    assert [type(part) for part in pooled.pooling.attention.children()][:2] == [Additive, Sparsemax]
    assert isinstance(tagger("transformer+additive").encoder, TransformerEncoder)
    assert (tagger("gru").head.size, tagger("gru").head.width) == (10, 5)


def test_a_language_model_is_a_decoder_alone():
    recurrent, attentive = language_model("lstm", layers=2).decoder, language_model("transformer+general").decoder
    assert isinstance(recurrent, FixedVectorDecoder)
    assert [type(cell) for cell in recurrent.stack.cells] == [LSTMCell, LSTMCell]
    assert [type(cell) for cell in language_model("gru").decoder.stack.cells] == [GRUCell]
    assert isinstance(attentive, CausalTransformer)
    attention = attentive.stack.each()[0].self_attention.attention
    assert (type(attention.distribution), type(attention.extent)) == (Softmax, Causal)


@pytest.mark.parametrize(
    "make, problem, fix",
    [
        (lambda: classifier("lsmt"), "no model 'lsmt'", "did you mean 'lstm'"),
        (lambda: classifier("lstm/gru"), "a classifier has one part", "write lstm alone"),
        (lambda: classifier("lstm+additive+local"), "attends to the whole sequence", "leave 'local' out"),
        (lambda: classifier("lstm+additive", pooling="max"), "model.pooling has no meaning", "leave model.pooling out"),
        (lambda: classifier("lstm", attend="bahdanau"), "model.attend has no meaning", "leave model.attend out"),
        (lambda: tagger("lstm+additive"), "from the state of each step", "write lstm, or transformer"),
        (lambda: tagger("lstm", pooling="max"), "model.pooling has no meaning", "leave model.pooling out"),
        (lambda: language_model("lstm+dot"), "has its state alone", "write lstm, or transformer"),
        (lambda: language_model("transformer+linformer"), "those still to predict", "leave 'linformer' out"),
        (lambda: language_model("transformer+local-predictive"), "where the sequence ends", "leave 'local-predictive'"),
        (lambda: classifier("gru+dot+linformer"), "a pooling has one query", "leave 'linformer' out"),
        (lambda: language_model("gru/transformer"), "a language model has one part", "write gru alone"),
        (lambda: language_model("gru", directions=1), "model.directions has no meaning", "leave model.directions out"),
    ],
)
def test_what_has_no_meaning_is_answered_with_a_way_out(make, problem, fix):
    with pytest.raises(InputError) as caught:
        make()
    assert problem in caught.value.problem
    assert fix in caught.value.fix


def test_a_summary_by_its_name():
    assert summary_of(recipe("gru"), auto="mean") is SUMMARIES["mean"]
    assert summary_of(recipe("gru", pooling="max"), auto="mean") is SUMMARIES["max"]
    with pytest.raises(InputError, match="pools the states of a classifier"):
        summary_of(recipe("gru", pooling="attention"), auto="mean")
