"""Laws of every distribution: a new one is held to them by standing in its table."""

import math

import pytest
import torch

from atento.attention import DISTRIBUTIONS, DeAttention, Entmax, Sizes, Softmax

BATCH, QUERIES, KEYS = 2, 3, 5

MEMBERS = {name: part.make(Sizes(5, 5)).double().eval() for name, part in DISTRIBUTIONS.items()}
MEMBERS |= {"entmax, α = 1.2": Entmax(1.2), "entmax, a head each": Entmax.learned(BATCH).double()}
MEMBERS["de-attention, centred"] = DeAttention("centre")

every_distribution = pytest.mark.parametrize("distribution", MEMBERS.values(), ids=MEMBERS)


def of_kind(distribution, scores):
    """The numbers as a distribution takes them: any, none negative, or a pair of which the second is none positive."""
    if distribution.takes == "kernel":
        return scores.abs()
    return torch.stack([scores, -scores.flip(-1).abs()]) if distribution.takes == "opposed" else scores


def some_scores(distribution):
    return of_kind(distribution, torch.randn(BATCH, QUERIES, KEYS))


def some_visible():
    visible = torch.rand(BATCH, QUERIES, KEYS) < 0.6
    visible[0, 0] = False  # this query sees nothing
    visible[1, 2] = True  # and this one everything
    return visible


def test_the_table_says_what_each_of_them_takes():
    for name, part in DISTRIBUTIONS.items():
        assert part.kind == MEMBERS[name].takes, name


@every_distribution
def test_weight_is_shared_among_visible_keys_only(distribution):
    visible = some_visible()
    weights = distribution(some_scores(distribution), visible)
    assert weights.shape == (BATCH, QUERIES, KEYS)
    assert (weights[~visible] == 0).all()
    assert (weights.abs() <= 1).all()
    if distribution.non_negative:
        assert (weights >= 0).all()
    if distribution.sums_to_one:
        torch.testing.assert_close(weights.sum(-1), visible.any(-1).double())


@every_distribution
def test_a_promise_not_made_is_not_kept_by_chance(distribution):
    weights = distribution(some_scores(distribution), torch.ones(1, 1, dtype=torch.bool))
    assert distribution.non_negative or (weights < 0).any()
    assert distribution.sums_to_one or ((weights.sum(-1) - 1).abs() > 0.01).all()


@every_distribution
def test_a_hidden_key_might_as_well_not_be_there(distribution):
    scores, visible = some_scores(distribution), some_visible()
    weights = distribution(scores, visible)
    for row in range(BATCH):
        for at in range(QUERIES):
            seen = visible[row, at]
            if seen.any():
                alone = scores[..., at : at + 1, :][..., seen]  # all rows of the batch: a head each stays a head each
                expected = distribution(alone, torch.ones(1, 1, dtype=torch.bool))[row, 0]
                torch.testing.assert_close(weights[row, at, seen], expected, rtol=0, atol=1e-14)


@every_distribution
def test_what_a_hidden_score_is_never_matters(distribution):
    scores, visible = some_scores(distribution), some_visible()
    results = []
    for filling in (0.0, math.nan, math.inf, -math.inf, 1e300):
        filled = scores.masked_fill(~visible, filling).requires_grad_()
        weights = distribution(filled, visible)
        gradient = torch.autograd.grad((weights.square() + 0 * filled.nan_to_num(posinf=0, neginf=0)).sum(), filled)[0]
        assert (gradient[..., ~visible] == 0).all(), filling
        results.append((weights, gradient))
    for plain, *odd in zip(*results, strict=True):
        assert all(torch.equal(plain, one) for one in odd)


@every_distribution
def test_moved_keys_take_their_weights_along(distribution):
    scores, visible, order = some_scores(distribution), some_visible(), torch.randperm(KEYS)
    moved = distribution(scores[..., order], visible[..., order])
    torch.testing.assert_close(moved, distribution(scores, visible)[..., order], rtol=0, atol=1e-15)


@every_distribution
def test_a_constant_added_to_all_scores_changes_no_share(distribution):
    """Of a kernel, which stands for an exponential: a factor."""
    scores, visible = some_scores(distribution), some_visible()
    if distribution.sums_to_one:
        changed = 17 * scores if distribution.takes == "kernel" else scores + 17
        torch.testing.assert_close(distribution(changed, visible), distribution(scores, visible))


@every_distribution
def test_large_scores_stay_finite(distribution):
    rows = [[-1e4, 0.0, 1e4], [1e4, 1e4, 1e4], [-1e4, -1e4, -1e4]]
    for dtype in (torch.float32, torch.float64):
        scores = of_kind(distribution, torch.tensor([rows, rows], dtype=dtype)).requires_grad_()
        weights = distribution(scores, torch.ones(3, 3, dtype=torch.bool))
        (gradient,) = torch.autograd.grad((weights.square() + 0 * scores).sum(), scores)
        assert weights.isfinite().all(), dtype
        assert gradient.isfinite().all(), dtype


@every_distribution
def test_float32_stays_close_to_float64(distribution):
    scores, visible = of_kind(distribution, 3 * torch.randn(BATCH, QUERIES, KEYS)), some_visible()
    short = distribution(scores.float(), visible)
    assert short.dtype == torch.float32
    torch.testing.assert_close(short.double(), distribution(scores, visible), rtol=1e-5, atol=1e-6)


@every_distribution
def test_gradients_with_a_mask(distribution):
    """By small differences; of a draw, which has none, straight-through gives the softmax's, score-function nothing."""
    visible, scores = some_visible(), some_scores(distribution).requires_grad_()
    if distribution.differentiable:
        leaves = [scores, *distribution.parameters()]
        assert torch.autograd.gradcheck(lambda values, *_: distribution(values, visible), leaves)
    elif distribution.gradient == "straight-through":
        upstream, sides = torch.randn(BATCH, QUERIES, KEYS), (distribution, Softmax())
        gradients = [torch.autograd.grad(side(scores, visible), scores, upstream)[0] for side in sides]
        torch.testing.assert_close(*gradients, rtol=0, atol=1e-15)
    else:
        assert not distribution(scores, visible).requires_grad


@every_distribution
def test_a_score_that_is_no_number_is_not_hushed_up(distribution):
    scores = some_scores(distribution)
    scores[..., 1, 1, 2] = math.nan
    weights = distribution(scores, torch.ones(QUERIES, KEYS, dtype=torch.bool))
    assert weights[1, 1].isnan().any()
    weights[1, 1] = 0.0
    assert weights.isfinite().all()
