"""Laws of every distribution: a new one is held to them by standing in its table."""

import math

import pytest
import torch

from atento.attention.presets import DISTRIBUTIONS, Sizes

BATCH, QUERIES, KEYS = 2, 3, 5

every_distribution = pytest.mark.parametrize(
    "distribution", [part.make(Sizes(5, 5)) for part in DISTRIBUTIONS.values()], ids=DISTRIBUTIONS
)


def some_visible():
    visible = torch.rand(BATCH, QUERIES, KEYS) < 0.6
    visible[0, 0] = False  # this query sees nothing
    visible[1, 2] = True  # and this one everything
    return visible


@every_distribution
def test_weight_is_shared_among_visible_keys_only(distribution):
    visible = some_visible()
    weights = distribution(torch.randn(BATCH, QUERIES, KEYS), visible)
    assert (weights[~visible] == 0).all()
    if distribution.non_negative:
        assert (weights >= 0).all()
    if distribution.sums_to_one:
        torch.testing.assert_close(weights.sum(-1), visible.any(-1).double())


@every_distribution
def test_a_hidden_key_might_as_well_not_be_there(distribution):
    scores, visible = torch.randn(BATCH, QUERIES, KEYS), some_visible()
    weights = distribution(scores, visible)
    for row in range(BATCH):
        for at in range(QUERIES):
            seen = visible[row, at]
            if seen.any():
                alone = scores[row, at, seen]
                expected = distribution(alone, torch.ones_like(alone, dtype=torch.bool))
                torch.testing.assert_close(weights[row, at, seen], expected, rtol=0, atol=1e-14)


@every_distribution
@pytest.mark.parametrize("nothing", [math.nan, math.inf, -math.inf, 1e300])
def test_what_a_hidden_score_is_never_matters(distribution, nothing):
    scores, visible = torch.randn(BATCH, QUERIES, KEYS), some_visible()
    results = []
    for filling in (0.0, nothing):
        filled = scores.masked_fill(~visible, filling).requires_grad_()
        weights = distribution(filled, visible)
        results.append((weights, *torch.autograd.grad(weights.square().sum(), filled)))
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])
    assert (results[1][1][~visible] == 0).all()


@every_distribution
def test_moved_keys_take_their_weights_along(distribution):
    scores, visible, order = torch.randn(BATCH, QUERIES, KEYS), some_visible(), torch.randperm(KEYS)
    moved = distribution(scores[..., order], visible[..., order])
    torch.testing.assert_close(moved, distribution(scores, visible)[..., order], rtol=0, atol=1e-15)


@every_distribution
def test_a_constant_added_to_all_scores_changes_no_share(distribution):
    scores, visible = torch.randn(BATCH, QUERIES, KEYS), some_visible()
    if distribution.sums_to_one:
        torch.testing.assert_close(distribution(scores + 17, visible), distribution(scores, visible))


@every_distribution
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_scores_stay_finite(distribution, dtype):
    scores = torch.tensor([[-1e4, 0.0, 1e4], [1e4, 1e4, 1e4], [-1e4, -1e4, -1e4]], dtype=dtype, requires_grad=True)
    weights = distribution(scores, torch.ones(3, 3, dtype=torch.bool))
    (gradient,) = torch.autograd.grad(weights.square().sum(), scores)
    assert weights.isfinite().all()
    assert gradient.isfinite().all()


@every_distribution
def test_float32_stays_close_to_float64(distribution):
    scores, visible = 3 * torch.randn(BATCH, QUERIES, KEYS), some_visible()
    short = distribution(scores.float(), visible)
    assert short.dtype == torch.float32
    torch.testing.assert_close(short.double(), distribution(scores, visible), rtol=1e-5, atol=1e-6)


@every_distribution
def test_gradients_with_a_mask(distribution):
    visible = some_visible()
    scores = torch.randn(BATCH, QUERIES, KEYS, requires_grad=True)
    assert torch.autograd.gradcheck(lambda values: distribution(values, visible), scores)


@every_distribution
def test_a_score_that_is_no_number_is_not_hushed_up(distribution):
    scores = torch.randn(BATCH, QUERIES, KEYS)
    scores[1, 1, 2] = math.nan
    everything = torch.ones_like(scores, dtype=torch.bool)
    weights = distribution(scores, everything)
    assert weights[1, 1].isnan().any()
    weights[1, 1] = 0.0
    assert weights.isfinite().all()
