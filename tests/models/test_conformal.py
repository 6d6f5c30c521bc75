"""Conformal quantiles: by hand and by a plain loop, what exchangeability promises, and offsets in order."""

import math

import pytest
import torch

from atento.models.conformal import ConformalQuantiles, conformal_quantile, pooled_over, tails_of

WINDOWS, HORIZON, CHANNELS = 41, 5, 3


def by_hand(scores, coverage, weights):
    """Barber et al. (2023), eq. 11, score by score: w̃_i = w_i / (Σ w + 1), the rest at infinity."""
    whole, reached = sum(weights) + 1, 0.0
    for score, weight in sorted(zip(scores, weights, strict=True)):
        reached += weight / whole
        if reached >= coverage - 1e-12:
            return score
    return max(scores)


def test_the_eighth_of_nine_scores_covers_four_fifths():
    """⌈(9 + 1) · 0.8⌉ = 8; of three, ⌈4 · 0.8⌉ = 4 is one more than there are, so that the largest stands for it."""
    scores = torch.tensor([0.3, -1.0, 5.0, 2.0, 0.1, 7.0, 4.0, -2.0, 1.0])
    assert conformal_quantile(scores, 0.8, torch.ones(9)) == 5.0
    assert conformal_quantile(scores[:3], 0.8, torch.ones(3)) == 5.0
    assert conformal_quantile(scores[:4], 0.8, torch.ones(4)) == 5.0


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.98])
@pytest.mark.parametrize("share", [1.0, 0.25])
def test_equal_to_a_loop_over_scores(coverage, share):
    torch.manual_seed(0)
    scores = torch.randn(WINDOWS, HORIZON, CHANNELS, dtype=torch.float64)
    weights = torch.ones(WINDOWS, dtype=torch.float64)
    weights[23:] = share
    found = conformal_quantile(scores, coverage, weights)
    for step in range(HORIZON):
        for channel in range(CHANNELS):
            column = scores[:, step, channel].tolist()
            assert found[step, channel].item() == by_hand(column, coverage, weights.tolist())


@pytest.mark.parametrize("count", [4, 19, 20, 37])
@pytest.mark.parametrize("coverage", [0.5, 0.8])
def test_an_exchangeable_score_is_covered_as_promised(count, coverage):
    """Each of n + 1 distinct scores is the new one equally often: covered 1 − α to 1 − α + 1 / (n + 1), exactly."""
    torch.manual_seed(0)
    scores = torch.randn(count + 1, dtype=torch.float64)
    rest = [torch.cat([scores[:at], scores[at + 1 :]]) for at in range(count + 1)]
    covered = sum(
        (scores[at] <= conformal_quantile(rest[at], coverage, torch.ones(count))).item() for at in range(count + 1)
    ) / (count + 1)
    assert coverage - 1e-12 <= covered < coverage + 1 / (count + 1)


def test_levels_move_with_their_mirrors_the_innermost_first():
    assert [tail[:2] for tail in tails_of((0.1, 0.5, 0.9))] == [(0, 2)]
    assert [tail[:2] for tail in tails_of((0.05, 0.2, 0.5, 0.8, 0.9))] == [(1, 3), (None, 4), (0, None)]
    assert [round(tail.coverage, 9) for tail in tails_of((0.05, 0.2, 0.5, 0.8, 0.9))] == [0.6, 0.9, 0.95]
    assert tails_of((0.5,)) == [] and tails_of((0.9,)) == [(None, 0, 0.9)]


def sure(levels, rows=WINDOWS, width=0.1):
    """Quantiles much too near to each other, and what came."""
    torch.manual_seed(1)
    centre = torch.randn(rows, HORIZON, CHANNELS, dtype=torch.float64)
    quantiles = centre[..., None] + width * torch.tensor(levels, dtype=torch.float64)
    noise = torch.arange(1.0, HORIZON + 1)[:, None] * torch.randn(rows, HORIZON, CHANNELS, dtype=torch.float64)
    return quantiles, centre + width / 2 + noise


def test_offsets_of_an_interval_are_those_of_the_paper():
    """E = max(q_lo − y, y − q_hi), step by step and channel by channel (Romano et al., 2019, eq. 6 to 8)."""
    quantiles, targets = sure((0.1, 0.5, 0.9))
    conformal = ConformalQuantiles((0.1, 0.5, 0.9), horizon=HORIZON, channels=CHANNELS).double()
    assert torch.equal(conformal(quantiles), quantiles)  # not fitted: as learned
    assert conformal.fit(quantiles, targets, torch.ones(WINDOWS), apart=WINDOWS) == ()
    for step in range(HORIZON):
        for channel in range(CHANNELS):
            outside = [
                max(float(low - y), float(y - high))
                for (low, _, high), y in zip(quantiles[:, step, channel], targets[:, step, channel], strict=True)
            ]
            expected = sorted(outside)[math.ceil((WINDOWS + 1) * 0.8) - 1]
            assert conformal.offsets[step, channel].tolist() == pytest.approx([-expected, 0.0, expected])
    found = conformal(quantiles)
    inside = (found[..., 0] <= targets) & (targets <= found[..., -1])
    assert (inside.double().mean(dim=0) >= 0.8).all()
    assert torch.equal(found[..., 1], quantiles[..., 1])  # the point forecast


@pytest.mark.parametrize("levels", [(0.1, 0.9), (0.05, 0.2, 0.5, 0.8, 0.9), (0.3, 0.5), (0.05, 0.1, 0.9, 0.95)])
def test_quantiles_never_cross_and_never_draw_nearer(levels):
    quantiles, targets = sure(levels)
    quantiles[..., 0] -= 3.0  # far enough to begin with: an inner level would overtake it
    conformal = ConformalQuantiles(levels, horizon=HORIZON, channels=CHANNELS).double()
    conformal.fit(quantiles, targets, torch.ones(WINDOWS), apart=WINDOWS)
    fresh, _ = sure(levels, rows=7, width=0.0)  # all levels alike
    found = conformal(fresh)
    assert (found.diff(dim=-1) >= 0).all() and conformal.offsets.abs().max() > 0
    signs = torch.tensor(levels).sub(0.5).sign()
    assert (conformal.offsets * signs >= 0).all()


def test_where_they_were_too_wide_they_stay():
    quantiles, targets = sure((0.1, 0.5, 0.9), width=100.0)
    conformal = ConformalQuantiles((0.1, 0.5, 0.9), horizon=HORIZON, channels=CHANNELS).double()
    conformal.fit(quantiles, targets, torch.ones(WINDOWS), apart=WINDOWS)
    assert torch.equal(conformal(quantiles), quantiles)


def test_few_windows_share_their_offsets():
    assert pooled_over(4, 0.8, HORIZON) == () and pooled_over(3, 0.8, HORIZON) == ("steps",)
    assert pooled_over(1, 0.9, 9) == ("steps",) and pooled_over(1, 0.9, 8) == ("steps", "channels")
    quantiles, targets = sure((0.1, 0.5, 0.9))
    conformal = ConformalQuantiles((0.1, 0.5, 0.9), horizon=HORIZON, channels=CHANNELS).double()
    outside = torch.maximum(quantiles[..., 0] - targets, targets - quantiles[..., 2])
    assert conformal.fit(quantiles, targets, torch.ones(WINDOWS), apart=3) == ("steps",)
    for channel in range(CHANNELS):
        whole = by_hand(outside[..., channel].flatten().tolist(), 0.8, [1.0] * (WINDOWS * HORIZON))
        assert conformal.offsets[:, channel, 2].tolist() == [pytest.approx(whole)] * HORIZON
    assert conformal.fit(quantiles, targets, torch.ones(WINDOWS), apart=0) == ("steps", "channels")
    whole = by_hand(outside.flatten().tolist(), 0.8, [1.0] * outside.numel())
    torch.testing.assert_close(conformal.offsets[..., 2], torch.full((HORIZON, CHANNELS), whole))


def test_steps_beyond_the_horizon_have_the_last_offsets_and_old_weights_none():
    conformal = ConformalQuantiles((0.1, 0.5, 0.9), horizon=HORIZON, channels=CHANNELS)
    torch.nn.init.normal_(conformal.offsets)
    found = conformal(torch.zeros(2, HORIZON + 2, CHANNELS, 3))
    torch.testing.assert_close(found[0, :HORIZON], conformal.offsets)
    assert torch.equal(found[1, HORIZON], conformal.offsets[-1]) and torch.equal(found[1, -1], conformal.offsets[-1])
    conformal.adopt_sizes({})
    assert not conformal.state_dict() and torch.equal(conformal(found), found)
    conformal.forget()
