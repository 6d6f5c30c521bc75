"""Scores that are small networks, against their formulas, one query and one key at a time."""

import pytest
import torch

from atento.attention import Additive, Attention, Deep, Everything, FeatureBased, Location, Softmax
from atento.errors import InputError
from atento.layers import MAXOUT, TANH

QUERY_SIZE, KEY_SIZE, HIDDEN = 7, 11, 13


def joined(act):
    """The form of one network over [q; k]."""

    def formula(score, query, key, at):
        weight = torch.cat([score.project_query.weight, score.project_key.weight], dim=1)
        bias = 0 if score.project_key.bias is None else score.project_key.bias
        return score.collapse.weight[0] @ act(weight @ torch.cat([query, key]) + bias)

    return formula


def larger_of_two(values):
    return torch.maximum(values[:HIDDEN], values[HIDDEN:])


@pytest.mark.spec("A08")
@pytest.mark.parametrize(
    "options, act",
    [
        ({}, torch.tanh),
        ({"bias": True}, torch.tanh),
        ({"bias": True, "activation": TANH}, torch.tanh),
        ({"activation": torch.relu}, lambda values: values.clamp(min=0)),
        ({"bias": True, "activation": MAXOUT}, larger_of_two),
    ],
    ids=["tanh", "bias", "named tanh", "relu", "maxout"],
)
def test_additive(follows, options, act):
    follows(Additive(QUERY_SIZE, KEY_SIZE, hidden_size=HIDDEN, **options), joined(act))


def deep(act):
    def formula(score, query, key, at):
        values = act(score.project_key.weight @ key + score.project_query.weight @ query + score.project_key.bias)
        for layer in score.deeper:
            values = act(layer.weight @ values + layer.bias)
        return score.collapse.weight[0] @ values + score.collapse.bias[0]

    return formula


@pytest.mark.spec("A09")
@pytest.mark.parametrize("hidden_sizes", [(13,), (13, 3), (13, 3, 5)], ids=len)
def test_deep(follows, hidden_sizes):
    score = Deep(QUERY_SIZE, KEY_SIZE, hidden_sizes=hidden_sizes)
    follows(score, deep(torch.tanh))
    assert len(score.deeper) == len(hidden_sizes) - 1


@pytest.mark.spec("A09")
def test_deep_of_one_layer_is_additive_with_a_bias():
    """A constant on all scores is no matter for a softmax: c is what sets them apart."""
    score = Deep(QUERY_SIZE, KEY_SIZE, hidden_sizes=(HIDDEN,))
    shallow = Additive(QUERY_SIZE, KEY_SIZE, hidden_size=HIDDEN, bias=True)
    shallow.load_state_dict({name: part for name, part in score.state_dict().items() if name != "collapse.bias"})
    query, key = torch.randn(3, QUERY_SIZE), torch.randn(5, KEY_SIZE)
    torch.testing.assert_close(score(query, key), shallow(query, key) + score.collapse.bias, rtol=0, atol=1e-13)


def test_deep_bends_each_layer_by_any_activation(follows):
    follows(Deep(QUERY_SIZE, KEY_SIZE, hidden_sizes=(3, 5), activation=torch.relu), deep(torch.relu))
    wide = Deep(QUERY_SIZE, KEY_SIZE, hidden_sizes=(3, 5), activation=MAXOUT)
    assert [wide.project_key.out_features, wide.deeper[0].in_features, wide.deeper[0].out_features] == [6, 3, 10]
    assert wide(torch.randn(2, QUERY_SIZE), torch.randn(4, KEY_SIZE)).shape == (2, 4)


@pytest.mark.spec("A10")
@pytest.mark.parametrize("options, act", [({}, lambda number: number), ({"activation": torch.tanh}, torch.tanh)])
def test_location_asks_the_place_alone(follows, options, act):
    """score_i = act(W q)_i, which no key moves; W has a row for each place there can be."""
    follows(Location(QUERY_SIZE, 17, **options), lambda score, query, key, at: act(score.weight.weight[at] @ query))


def test_location_counts_padding_before_the_keys_and_not_after_them():
    """As the class and docs/attention.md say; no other score does."""
    torch.manual_seed(0)
    attention = Attention(Location(QUERY_SIZE, 17), Softmax(), Everything())
    query, key = torch.randn(2, 3, QUERY_SIZE), torch.randn(2, 5, KEY_SIZE)
    alone = attention(query, key, key)
    moved = {}
    for before, after in ((0, 3), (3, 0)):
        padded = torch.nn.functional.pad(key, (0, 0, before, after))
        valid = torch.nn.functional.pad(torch.ones(2, 5, dtype=torch.bool), (before, after))
        moved[before] = (attention(query, padded, padded, valid=valid) - alone).abs().max().item()
    assert moved[0] < 1e-15 and moved[3] > 0.1


@pytest.mark.spec("A10")
def test_location_has_no_place_for_more_keys():
    score = Location(QUERY_SIZE, 5)
    query = torch.randn(2, 3, QUERY_SIZE)
    assert score(query, torch.randn(2, 5, KEY_SIZE)).shape == (2, 3, 5)
    with pytest.raises(InputError, match="6 keys, max_length=5"):
        score(query, torch.randn(2, 6, KEY_SIZE))


def feature_based(score, query, key, at):
    mixed = score.project_first.weight @ key + score.project_second.weight @ (key * key) + score.project_first.bias
    return score.collapse.weight[0] @ torch.tanh(mixed)


@pytest.mark.spec("A11")
def test_feature_based_asks_the_key_alone(follows):
    follows(FeatureBased(KEY_SIZE, HIDDEN), feature_based)


@pytest.mark.spec("A11")
def test_features_of_halves_of_the_key(follows):
    """As area attention gives them: the mean of an area's keys, then their standard deviation."""
    score = FeatureBased(
        KEY_SIZE, HIDDEN, first=lambda key: key[..., :4], second=lambda key: key[..., 4:], activation=torch.relu
    )

    def formula(score, query, key, at):
        weights = torch.cat([score.project_first.weight, score.project_second.weight], dim=1)
        return score.collapse.weight[0] @ torch.relu(weights @ key + score.project_first.bias)

    follows(score, formula)


@pytest.mark.parametrize(
    "make, problem",
    [
        (lambda: Deep(7, 11, hidden_sizes=()), r"hidden_sizes=\(\)"),
        (lambda: Deep(7, 11, hidden_sizes=(3, 0)), r"hidden_sizes=\(3, 0\)"),
        (lambda: Additive(7, 11, hidden_size=0), "hidden_size=0"),
        (lambda: FeatureBased(11, 0), "hidden_size=0"),
        (lambda: Location(7, 0), "max_length=0"),
        (lambda: Location(7, 5, activation=MAXOUT), "2 inputs per unit"),
    ],
)
def test_sizes_that_cannot_be_are_refused(make, problem):
    with pytest.raises(InputError, match=problem):
        make()
