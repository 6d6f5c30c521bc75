"""Names of classifiers become modules, or are refused with a way out."""

import pytest

from atento.attention import Additive, General, Softmax, Sparsemax
from atento.blocks import AttentionPooling, StackEncoder
from atento.errors import InputError
from atento.models import LabelHead
from atento.models.backbones import HierarchicalEncoder, RecurrentEncoder, TransformerEncoder
from atento.models.backbones.hierarchical import TransformerReader
from atento.models.builders import build_classifier
from atento.models.summaries import end_states, masked_max
from atento.spec import ModelRecipe


def recipe(name, **choices):
    return ModelRecipe(name=name, **{"hidden": 10, "heads": 2, **choices})


def classifier(name, **choices):
    return build_classifier(recipe(name, **choices), 13, LabelHead, 5)


def parts_of(pooling):
    return [type(part) for part in pooling.attention.children()][:2]


def test_a_recurrent_name_pools_and_a_transformer_attends():
    assert isinstance(classifier("lstm").encoder, RecurrentEncoder)
    assert classifier("lstm").pooling is None
    assert classifier("lstm").encoder.summarize is end_states
    assert classifier("lstm", pooling="max").encoder.summarize is masked_max
    assert parts_of(classifier("gru+additive+sparsemax").pooling) == [Additive, Sparsemax]
    attentive = classifier("transformer+general")
    assert isinstance(attentive.encoder, TransformerEncoder)
    assert attentive.pooling is None
    assert type(attentive.encoder.stack.each()[0].self_attention.attention.score) is General


@pytest.mark.parametrize("name", ["gru", "transformer", "transformer+general"])
def test_a_summary_by_attention(name):
    pooling = classifier(name, pooling="attention").pooling
    assert isinstance(pooling, AttentionPooling)
    assert parts_of(pooling) == [Additive, Softmax]


def test_a_hierarchical_name_has_two_levels():
    model = classifier("lstm+dot+sparsemax+hierarchical")
    assert isinstance(model.encoder, HierarchicalEncoder)
    levels = model.encoder.levels
    assert isinstance(levels.word_encoder, StackEncoder)
    assert Sparsemax in parts_of(levels.word_pooling)
    placed = classifier("transformer+hierarchical").encoder.levels
    assert isinstance(placed.word_encoder, TransformerReader)
    assert (placed.word_encoder.scale, placed.sentence_encoder.scale) == (10**0.5, 1.0)
    assert Additive in parts_of(placed.sentence_pooling)


def test_ngram_features_are_added_where_the_recipe_asks():
    assert classifier("gru").ngrams is None
    assert (classifier("gru", ngrams=2).ngrams.longest, classifier("gru+hierarchical", ngrams=3).ngrams.longest) == (
        2,
        3,
    )


@pytest.mark.parametrize(
    "make, problem, fix",
    [
        (lambda: classifier("gru+dot+linformer+hierarchical"), "sentences are short", "leave 'linformer' out"),
        (lambda: classifier("gru+hierarchical", pooling="max"), "model.pooling has no meaning", "leave model.pooling"),
        (lambda: classifier("gru+hierarchical", hidden=9), "must be even", "model.hidden=10"),
        (lambda: classifier("gru/gru+hierarchical"), "one part", "write gru alone"),
        (lambda: classifier("gru+additive", pooling="attention"), "model.pooling has no", "leave model.pooling"),
        (lambda: classifier("gru+one-each"), "one-each", ""),
    ],
)
def test_what_has_no_meaning_is_answered_with_a_way_out(make, problem, fix):
    with pytest.raises(InputError) as caught:
        make()
    assert problem in caught.value.problem
    assert fix in caught.value.fix
