"""Model names: how they are taken apart, and which are refused."""

import itertools

import pytest

from atento.errors import InputError
from atento.models import ModelName, ModelPart
from atento.models.names import FAMILIES, SUFFIXES, require_encoder_decoder, require_known


@pytest.mark.parametrize(
    "text", ["lstm", "lstm+sparsemax+additive", "transformer/gru+dot", "", "/", "+", "gru/gru/gru", "a+b/+c+"]
)
def test_any_text_is_taken_apart_and_comes_back(text):
    assert str(ModelName.parse(text)) == text


def test_one_part_is_encoder_and_decoder():
    name = ModelName.parse("lstm+sparsemax+additive")
    assert name.encoder == name.decoder == ModelPart("lstm", ("sparsemax", "additive"))
    assert name.alone
    assert name.decoder.added_attention == ("additive", "sparsemax", "everything")


def test_two_parts():
    name = ModelName.parse("transformer/gru+dot")
    assert (name.encoder, name.decoder) == (ModelPart("transformer"), ModelPart("gru", ("dot",)))
    assert not name.alone
    assert name.family == "gru"
    assert str(name.bare) == "transformer/gru"


@pytest.mark.parametrize(
    "part, attention",
    [
        ("lstm", None),
        ("transformer+local", None),
        ("gru+dot+linformer", ("dot", "softmax", "everything")),
        ("conv", None),
        ("conv+sparsemax", ("additive", "sparsemax", "everything")),
    ],
)
def test_the_attention_that_words_add_to_a_family(part, attention):
    assert ModelPart.parse(part).added_attention == attention


def test_the_self_attention_of_a_transformer():
    assert ModelPart.parse("transformer").compose() == ("scaled-dot", "softmax", "everything")
    assert ModelPart.parse("transformer+local").compose() == ("scaled-dot", "softmax", "local")


def test_linformer_is_a_word_of_sequences():
    assert ModelPart.parse("gru+dot+linformer").linformer
    assert not ModelPart.parse("gru+dot").linformer
    with pytest.raises(InputError, match="no score, distribution or extent 'linformer'"):
        ModelPart.parse("conv+linformer").compose()


def test_a_suffix_stands_in_the_last_part():
    name = ModelName.parse("conv/gru+co+dot")
    assert name.has("co")
    assert not name.has("crf")
    assert str(name.without("co", "crf")) == "conv/gru+dot"
    assert not ModelName.parse("gru+co/gru").has("co")
    assert str(ModelName.parse("gru+co/gru").without("co")) == "gru+co/gru"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_some_task_knows_every_suffix(suffix):
    require_known(ModelName.parse(f"lstm+dot+{suffix}"))
    with pytest.raises(InputError, match="no model 'lsmt'"):
        require_known(ModelName.parse(f"lsmt+{suffix}"))


def test_every_family_goes_with_every_other():
    for family, other in itertools.product(FAMILIES, FAMILIES):
        require_encoder_decoder(ModelName.parse(f"{family}/{other}+dot"))


@pytest.mark.parametrize(
    "name, problem, fix",
    [
        ("lsmt", "no model 'lsmt'", "did you mean 'lstm'"),
        ("lstm+aditive", "'aditive'", "did you mean 'additive'"),
        ("lstm+sparsemax", "names no score", "lstm+dot+sparsemax"),
        ("lstm+dot+general", "one score, not two", "leave 'general' out"),
        ("gru/gru/gru", "more than two parts", "ENCODER/DECODER"),
        ("lstm+additive/gru", "a recurrent encoder has no attention", "write lstm/gru"),
        ("gru/", "no model ''", "choose one of"),
        ("lstm+dot+proportional", "gives any number", "softmax"),
        ("transformer+performer+softmax", "stands for exp(score) already", "proportional"),
        ("transformer/gru+linear+de-attention", "never negative", "another score"),
        ("gru+linformer", "names no score", "gru+dot+linformer"),
        ("transformer+linformer+local", "leaves no extent to choose", "leave 'local' out"),
        ("transformer+linformer+linformer", "'linformer'", "did you mean"),
    ],
)
def test_wrong_names_are_answered_with_a_way_out(name, problem, fix):
    with pytest.raises(InputError) as caught:
        require_encoder_decoder(ModelName.parse(name))
    assert problem in caught.value.problem
    assert fix in caught.value.fix


@pytest.mark.parametrize("suffix, kind", [("crf", "taggers"), ("co", "matchers"), ("hierarchical", "text classifiers")])
def test_a_suffix_of_another_kind_of_model_is_refused_by_its_name(suffix, kind):
    with pytest.raises(InputError, match=f"'{suffix}' has no meaning for this task") as told:
        require_encoder_decoder(ModelName.parse(f"lstm+{suffix}"))
    assert kind in told.value.found
    assert told.value.fix == f"leave +{suffix} out"
