"""The fused kernel is taken where it knows the composition, and nowhere else."""

import pytest
import torch
from torch.nn import functional

from atento.attention import (
    DISTRIBUTIONS,
    EXTENTS,
    SCORES,
    Attention,
    Causal,
    Composition,
    Everything,
    Extent,
    ScaledDot,
    Sizes,
    Softmax,
    View,
    Window,
)
from cases import law_over
from compositions import has_meaning

BATCH, QUERIES, KEYS, SIZE = 2, 5, 5, 7
DOT_PRODUCTS = ("dot", "scaled-dot")


@pytest.fixture
def calls(monkeypatch):
    """Every call of torch's kernel, which still does its work."""
    made, kernel = [], functional.scaled_dot_product_attention

    def counted(*arguments, **options):
        made.append(options)
        return kernel(*arguments, **options)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", counted)
    return made


def assert_context_of_the_weights(names, padded):
    attention, items = names.build(Sizes(query=SIZE, key=SIZE, reach=1)).eval(), torch.randn(BATCH, KEYS, SIZE)
    valid = torch.tensor([[True] * 4 + [False], [True] * 5]) if padded else None
    by_formula = attention.weights(items, items, valid=valid) @ items
    torch.testing.assert_close(attention(items, items, items, valid=valid), by_formula, rtol=0, atol=1e-13)


@law_over(extent=EXTENTS, score=DOT_PRODUCTS, padded=[False, True])
def test_a_softmax_of_dot_products_takes_the_kernel(calls, extent, score, padded):
    """Once, for the context and not for the weights; not where a Gaussian multiplies the weights."""
    calls.clear()
    assert_context_of_the_weights(Composition(score, "softmax", extent), padded)
    assert len(calls) == (extent != "local-predictive")


def is_other(score, distribution, extent, padded):
    known = score in DOT_PRODUCTS and distribution == "softmax"
    return not known and has_meaning(score, distribution, extent)


@law_over(score=SCORES, distribution=DISTRIBUTIONS, extent=EXTENTS, padded=[False, True], allowed=is_other)
def test_nothing_else_takes_the_kernel(calls, score, distribution, extent, padded):
    assert_context_of_the_weights(Composition(score, distribution, extent), padded)
    assert calls == []


def test_the_kernel_gets_no_mask_where_none_is_needed(calls):
    items = torch.randn(BATCH, KEYS, SIZE)
    Attention(ScaledDot(), Softmax(), Everything())(items, items, items)
    Attention(ScaledDot(), Softmax(), Causal())(items, items, items)
    assert [(call["attn_mask"], call["is_causal"]) for call in calls] == [(None, False), (None, True)]
    Attention(ScaledDot(), Softmax(), Causal())(items[:, :3], items, items)  # not the whole square
    Attention(ScaledDot(), Softmax(), Window(1))(items, items, items)
    assert all(call["attn_mask"] is not None for call in calls[2:])


class Halved(Extent):
    def forward(self, query, key, *, query_at, key_at, valid):
        return View(torch.ones(1, 1, dtype=torch.bool), factor=torch.tensor([[0.5]]))


class OurSoftmax(Softmax):
    """A kind the kernel cannot know."""


def test_a_factor_or_an_unknown_part_goes_by_the_formula(calls):
    items = torch.randn(BATCH, KEYS, SIZE)
    whole = Attention(ScaledDot(), OurSoftmax(), Everything())(items, items, items)
    halved = Attention(ScaledDot(), Softmax(), Halved())(items, items, items)
    assert calls == []
    torch.testing.assert_close(halved, whole / 2)
    torch.testing.assert_close(Attention(ScaledDot(), Softmax(), Everything())(items, items, items), whole)
    assert len(calls) == 1


def test_float32_stays_close_to_float64():
    items = torch.randn(BATCH, KEYS, SIZE)
    valid = torch.tensor([[True, True, False, True, False], [True] * 5])
    for extent in (Everything(), Causal(), Window(1)):
        attention = Attention(ScaledDot(), Softmax(), extent)
        short = attention(items.float(), items.float(), items.float(), valid=valid)
        assert short.dtype == torch.float32
        torch.testing.assert_close(short.double(), attention(items, items, items, valid=valid), rtol=1e-5, atol=1e-5)
