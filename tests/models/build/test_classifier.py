"""Names of classifiers become modules, or are refused with a way out."""

import pytest
import torch

from atento.attention import Additive, General, Softmax, Sparsemax
from atento.blocks.hierarchical import RecurrentReader
from atento.blocks.pooling import AttentionPooling
from atento.errors import InputError
from atento.models.backbones.hierarchical import HierarchicalEncoder, PlacedReader
from atento.models.backbones.recurrent import RecurrentEncoder
from atento.models.backbones.transformer import TransformerEncoder
from atento.models.build.classifier import build_classifier, build_label_sets
from atento.models.classifier import Classifier, OneEach
from atento.models.heads import LabelHead, LabelSetHead
from atento.models.summaries import end_states, largest_values
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
    assert classifier("lstm").encoder.summarise is end_states
    assert classifier("lstm", summary="max").encoder.summarise is largest_values
    assert parts_of(classifier("gru+additive+sparsemax").pooling) == [Additive, Sparsemax]
    attentive = classifier("transformer+general")
    assert isinstance(attentive.encoder, TransformerEncoder)
    assert attentive.pooling is None
    assert type(attentive.encoder.stack.each()[0].self_attention.attention.score) is General


@pytest.mark.parametrize("name", ["gru", "transformer", "transformer+general"])
def test_a_summary_by_attention(name):
    pooling = classifier(name, summary="attention").pooling
    assert isinstance(pooling, AttentionPooling)
    assert parts_of(pooling) == [Additive, Softmax]


def test_a_hierarchical_name_has_two_levels():
    model = classifier("lstm+dot+sparsemax+hierarchical")
    assert isinstance(model.encoder, HierarchicalEncoder)
    levels = model.encoder.levels
    assert isinstance(levels.word_reader, RecurrentReader)
    assert Sparsemax in parts_of(levels.word_pooling)
    placed = classifier("transformer+hierarchical").encoder.levels
    assert isinstance(placed.word_reader, PlacedReader)
    assert (placed.word_reader.scale, placed.sentence_reader.scale) == (10**0.5, 1.0)
    assert Additive in parts_of(placed.sentence_pooling)


def test_one_network_for_all_labels_or_one_each():
    torch.manual_seed(0)
    assert isinstance(build_label_sets(recipe("gru"), 13, LabelSetHead, 3), Classifier)
    each = build_label_sets(recipe("gru+additive+one-each"), 13, LabelSetHead, 3)
    assert isinstance(each, OneEach)
    assert [network.head.width for network in each.each()] == [1, 1, 1]
    assert all(isinstance(network.pooling, AttentionPooling) for network in each.each())


def test_runs_stand_beside():
    assert classifier("gru").runs is None
    assert (classifier("gru", runs=2).runs.longest, classifier("gru+hierarchical", runs=3).runs.longest) == (2, 3)


@pytest.mark.parametrize(
    "make, problem, fix",
    [
        (lambda: classifier("gru+dot+linformer+hierarchical"), "sentences are short", "leave 'linformer' out"),
        (lambda: classifier("gru+hierarchical", summary="max"), "model.summary has no meaning", "leave model.summary"),
        (lambda: classifier("gru+hierarchical", hidden=9), "must be even", "model.hidden=10"),
        (lambda: classifier("gru/gru+hierarchical"), "one half", "write gru alone"),
        (lambda: classifier("gru+additive", summary="attention"), "model.summary has no", "leave model.summary"),
        (lambda: classifier("gru+one-each"), "one-each", ""),
    ],
)
def test_what_has_no_meaning_is_answered_with_a_way_out(make, problem, fix):
    with pytest.raises(InputError) as caught:
        make()
    assert problem in caught.value.problem
    assert fix in caught.value.fix
