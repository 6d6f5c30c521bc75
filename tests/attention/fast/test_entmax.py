"""Newton's thresholds: exact, one row at a time, in any slices."""

import entmax
import pytest
import torch

from atento.attention.fast import entmax as fast_entmax
from atento.attention.fast.entmax import entmax_weights, recorded_entmax
from cases import law_over

ORDERS = [1e-4, 1e-3, 0.1, 0.5, 0.77, 1.0]


@pytest.mark.spec("A15")
@law_over(order=ORDERS, scale=[1e-3, 1.0, 30.0, 1e5])
def test_exact_for_every_order_and_scale(order, scale):
    """Σ p = 1 and p = max((α − 1) s − τ, 0)^(1 / (α − 1)) for one τ: what defines the weights."""
    scores = scale * torch.randn(31, 53)
    weights = entmax_weights(scores, torch.tensor(order))
    torch.testing.assert_close(weights.sum(-1), torch.ones(31), rtol=0, atol=1e-13)
    roots = weights.pow(order)
    threshold = (order * scores - roots).masked_fill(weights <= 1e-9, torch.nan)
    middle = threshold.nanmean(dim=-1, keepdim=True)
    assert ((threshold - middle).abs().nan_to_num() <= 1e-12 * max(1.0, scale)).all()
    left_over = (order * scores - middle).clamp(min=0).pow(1 / order)
    assert (left_over[weights == 0] < 1e-9 * max(1.0, scale)).all()


@pytest.mark.parametrize("order", ORDERS)
def test_float32_is_exact_to_its_last_digits(order):
    scores = 2 * torch.randn(31, 53)
    short = entmax_weights(scores.float(), torch.tensor(order))
    assert short.dtype == torch.float32
    expected = entmax.entmax_bisect(scores, alpha=1 + order, n_iter=100)
    torch.testing.assert_close(short.double(), expected, rtol=0, atol=1e-6)


def test_low_precision_comes_out_as_it_came_in():
    scores = torch.randn(3, 5).bfloat16().requires_grad_()
    weights = entmax_weights(scores, torch.tensor(1.0))
    assert weights.dtype == torch.bfloat16
    weights[..., 0].sum().backward()
    assert scores.grad.dtype == torch.bfloat16


@pytest.mark.parametrize("order", [0.3, 0.5, 1.0])
def test_rows_do_not_know_their_neighbours(order, monkeypatch):
    """A row that stands still is not moved by those that still climb, nor by where a slice ends."""
    scores = torch.cat([torch.randn(7, 13), 100 * torch.randn(7, 13), 1e-3 * torch.randn(7, 13)])
    scores.requires_grad_()
    whole = entmax_weights(scores, torch.tensor(order))
    upstream = torch.randn_like(whole)
    (gradient,) = torch.autograd.grad(whole, scores, upstream)
    for size in (1, 2, 5):
        monkeypatch.setattr(fast_entmax, "SLICE", 13 * size)
        parts = entmax_weights(scores, torch.tensor(order))
        torch.testing.assert_close(parts, whole, rtol=0, atol=1e-14)  # some CPUs take powers in other groups
        torch.testing.assert_close(torch.autograd.grad(parts, scores, upstream)[0], gradient, rtol=0, atol=1e-13)


@pytest.mark.spec("A15")
@pytest.mark.parametrize("raw", [-6.0, 0.0, 3.0, 50.0], ids=["1.0025", "1.5", "1.95", "2"])
def test_gradients_of_scores_and_order(raw):
    raw = torch.tensor([[raw], [raw - 0.1]], requires_grad=True)
    scores = torch.randn(3, 2, 7, requires_grad=True)
    assert torch.autograd.gradcheck(lambda scores, raw: entmax_weights(scores, raw.sigmoid()), (scores, raw), atol=1e-4)


def test_equal_scores_share_alike_and_one_key_takes_all():
    for order in ORDERS:
        alike = entmax_weights(torch.full((2, 5), -3e4), torch.tensor(order))
        torch.testing.assert_close(alike, torch.full((2, 5), 0.2))
        assert entmax_weights(torch.randn(2, 1), torch.tensor(order)).tolist() == [[1.0], [1.0]]


def test_no_rows_at_all():
    assert entmax_weights(torch.randn(0, 5), torch.tensor(0.5)).shape == (0, 5)


@pytest.mark.parametrize("order", [1e-4, 0.1, 0.5, 0.9, 1.0])
def test_recorded_entmax_is_entmax_with_its_gradients(order):
    """Rows of one key, of equal keys and of many; the order as a number and as a parameter."""
    alpha = torch.tensor(order, requires_grad=True)
    for keys, spread in [(1, 1.0), (17, 0.1), (17, 3.0), (300, 10.0)]:
        scores = spread * torch.randn(3, keys)
        scores[0, 1:] = torch.finfo(scores.dtype).min
        scores[1] = 0.5
        leaves, upstream = [scores.requires_grad_(), alpha], torch.randn(3, keys)
        found, wanted = (weigh(scores, alpha) for weigh in (recorded_entmax, entmax_weights))
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-14)
        slopes = [torch.autograd.grad((each * upstream).sum(), leaves) for each in (found, wanted)]
        torch.testing.assert_close(*slopes, rtol=1e-8, atol=1e-10)
        torch.testing.assert_close(recorded_entmax(scores, order), wanted, rtol=0, atol=1e-14)
