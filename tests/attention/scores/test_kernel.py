"""Kernels against their formulas; random features against what they estimate: exp(q . k / √d) and softmax weights."""

import copy
import math

import pytest
import torch

from atento.attention import (
    Attention,
    Causal,
    EluPlusOne,
    Everything,
    Exponential,
    Kernel,
    Proportional,
    RandomFeatures,
    Rectified,
)
from atento.attention.scores.kernel import orthogonal_directions
from atento.errors import InputError

SIZE = 7


def elu_plus_one(number):
    return number + 1 if number > 0 else math.exp(number)


@pytest.mark.spec("A07")
@pytest.mark.parametrize(
    "features, feature",
    [
        (EluPlusOne(), lambda item: torch.where(item > 0, item + 1, item.exp())),
        (Rectified(), lambda item: item * (item > 0)),
        (Exponential(), torch.exp),
    ],
    ids=["elu + 1", "relu", "exp"],
)
def test_kernels_follow_their_formula(follows, features, feature):
    follows(
        Kernel(features),
        lambda score, query, key, at: sum(a * b for a, b in zip(feature(query), feature(key), strict=True)),
        key_size=SIZE,
    )


@pytest.mark.spec("A07")
def test_weights_are_divided_by_their_sum_with_no_softmax_on_top():
    query, key = torch.randn(3, SIZE), torch.randn(5, SIZE)
    weights = Attention(Kernel(EluPlusOne()), Proportional(), Everything()).weights(query, key)
    for row, asked in zip(weights, query.tolist(), strict=True):
        scores = [
            sum(elu_plus_one(a) * elu_plus_one(b) for a, b in zip(asked, one, strict=True)) for one in key.tolist()
        ]
        torch.testing.assert_close(row, torch.tensor([score / sum(scores) for score in scores]), rtol=0, atol=1e-14)


def estimates(query, key, *, count, seeds):
    """φ(q) . φ(k) by other directions for each seed: (seeds, Q, K)."""
    features = RandomFeatures(query.size(-1), count=count)
    found = []
    for seed in range(seeds):
        features.redraw(seed)
        found.append(features(query) @ features(key).mT)
    return torch.stack(found)


def some_pair(size=5):
    """Of such lengths that exp(|q + k|²), to which the variance is proportional, is a small number."""
    return 0.4 * torch.randn(2, size) + 0.2, 0.4 * torch.randn(3, size) + 0.2


@pytest.mark.spec("A07")
def test_the_estimate_of_the_exponential_is_unbiased():
    """The mean over many draws is exp(q . k / √d) within its own error, for whole and for cut blocks of directions."""
    query, key = some_pair()
    truth = (query @ key.mT / math.sqrt(5)).exp()
    for count in (5, 8):
        found = estimates(query, key, count=count, seeds=3000)
        error = found.std(dim=0) / math.sqrt(len(found))
        assert (error < 0.03 * truth).all()  # sharp enough to tell
        assert ((found.mean(dim=0) - truth).abs() < 4 * error).all()


@pytest.mark.spec("A07", "C04")
def test_the_error_falls_as_one_over_the_root_of_the_features():
    query, key = some_pair()
    truth = (query @ key.mT / math.sqrt(5)).exp()
    counts = [10, 40, 160, 640]
    errors = [(estimates(query, key, count=count, seeds=300) / truth - 1).square().mean().sqrt() for count in counts]
    assert slope(counts, errors) == pytest.approx(-0.5, abs=0.05)


@pytest.mark.spec("A07", "C04")
def test_the_weights_near_those_of_softmax_attention():
    """They are consistent: their error falls by the same law, towards nothing."""
    query, key = some_pair()
    truth = (query @ key.mT / math.sqrt(5)).softmax(dim=-1)
    counts, errors = [10, 40, 160, 640], []
    for count in counts:
        squares = []
        for seed in range(100):
            attention = Attention(Kernel(RandomFeatures(5, count=count, seed=seed)), Proportional(), Everything())
            squares.append((attention.weights(query, key) - truth).square())
        errors.append(torch.stack(squares).mean().sqrt())
    assert slope(counts, errors) == pytest.approx(-0.5, abs=0.06)
    assert errors[-1] < 0.02


def slope(counts, errors):
    """Of the line through the logarithms."""
    across = torch.tensor(counts).log()
    up = torch.stack(errors).log()
    across, up = across - across.mean(), up - up.mean()
    return ((across * up).sum() / across.square().sum()).item()


@pytest.mark.spec("A07")
def test_directions_are_normal_each_and_orthogonal_together():
    generator = torch.Generator().manual_seed(3)
    drawn = torch.stack([orthogonal_directions(5, 8, generator) for _ in range(4000)])  # (draws, 8, 5)
    products = drawn @ drawn.mT
    off = products - torch.diag_embed(products.diagonal(dim1=-2, dim2=-1))
    assert off[:, :5, :5].abs().max() < 1e-12 and off[:, 5:, 5:].abs().max() < 1e-12
    assert off[:, :5, 5:].abs().min() > 0
    std = 1 / math.sqrt(len(drawn))
    assert (drawn.mean(dim=0).abs() < 4.5 * std).all()
    assert ((drawn.square().mean(dim=0) - 1).abs() < 4.5 * math.sqrt(2) * std).all()
    assert ((drawn.pow(4).mean(dim=0) - 3).abs() < 4.5 * math.sqrt(96) * std).all()
    assert ((drawn[..., 0] * drawn[..., 1]).mean(dim=0).abs() < 4.5 * std).all()


@pytest.mark.spec("A07")
def test_orthogonal_directions_err_less_than_independent_ones():
    query, key = some_pair()
    truth = (query @ key.mT / math.sqrt(5)).exp()
    orthogonal = (estimates(query, key, count=5, seeds=3000) / truth - 1).square().mean()
    features, squares = RandomFeatures(5, count=5), []
    for _ in range(3000):
        features.directions.normal_()
        squares.append(((features(query) @ features(key).mT) / truth - 1).square())
    assert orthogonal < 0.95 * torch.stack(squares).mean()


@pytest.mark.spec("A07")
def test_what_is_taken_out_of_a_query_cancels():
    """The score is φ(q) . φ(k) times a number of the query's own; the weights are those of φ alone."""
    features = RandomFeatures(SIZE, count=31)
    query, key = torch.randn(3, SIZE, requires_grad=True), torch.randn(5, SIZE, requires_grad=True)
    plain = features(query) @ features(key).mT
    ratio = Kernel(features)(query, key) / plain
    torch.testing.assert_close(ratio, ratio[:, :1].expand_as(ratio), rtol=1e-12, atol=0)
    expected = plain / plain.sum(dim=-1, keepdim=True)
    weights = Attention(Kernel(features), Proportional(), Everything()).weights(query, key)
    torch.testing.assert_close(weights, expected, rtol=0, atol=1e-14)
    upstream = torch.randn(3, 5)
    found, wanted = (torch.autograd.grad(side, (query, key), upstream) for side in (weights, expected))
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-13)


@pytest.mark.spec("A07")
@pytest.mark.parametrize("size", [8, 32, 64])
def test_no_key_can_make_a_feature_overflow(size):
    """In float32: w . x − |x|² / 2 is largest at x = w, where it is |w|² / 2; no maximum over keys is needed."""
    features = RandomFeatures(size, count=256).float()
    worst = features.directions * size**0.25
    most = features.directions.square().sum(dim=-1) / 2
    torch.testing.assert_close(features.exponents(worst).diagonal(), most, rtol=1e-4, atol=1e-4)
    for scale in (0.1, 1.0, 10.0):
        assert (features.exponents(scale * torch.randn(1009, size, dtype=torch.float32)) <= most + 1e-4).all()
    weights = Attention(Kernel(features), Proportional(), Everything()).weights(worst, worst)
    assert weights.isfinite().all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(256, dtype=torch.float32))


@pytest.mark.spec("A07")
def test_a_large_query_does_not_vanish():
    features = RandomFeatures(16, count=64).float()
    query, key = 30 * torch.randn(5, 16, dtype=torch.float32), torch.randn(3, 16, dtype=torch.float32)
    assert (features(query) == 0).all()  # φ alone has nothing left of it
    weights = Attention(Kernel(features), Proportional(), Everything()).weights(query, key)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(5, dtype=torch.float32))


def test_directions_follow_the_seed_and_nothing_else():
    before = torch.get_rng_state()
    first, again, other = (RandomFeatures(SIZE, count=10, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first.directions, again.directions)
    assert not torch.equal(first.directions, other.directions)
    again.redraw(2)
    assert torch.equal(again.directions, other.directions)
    assert list(first.state_dict()) == ["directions"]
    assert list(first.parameters()) == []
    torch.testing.assert_close(RandomFeatures(SIZE, count=10, seed=1).float().directions.double(), first.directions)


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="size=0"):
        RandomFeatures(0)
    with pytest.raises(InputError, match="count=-1"):
        RandomFeatures(3, count=-1)
    with pytest.raises(InputError, match="width 4, size=3"):
        RandomFeatures(3)(torch.randn(2, 4))
    with pytest.raises(InputError, match="query 3, key 4"):
        Kernel(EluPlusOne())(torch.randn(2, 3), torch.randn(2, 4))


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("cast", [False, True])
@pytest.mark.parametrize("length", [5, 211])  # by the formula, and by sums
def test_random_features_of_short_floats_and_under_autocast(kind, cast, length):
    """A module of float32 takes items of any dtype, and stays within the rounding of a short float."""
    attention = Attention(Kernel(RandomFeatures(7, count=23)), Proportional(), Causal())
    given = [torch.randn(2, 3, length, 7).to(kind) for _ in range(3)]
    exact = copy.deepcopy(attention).double()(*(part.double() for part in given))
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=cast):
        found = attention(*given)
        weights = attention.weights(*given[:2])
    limit = 1e-5 if kind == torch.float32 and not cast else 1e-2
    assert found.dtype == kind or cast
    assert float((found.double() - exact).norm() / exact.norm()) < limit
    assert float((weights.double().sum(dim=-1) - 1).abs().max()) < 5 * limit
