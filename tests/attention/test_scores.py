"""Each score against its formula, one query and one key at a time."""

import math

import pytest
import torch

from atento.attention import Additive, Attention, Dot, Everything, General, ScaledDot, Softmax, Sparsemax
from atento.errors import InputError

BATCH, QUERIES, KEYS, QUERY_SIZE, KEY_SIZE, HIDDEN = 2, 3, 5, 7, 11, 13


def dot(score, query, key):
    return sum(query[place] * key[place] for place in range(len(query)))


def scaled_dot(score, query, key):
    return dot(score, query, key) / math.sqrt(QUERY_SIZE)


def general(score, query, key):
    weight = score.weight.weight  # (query_size, key_size)
    return sum(query[row] * dot(score, weight[row], key) for row in range(len(query)))


def additive(score, query, key):
    mixed = score.project_query.weight @ query + score.project_key.weight @ key
    return dot(score, score.collapse.weight[0], torch.tanh(mixed))


@pytest.mark.parametrize(
    "make, formula, key_size",
    [
        pytest.param(Dot, dot, QUERY_SIZE, marks=pytest.mark.spec("A02")),
        pytest.param(ScaledDot, scaled_dot, QUERY_SIZE, marks=pytest.mark.spec("A03")),
        pytest.param(lambda: General(QUERY_SIZE, KEY_SIZE), general, KEY_SIZE, marks=pytest.mark.spec("A04")),
        (lambda: Additive(QUERY_SIZE, KEY_SIZE, hidden_size=HIDDEN), additive, KEY_SIZE),
    ],
    ids=["dot", "scaled dot", "general", "additive"],
)
def test_scores_follow_their_formula(make, formula, key_size):
    score = make()
    query = torch.randn(BATCH, QUERIES, QUERY_SIZE, requires_grad=True)
    key = torch.randn(BATCH, KEYS, key_size, requires_grad=True)
    upstream = torch.randn(BATCH, QUERIES, KEYS)
    leaves = [query, key, *score.parameters()]

    expected = torch.stack(
        [
            formula(score, query[row, asked], key[row, answered])
            for row in range(BATCH)
            for asked in range(QUERIES)
            for answered in range(KEYS)
        ]
    ).view(BATCH, QUERIES, KEYS)
    expected_gradients = torch.autograd.grad(expected, leaves, upstream)

    scores = score(query, key)
    torch.testing.assert_close(scores, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(torch.autograd.grad(scores, leaves, upstream), expected_gradients, rtol=0, atol=1e-12)


@pytest.mark.spec("A32")
@pytest.mark.parametrize("distribution", [Softmax(), Sparsemax()], ids=["fused", "formula"])
@pytest.mark.parametrize("score", [Dot(), ScaledDot()], ids=["dot", "scaled dot"])
def test_a_product_of_unequal_widths_is_refused_with_a_way_out(score, distribution):
    query, key = torch.randn(BATCH, QUERIES, QUERY_SIZE), torch.randn(BATCH, KEYS, KEY_SIZE)
    for asked in (score, lambda query, key: Attention(score, distribution, Everything())(query, key, key)):
        with pytest.raises(InputError, match=f"query {QUERY_SIZE}, key {KEY_SIZE}") as caught:
            asked(query, key)
        assert "General" in caught.value.fix
