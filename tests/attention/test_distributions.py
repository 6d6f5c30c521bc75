"""Softmax and sparsemax against their definitions, one row at a time in plain floats."""

import math

import pytest
import torch

from atento.attention import Softmax, Sparsemax

BATCH, QUERIES, KEYS = 2, 3, 7


def by_rows(formula, scores):
    rows = [formula(row.tolist()) for row in scores.view(-1, scores.size(-1))]
    return torch.tensor(rows, dtype=scores.dtype).view_as(scores)


def softmax(row):
    powers = [math.exp(value) for value in row]
    return [power / sum(powers) for power in powers]


def nearest_on_simplex(row):
    """The projection: max(s − τ, 0) with τ found by halving."""
    low, high = min(row) - 1.0, max(row)
    for _ in range(200):
        middle = (low + high) / 2
        if sum(max(value - middle, 0.0) for value in row) > 1.0:
            low = middle
        else:
            high = middle
    return [max(value - low, 0.0) for value in row]


def everything(scores):
    return torch.ones_like(scores, dtype=torch.bool)


@pytest.mark.spec("A12")
def test_softmax_follows_its_formula():
    scores = torch.randn(BATCH, QUERIES, KEYS, requires_grad=True)
    weights = Softmax()(scores, everything(scores))
    torch.testing.assert_close(weights, by_rows(softmax, scores), rtol=0, atol=1e-14)
    upstream = torch.randn(BATCH, QUERIES, KEYS)
    (gradient,) = torch.autograd.grad(weights, scores, upstream)
    share = weights.detach()  # ds_i = p_i (g_i − Σ p_j g_j)
    torch.testing.assert_close(gradient, share * (upstream - (share * upstream).sum(-1, keepdim=True)))


@pytest.mark.spec("A14")
@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0, 1e4])
def test_sparsemax_is_the_nearest_point_of_the_simplex(spread):
    scores = spread * torch.randn(BATCH, QUERIES, KEYS)
    weights = Sparsemax()(scores, everything(scores))
    torch.testing.assert_close(weights, by_rows(nearest_on_simplex, scores), rtol=0, atol=1e-12 * spread)
    points = torch.distributions.Dirichlet(torch.ones(KEYS)).sample((101, BATCH, QUERIES))
    assert ((scores - weights).norm(dim=-1) <= (scores - points).norm(dim=-1) + 1e-12 * spread).all()


@pytest.mark.spec("A14")
def test_sparsemax_by_hand():
    scores = torch.tensor([[1.0, 0.5, -1.0], [2.0, 0.5, -1.0], [0.0, 0.0, 0.0]])
    expected = torch.tensor([[0.75, 0.25, 0.0], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    weights = Sparsemax()(scores, everything(scores))
    torch.testing.assert_close(weights, expected)
    assert (weights[expected == 0] == 0).all()  # exactly


@pytest.mark.spec("A14")
def test_sparsemax_gradient():
    scores = torch.randn(BATCH, QUERIES, KEYS, requires_grad=True)
    weights = Sparsemax()(scores, everything(scores))
    upstream = torch.randn(BATCH, QUERIES, KEYS)
    (gradient,) = torch.autograd.grad(weights, scores, upstream)
    chosen = (weights > 0).to(scores.dtype)  # Martins & Astudillo, eq. 14: s ⊙ (g − mean of g over the support)
    mean = (chosen * upstream).sum(-1, keepdim=True) / chosen.sum(-1, keepdim=True)
    torch.testing.assert_close(gradient, chosen * (upstream - mean))
    assert torch.autograd.gradcheck(lambda values: Sparsemax()(values, everything(values)), scores)


def test_sparsemax_is_sparser_than_softmax():
    scores = 3 * torch.randn(BATCH, QUERIES, KEYS)
    assert (Softmax()(scores, everything(scores)) > 0).all()
    assert (Sparsemax()(scores, everything(scores)) == 0).any()
