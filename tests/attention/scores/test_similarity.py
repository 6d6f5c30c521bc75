"""Scores of likeness against their formulas."""

import math

import pytest
import torch

from atento.attention import (
    Attention,
    EluPlusOne,
    Everything,
    General,
    Kernel,
    Opposed,
    ScaledDot,
    Similarity,
    Softmax,
    SquaredDistance,
    cosine,
    minus_euclidean,
    minus_manhattan,
)
from atento.errors import InputError

SIZE = 7


def angle(score, query, key, at):
    return (query * key).sum() / (query.square().sum().sqrt() * key.square().sum().sqrt())


def straight(score, query, key, at):
    return -(query - key).square().sum().sqrt()


def around(score, query, key, at):
    return -sum((query[place] - key[place]).abs() for place in range(SIZE))


@pytest.mark.spec("A01")
@pytest.mark.parametrize(
    "measure, formula",
    [(cosine, angle), (minus_euclidean, straight), (minus_manhattan, around)],
    ids=["cosine", "euclidean", "manhattan"],
)
def test_similarities_follow_their_formula(follows, measure, formula):
    follows(Similarity(measure), formula, key_size=SIZE)
    follows(Similarity(measure, sharpness=3.0), lambda *given: 3 * formula(*given), key_size=SIZE)
    learned = Similarity(measure, sharpness=3.0, learned=True)
    assert learned.sharpness().item() == pytest.approx(3.0)
    follows(learned, lambda score, *given: score.log_sharpness.exp() * formula(score, *given), key_size=SIZE)


@pytest.mark.spec("A01")
def test_the_squared_distance_follows_its_formula(follows):
    def formula(score, query, key, at):
        return -sum((query[place] - key[place]) ** 2 for place in range(SIZE)) / (2 * math.sqrt(SIZE))

    follows(SquaredDistance(), formula, key_size=SIZE)


@pytest.mark.spec("A01")
def test_squared_distance_weighs_equally_long_keys_as_scaled_dot_does():
    """And it prefers the key that is equal to the query, where a product prefers a longer one."""
    query, key = torch.randn(2, 3, SIZE), torch.randn(2, 5, SIZE)
    distant, product = (Attention(score, Softmax(), Everything()) for score in (SquaredDistance(), ScaledDot()))
    assert not torch.allclose(distant.weights(query, key), product.weights(query, key))
    key = 3 * key / key.norm(dim=-1, keepdim=True)
    torch.testing.assert_close(distant.weights(query, key), product.weights(query, key), rtol=0, atol=1e-13)
    equal_and_longer = torch.cat([query[:, :1], 2 * query[:, :1]], dim=1)
    assert (distant.weights(query[:, :1], equal_and_longer).argmax(-1) == 0).all()
    assert (product.weights(query[:, :1], equal_and_longer).argmax(-1) == 1).all()


@pytest.mark.spec("A01")
def test_apple_and_a_neighbour_at_45_degrees():
    """Whatever their lengths: cosine 1 and .7071, weights .573 and .427; twice as sharp, .642 and .358."""
    items = torch.tensor([[3.0, 0.0], [0.2, 0.2]])
    weights = Attention(Similarity(), Softmax(), Everything()).weights(items[:1], items)
    assert [round(weight, 3) for weight in weights[0].tolist()] == [0.573, 0.427]
    sharper = Attention(Similarity(sharpness=2.0), Softmax(), Everything()).weights(items[:1], items)
    assert [round(weight, 3) for weight in sharper[0].tolist()] == [0.642, 0.358]


@pytest.mark.spec("A01")
def test_a_vector_of_zeros_is_like_nothing():
    query, key = torch.randn(2, SIZE), torch.randn(3, SIZE)
    query[0], key[1] = 0.0, 0.0
    leaves = [query.requires_grad_(), key.requires_grad_()]
    scores = cosine(query, key)
    assert (scores[0] == 0).all() and (scores[:, 1] == 0).all() and scores[1, 0] != 0
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(scores.sum(), leaves))


@pytest.mark.parametrize("measure", [minus_euclidean, minus_manhattan])
def test_equal_vectors_are_at_distance_zero_with_a_finite_gradient(measure):
    items = torch.randn(5, SIZE, requires_grad=True)
    scores = measure(items, items)
    assert (scores.diagonal() == 0).all() and (scores <= 0).all()
    assert torch.autograd.grad(scores.sum(), items)[0].isfinite().all()


def test_near_vectors_far_away_are_told_apart():
    """Distances are not taken by way of products, which would lose them here."""
    far = 1e6 + torch.tensor([[0.0, 0.0], [3e-3, 4e-3]])
    assert minus_euclidean(far[:1], far[1:]).item() == pytest.approx(-5e-3, rel=1e-6)
    many = 1e6 + 1e-3 * torch.randn(31, 2)  # torch changes over to products for more than 25
    expected = torch.tensor([[-math.dist(one, other) for other in many.tolist()] for one in many.tolist()])
    torch.testing.assert_close(minus_euclidean(many, many), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sharpness", [0.0, -1.0, math.inf, math.nan])
def test_sharpness_is_a_positive_number(sharpness):
    with pytest.raises(InputError, match=f"sharpness={sharpness}"):
        Similarity(sharpness=sharpness)


def test_unequal_widths_are_refused():
    for score in (Similarity(), SquaredDistance()):
        with pytest.raises(InputError, match="query 7, key 5"):
            score(torch.randn(2, 7), torch.randn(2, 5))


@pytest.mark.spec("A16")
def test_an_opposed_pair_is_its_two_scores():
    """On a new first axis, whatever the first makes of the keys."""
    query, key = torch.randn(2, 3, SIZE), torch.randn(2, 5, SIZE)
    for similar in (ScaledDot(), General(SIZE, SIZE), Similarity()):
        distant = Similarity(minus_manhattan, sharpness=0.5)
        pair = Opposed(similar, distant)(query, key)
        assert pair.shape == (2, 2, 3, 5)
        torch.testing.assert_close(pair[0], similar(query, key), rtol=0, atol=0)
        torch.testing.assert_close(pair[1], -torch.cdist(query, key, p=1.0) / 2, rtol=0, atol=1e-13)


def test_a_pair_needs_a_similarity_of_either_sign():
    with pytest.raises(InputError, match="Kernel, which gives kernel"):
        Opposed(Kernel(EluPlusOne()), Similarity(minus_manhattan))
