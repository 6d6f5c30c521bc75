"""Each score that is one product against its formula, one query and one key at a time."""

import math

import pytest
import torch

from atento.attention import (
    ActivatedGeneral,
    Attention,
    BiasedGeneral,
    Dot,
    Everything,
    General,
    ScaledDot,
    Softmax,
    Sparsemax,
)
from atento.errors import InputError
from atento.layers import MAXOUT, RELU

BATCH, QUERIES, KEYS, QUERY_SIZE, KEY_SIZE = 2, 3, 5, 7, 11


def dot(score, query, key, at):
    return sum(query[place] * key[place] for place in range(len(query)))


def scaled_dot(score, query, key, at):
    return dot(score, query, key, at) / math.sqrt(QUERY_SIZE)


def general(score, query, key, at):
    weight = score.weight.weight  # (query_size, key_size)
    return sum(query[row] * dot(score, weight[row], key, at) for row in range(len(query)))


def biased_general(score, query, key, at):
    weight, bias = score.map_query.weight, score.map_query.bias  # (key_size, query_size)
    return sum(key[row] * (dot(score, weight[row], query, at) + bias[row]) for row in range(len(key)))


def activated(act):
    return lambda score, query, key, at: act(general(score, query, key, at) + score.bias)


@pytest.mark.parametrize(
    "make, formula, key_size",
    [
        pytest.param(Dot, dot, QUERY_SIZE, marks=pytest.mark.spec("A02")),
        pytest.param(ScaledDot, scaled_dot, QUERY_SIZE, marks=pytest.mark.spec("A03")),
        pytest.param(lambda: General(QUERY_SIZE, KEY_SIZE), general, KEY_SIZE, marks=pytest.mark.spec("A04")),
        pytest.param(
            lambda: BiasedGeneral(QUERY_SIZE, KEY_SIZE), biased_general, KEY_SIZE, marks=pytest.mark.spec("A05")
        ),
        pytest.param(
            lambda: ActivatedGeneral(QUERY_SIZE, KEY_SIZE),
            activated(torch.tanh),
            KEY_SIZE,
            marks=pytest.mark.spec("A06"),
        ),
        pytest.param(
            lambda: ActivatedGeneral(QUERY_SIZE, KEY_SIZE, activation=RELU),
            activated(lambda number: number.clamp(min=0)),
            KEY_SIZE,
            marks=pytest.mark.spec("A06"),
        ),
    ],
    ids=["dot", "scaled dot", "general", "biased general", "activated general", "rectified general"],
)
def test_scores_follow_their_formula(follows, make, formula, key_size):
    follows(make(), formula, key_size=key_size)


@pytest.mark.spec("A32")
@pytest.mark.parametrize("distribution", [Softmax(), Sparsemax()], ids=["fused", "formula"])
@pytest.mark.parametrize("score", [Dot(), ScaledDot()], ids=["dot", "scaled dot"])
def test_a_product_of_unequal_widths_is_refused_with_a_way_out(score, distribution):
    query, key = torch.randn(BATCH, QUERIES, QUERY_SIZE), torch.randn(BATCH, KEYS, KEY_SIZE)
    for asked in (score, lambda query, key: Attention(score, distribution, Everything())(query, key, key)):
        with pytest.raises(InputError, match=f"query {QUERY_SIZE}, key {KEY_SIZE}") as caught:
            asked(query, key)
        assert "General" in caught.value.fix


def test_a_score_is_bent_number_by_number():
    with pytest.raises(InputError, match="2 inputs per unit"):
        ActivatedGeneral(QUERY_SIZE, KEY_SIZE, activation=MAXOUT)
