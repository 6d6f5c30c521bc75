"""The fused kernel is taken where it knows the composition, and nowhere else."""

import itertools

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
from atento.errors import InputError

BATCH, QUERIES, KEYS, SIZE = 2, 5, 5, 7


@pytest.fixture
def calls(monkeypatch):
    """Every call of torch's kernel, which still does its work."""
    made, kernel = [], functional.scaled_dot_product_attention

    def counted(*arguments, **options):
        made.append(options)
        return kernel(*arguments, **options)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", counted)
    return made


def goes_together(names):
    try:
        return names.build(Sizes(query=SIZE, key=SIZE)) is not None
    except InputError:
        return False


EXTENTS_OF_ALL = [Composition(*names) for names in itertools.product(SCORES, DISTRIBUTIONS, ("everything", "local"))]
ALL_EXTENTS = [
    Composition(*names) for names in itertools.product(("dot", "general"), ("softmax", "sparsemax"), EXTENTS)
]
COMPOSITIONS = list(filter(goes_together, dict.fromkeys([*EXTENTS_OF_ALL, *ALL_EXTENTS])))


@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("names", COMPOSITIONS, ids="+".join)
def test_which_compositions_take_the_kernel(calls, names, padded):
    attention = names.build(Sizes(query=SIZE, key=SIZE, reach=1)).eval()
    items = torch.randn(BATCH, KEYS, SIZE)
    valid = torch.tensor([[True] * 4 + [False], [True] * 5]) if padded else None
    context = attention(items, items, items, valid=valid)
    known = names.score in ("dot", "scaled-dot") and names.distribution == "softmax"
    assert len(calls) == (known and names.extent != "local-predictive")  # whose Gaussian multiplies the weights
    by_formula = attention.weights(items, items, valid=valid) @ items
    assert len(calls) <= 1  # asking for weights calls no kernel again
    torch.testing.assert_close(context, by_formula, rtol=0, atol=1e-13)


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
