"""Distributions against their definitions, one row at a time in plain floats, and against the package entmax."""

import math

import entmax
import pytest
import torch

from atento.attention import DeAttention, Entmax, Proportional, Sigmoid, Softmax, Sparsemax
from atento.errors import InputError

BATCH, QUERIES, KEYS = 2, 3, 7


def by_rows(formula, scores):
    rows = [formula(row.tolist()) for row in scores.reshape(-1, scores.size(-1))]
    return torch.tensor(rows, dtype=scores.dtype).view_as(scores)


def softmax(row):
    powers = [math.exp(value) for value in row]
    return [power / sum(powers) for power in powers]


def raised(number, power):
    return number**power if number > 0 else 0.0


def thresholded(alpha):
    """max((α − 1) s − τ, 0)^(1 / (α − 1)) with τ found by halving."""

    def formula(row):
        scaled, power = [(alpha - 1) * value for value in row], 1 / (alpha - 1)
        low, high = max(scaled) - 1.0, max(scaled)
        for _ in range(200):
            middle = (low + high) / 2
            if sum(raised(value - middle, power) for value in scaled) > 1.0:
                low = middle
            else:
                high = middle
        return [raised(value - low, power) for value in scaled]

    return formula


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


@pytest.mark.spec("A13")
def test_sigmoid_judges_each_key_by_itself():
    """In [0, 1], with no need to sum to 1: .5, .731 and .953 here."""
    scores = torch.tensor([[0.0, 1.0, 3.0]], requires_grad=True)
    weights = Sigmoid()(scores, everything(scores))
    torch.testing.assert_close(weights, torch.tensor([[0.5, 0.7310585786300049, 0.9525741268224334]]))
    assert not Sigmoid.sums_to_one and weights.sum().item() == pytest.approx(2.1836327, abs=1e-6)
    many = 9 * torch.randn(BATCH, QUERIES, KEYS, requires_grad=True)
    weights = Sigmoid()(many, everything(many))
    assert ((weights >= 0) & (weights <= 1)).all()
    torch.testing.assert_close(weights, by_rows(lambda row: [1 / (1 + math.exp(-one)) for one in row], many))
    (gradient,) = torch.autograd.grad(weights.sum(), many)
    torch.testing.assert_close(gradient, (weights * (1 - weights)).detach())
    others = torch.cat([many[..., :1], torch.randn(BATCH, QUERIES, KEYS - 1)], dim=-1)
    assert torch.equal(Sigmoid()(others, everything(many))[..., 0], weights[..., 0])


@pytest.mark.spec("A07")
def test_proportions():
    scores = torch.rand(BATCH, QUERIES, KEYS, requires_grad=True)
    weights = Proportional()(scores, everything(scores))
    torch.testing.assert_close(weights, by_rows(lambda row: [one / sum(row) for one in row], scores))
    upstream, total = torch.randn(BATCH, QUERIES, KEYS), scores.sum(-1, keepdim=True)
    (gradient,) = torch.autograd.grad(weights, scores, upstream)
    expected = (upstream - (weights * upstream).sum(-1, keepdim=True)) / total
    torch.testing.assert_close(gradient, expected.detach())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_proportions_of_nothing_are_nothing(dtype):
    tiny = torch.finfo(dtype).tiny
    scores = torch.tensor([[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [tiny, 0.0, tiny]], dtype=dtype, requires_grad=True)
    weights = Proportional()(scores, everything(scores))
    assert weights.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    (gradient,) = torch.autograd.grad((1e6 * weights).square().sum(), scores)
    assert gradient.isfinite().all() and (gradient[[0, 2]] == 0).all()


@pytest.mark.spec("A14")
@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0, 1e4])
def test_sparsemax_is_the_nearest_point_of_the_simplex(scale):
    scores = scale * torch.randn(BATCH, QUERIES, KEYS)
    weights = Sparsemax()(scores, everything(scores))
    torch.testing.assert_close(weights, by_rows(thresholded(2.0), scores), rtol=0, atol=1e-12 * scale)
    points = torch.distributions.Dirichlet(torch.ones(KEYS)).sample((101, BATCH, QUERIES))
    assert ((scores - weights).norm(dim=-1) <= (scores - points).norm(dim=-1) + 1e-12 * scale).all()


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


def test_sparsemax_is_sparser_than_entmax_than_softmax():
    scores = 3 * torch.randn(BATCH, 101, KEYS)
    zeros = [(part(scores, everything(scores)) == 0).sum() for part in (Softmax(), Entmax(1.5), Sparsemax())]
    assert 0 == zeros[0] < zeros[1] < zeros[2]


@pytest.mark.spec("A15")
@pytest.mark.parametrize("alpha", [1.01, 1.2, 1.5, 1.9, 2.0])
def test_entmax_follows_its_formula(alpha):
    scores = 3 * torch.randn(BATCH, QUERIES, KEYS)
    weights = Entmax(alpha)(scores, everything(scores))
    torch.testing.assert_close(weights, by_rows(thresholded(alpha), scores), rtol=0, atol=1e-13)


@pytest.mark.spec("A15")
def test_entmax_between_sparsemax_and_softmax():
    scores = torch.randn(BATCH, QUERIES, KEYS)
    assert torch.equal(Entmax(2.0)(scores, everything(scores)), Sparsemax()(scores, everything(scores)))
    soft = Softmax()(scores, everything(scores))
    far = [(Entmax(1 + step)(scores, everything(scores)) - soft).abs().max() for step in (1e-2, 1e-3, 1e-4)]
    assert far[0] < 1e-2
    assert [round((far[place] / far[place + 1]).item()) for place in range(2)] == [10, 10]  # in proportion to α − 1


@pytest.mark.spec("A15", "A14")
@pytest.mark.parametrize(
    "ours, theirs",
    [
        (Sparsemax(), entmax.sparsemax),
        (Entmax(1.5), entmax.entmax15),
        (Entmax(1.3), lambda scores, dim: entmax.entmax_bisect(scores, alpha=1.3, dim=dim, n_iter=100)),
    ],
    ids=["sparsemax", "entmax15", "1.3"],
)
@pytest.mark.parametrize("keys", [1, 2, 41])
def test_values_and_gradients_agree_with_the_package(ours, theirs, keys):
    scores = 2 * torch.randn(BATCH, QUERIES, keys, requires_grad=True)
    upstream = torch.randn(BATCH, QUERIES, keys)
    sides = ours(scores, everything(scores)), theirs(scores, -1)
    torch.testing.assert_close(*sides, rtol=0, atol=1e-13)
    gradients = [torch.autograd.grad(side, scores, upstream)[0] for side in sides]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-12)


@pytest.mark.spec("A15")
def test_alpha_is_learned_for_each_head():
    """Values and both gradients as by the package, with another α on each head's scores."""
    part = Entmax.learned(QUERIES)
    assert part.alpha().tolist() == [[[1.5]]] * QUERIES
    with torch.no_grad():
        part.raw.copy_(torch.tensor([-2.0, 0.3, 4.0]).view(-1, 1, 1))
    alpha = (1 + torch.sigmoid(part.raw.detach())).requires_grad_()
    scores = torch.randn(BATCH, QUERIES, 5, KEYS, requires_grad=True)
    upstream = torch.randn(BATCH, QUERIES, 5, KEYS)
    weights = part(scores, everything(scores))
    expected = entmax.entmax_bisect(scores, alpha=alpha.expand(BATCH, QUERIES, 5, 1), n_iter=100)
    torch.testing.assert_close(weights, expected, rtol=0, atol=1e-12)
    to_scores, to_raw = torch.autograd.grad(weights, (scores, part.raw), upstream)
    wanted, to_alpha = torch.autograd.grad(expected, (scores, alpha), upstream)
    torch.testing.assert_close(to_scores, wanted, rtol=0, atol=1e-10)
    slope = (alpha - 1) * (2 - alpha)  # of the sigmoid
    torch.testing.assert_close(to_raw, (to_alpha * slope).detach(), rtol=0, atol=1e-8)


@pytest.mark.spec("A15")
def test_a_learned_alpha_finds_how_sparse_to_be():
    """From 1.5 towards the α that made the weights."""
    scores = 2 * torch.randn(301, KEYS)
    part, wanted = Entmax.learned(), Entmax(1.8)(scores, everything(scores))
    optimiser = torch.optim.Adam(part.parameters(), lr=0.05, fused=True)
    for _ in range(150):
        optimiser.zero_grad()
        (part(scores, everything(scores)) - wanted).square().sum().backward()
        optimiser.step()
    assert part.alpha().item() == pytest.approx(1.8, abs=1e-3)


@pytest.mark.parametrize("alpha", [1.0, 0.5, 2.1, math.nan, -1.5])
def test_an_alpha_out_of_range_is_refused(alpha):
    with pytest.raises(InputError, match=f"alpha={alpha}"):
        Entmax(alpha)


def test_learned_alphas_belong_to_their_heads():
    with pytest.raises(InputError, match="made for 3 heads"):
        Entmax.learned(3)(torch.randn(2, 5, 7), torch.ones(1, 1, dtype=torch.bool))
    with pytest.raises(InputError, match=r"start=2\.0"):
        Entmax.learned(3, start=2.0)
    with pytest.raises(InputError, match="heads=0"):
        Entmax.learned(0)
    one, scores = Entmax.learned(1), torch.randn(5, 7)
    assert one(scores, everything(scores)).shape == (5, 7)  # no axis is added where there was none


def opposed(rescale):
    def formula(similar, near):
        middle = sum(near) / len(near)
        gates = [2 / (1 + math.exp(-one)) if rescale == "double" else 1 / (1 + math.exp(middle - one)) for one in near]
        return [math.tanh(one) * gate for one, gate in zip(similar, gates, strict=True)]

    return formula


@pytest.mark.spec("A16")
@pytest.mark.parametrize("rescale", ["double", "centre"])
def test_de_attention_follows_its_formula(rescale):
    similar, near = torch.randn(BATCH, QUERIES, KEYS), -3 * torch.rand(BATCH, QUERIES, KEYS)
    visible = torch.rand(BATCH, QUERIES, KEYS) < 0.7
    weights = DeAttention(rescale)(torch.stack([similar, near]), visible)
    assert ((weights >= -1) & (weights <= 1)).all() and (weights < 0).any() and (weights > 0).any()
    for row in range(BATCH):
        for at in range(QUERIES):
            seen = visible[row, at]
            expected = opposed(rescale)(similar[row, at, seen].tolist(), near[row, at, seen].tolist())
            torch.testing.assert_close(weights[row, at, seen], torch.tensor(expected), rtol=0, atol=1e-14)
    assert (weights[~visible] == 0).all()


@pytest.mark.spec("A16")
def test_de_attention_adds_leaves_out_and_subtracts():
    """At distance 0 a key counts as much as it is alike; far away it counts nothing, alike or not."""
    scores = torch.tensor([[[9.0, -9.0, 0.0, 9.0, -9.0]], [[0.0, 0.0, 0.0, -50.0, -50.0]]])
    weights = DeAttention()(scores, torch.ones(1, 1, dtype=torch.bool))
    torch.testing.assert_close(weights, torch.tensor([[1.0, -1.0, 0.0, 0.0, 0.0]]), rtol=0, atol=1e-7)


def test_an_unknown_rescaling_is_refused():
    with pytest.raises(InputError, match="did you mean 'centre'"):
        DeAttention("center")
