"""The kernel against v · tanh(q + k), written out."""

import pytest
import torch

from atento.attention.fast import additive
from atento.attention.fast.additive import additive_scores
from compiled import INSTRUCTIONS, take_library

BATCH, QUERIES, KEYS, HIDDEN = 5, 3, 7, 11


@pytest.fixture
def parts():
    torch.manual_seed(1)
    shapes = [(BATCH, QUERIES, HIDDEN), (BATCH, KEYS, HIDDEN), (HIDDEN,)]
    return [torch.randn(*shape, requires_grad=True) for shape in shapes]


def formula(query, key, weight):
    mixed = torch.tanh(query.unsqueeze(-2) + key.unsqueeze(-3))  # (..., Q, K, H)
    return (mixed * weight).sum(-1)


def same(actual, expected, leaves):
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)
    upstream = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, leaves, upstream)
    torch.testing.assert_close(torch.autograd.grad(actual, leaves, upstream), gradients, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 100])
def test_any_slicing_of_the_batch(monkeypatch, parts, rows):
    monkeypatch.setattr(additive, "SLICE", rows * QUERIES * KEYS * HIDDEN)
    given = additive.exponentials(*(part.detach() for part in parts[:2]))
    worked_on = [len(squashed) for _, squashed in additive.batch_slices(*given)]
    assert worked_on[0] == min(rows, BATCH)
    assert sum(worked_on) == BATCH
    same(additive_scores(*parts), formula(*parts), parts)


def test_a_slice_smaller_than_one_row(monkeypatch, parts):
    monkeypatch.setattr(additive, "SLICE", 1)
    same(additive_scores(*parts), formula(*parts), parts)
    assert torch.autograd.gradcheck(additive_scores, [part[:2] if part.dim() > 1 else part for part in parts])


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_any_leading_axes(lead):
    query, key = torch.randn(*lead, QUERIES, HIDDEN), torch.randn(*lead, KEYS, HIDDEN)
    weight = torch.randn(HIDDEN)
    leaves = [part.requires_grad_() for part in (query, key, weight)]
    same(additive_scores(*leaves), formula(*leaves), leaves)


def test_axes_that_broadcast():
    leaves = [torch.randn(2, 1, QUERIES, HIDDEN), torch.randn(3, KEYS, HIDDEN), torch.randn(HIDDEN)]
    leaves = [part.requires_grad_() for part in leaves]
    same(additive_scores(*leaves), formula(*leaves), leaves)


def test_memory_laid_out_otherwise():
    query = torch.randn(QUERIES, HIDDEN, BATCH).permute(2, 0, 1).requires_grad_()
    key = torch.randn(HIDDEN, BATCH, KEYS).permute(1, 2, 0).requires_grad_()
    weight = torch.randn(2 * HIDDEN)[::2].requires_grad_()
    same(additive_scores(query, key, weight), formula(query, key, weight), [query, key, weight])


@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1e-2, 0.1, 1.0])
def test_small_numbers_keep_their_digits_in_float32(parts, scale):
    """Beside large ones too: a pair is computed alike, whatever stands beside it. All are positive: nothing cancels."""
    query, key, weight = (part.detach().abs() + 0.1 for part in parts)
    query, key = scale * query, scale * key
    query[1], key[0, 3] = 5 * query[1], key[0, 3] / scale
    leaves, short = (
        [part.to(kind).requires_grad_() for part in (query, key, weight)] for kind in (None, torch.float32)
    )
    upstream = torch.rand(BATCH, QUERIES, KEYS) + 0.1
    expected, found = formula(*leaves), additive_scores(*short)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=0)
    *slopes, to_weight = torch.autograd.grad(expected, leaves, upstream)
    *short_slopes, short_to_weight = torch.autograd.grad(found, short, upstream.float())
    torch.testing.assert_close(short_to_weight.double(), to_weight, rtol=1e-5, atol=0)
    torch.testing.assert_close([slope.double() for slope in short_slopes], slopes, rtol=1e-5, atol=1e-6)


def test_large_scores_stay_finite(parts):
    query, key, weight = (1e4 * part for part in parts)
    scores = additive_scores(query, key, weight)
    torch.testing.assert_close(scores, formula(query, key, weight), rtol=1e-12, atol=1e-8)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(scores.sum(), parts))


def test_large_parts_that_nearly_cancel(parts):
    """e^q e^k is no number there, and the pairs beside them are computed as ever."""
    query, key, weight = (part.detach().clone() for part in parts)
    query[1, 2], key[1, 4] = query[1, 2] + 1e5, key[1, 4] - 1e5
    query[3], key[3, 0] = query[3] - 500.0, key[3, 0] + 501.0
    leaves = [part.requires_grad_() for part in (query, key, weight)]
    same(additive_scores(*leaves), formula(*leaves), leaves)


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 30.0])
@pytest.mark.parametrize("width", [11, 16, 48])
def test_compiled_in_float32(monkeypatch, instructions, scale, width):
    """Small pairs, ordinary ones and large ones; the last query and key are a million times as large as the others."""
    take_library(monkeypatch, instructions)
    exact = [scale * torch.randn(*shape, width) for shape in ((BATCH, QUERIES), (BATCH, KEYS))]
    exact = [*exact, torch.randn(width)]
    exact[0][-1, -1] *= 1e6 / scale
    leaves = [[part.to(dtype).requires_grad_() for part in exact] for dtype in (torch.float32, torch.float64)]
    found, expected = additive_scores(*leaves[0]), formula(*leaves[1])
    assert found.dtype == torch.float32
    upstream = torch.randn_like(expected)
    slopes = torch.autograd.grad(found, leaves[0], upstream.float())
    references = torch.autograd.grad(expected, leaves[1], upstream)
    for one, other in zip((found, *slopes), (expected, *references), strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-5 * other.abs().max().item())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_second_derivatives(parts, dtype):
    leaves = [part.detach().to(dtype).requires_grad_() for part in parts]
    seconds = []
    for scores in (additive_scores(*leaves), formula(*leaves)):
        (slope,) = torch.autograd.grad(scores.square().sum(), leaves[0], create_graph=True)
        seconds.append(torch.autograd.grad(slope.square().sum(), leaves))
    torch.testing.assert_close(*seconds, rtol=1e-3 if dtype == torch.float32 else 1e-10, atol=0)
