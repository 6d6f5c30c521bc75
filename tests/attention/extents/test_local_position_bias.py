"""Scores tilted by distance: ALiBi and learned relative biases."""

import pytest
import torch

from atento.attention import Alibi, Attention, Causal, MultiHead, RelativeBias, ScaledDot, Softmax
from atento.errors import InputError

BATCH, HEADS, LENGTH, SIZE, REACH = 2, 3, 11, 5, 2


def filled(extent):
    for parameter in extent.parameters():
        torch.nn.init.normal_(parameter)
    return extent


@pytest.mark.spec("T09")
@pytest.mark.parametrize(
    "heads, slopes",
    [
        (1, [2**-8]),
        (2, [2**-4, 2**-8]),
        (8, [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]),  # the paper's own example
        (3, [2**-4, 2**-8, 2**-2]),
        (6, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]),
        (12, [*(2.0**-n for n in range(1, 9)), 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]),  # the authors' code
    ],
)
def test_slopes_of_alibi(heads, slopes):
    at, query = torch.arange(4), torch.zeros(1, heads, 4, SIZE)
    view = Alibi(heads)(query, query, query_at=at, key_at=at, valid=None)
    distance = torch.tensor([[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]])
    torch.testing.assert_close(view.bias, torch.stack([-slope * distance for slope in slopes]), rtol=0, atol=1e-15)
    assert view.visible.all()


@pytest.mark.spec("T09")
def test_a_relative_bias_is_looked_up_by_clipped_offset():
    extent = filled(RelativeBias(HEADS, REACH))
    query, key, value = (torch.randn(BATCH, HEADS, LENGTH, SIZE, requires_grad=True) for _ in range(3))
    added = torch.stack(
        [
            torch.stack([extent.table[max(-2, min(2, place - at)) + 2, head] for place in range(LENGTH)])
            for head in range(HEADS)
            for at in range(LENGTH)
        ]
    ).view(HEADS, LENGTH, LENGTH)
    expected = (query @ key.mT / SIZE**0.5 + added).softmax(-1) @ value
    context = Attention(ScaledDot(), Softmax(), extent)(query, key, value)
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-13)
    leaves, upstream = (query, key, value, extent.table), torch.randn_like(context)
    gradients = torch.autograd.grad(context, leaves, upstream)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected, leaves, upstream), rtol=0, atol=1e-12)


@pytest.mark.spec("T09")
@pytest.mark.parametrize("make", [lambda: Alibi(HEADS), lambda: RelativeBias(HEADS, REACH)], ids=["alibi", "relative"])
def test_a_score_depends_on_the_offset_only(make):
    """Moving queries and keys together changes nothing; moving one of them does."""
    attention = Attention(ScaledDot(), Softmax(), filled(make()))
    query, prepared = torch.randn(1, HEADS, 4, SIZE), attention.prepare(*torch.randn(2, 1, HEADS, 4, SIZE))

    def biases(query_at, key_at):
        return attention.extent(query, prepared.key, query_at=query_at, key_at=key_at, valid=None).bias

    here, there = torch.arange(4), torch.arange(4) + 137
    assert torch.equal(biases(here, here), biases(there, there))
    assert not torch.equal(biases(here, here), biases(here + 1, here))
    offsets = {}
    for row in range(4):
        for column in range(4):
            offsets.setdefault(column - row, []).append(biases(here, here)[:, row, column])
    assert all(torch.equal(one, line[0]) for line in offsets.values() for one in line)


@pytest.mark.parametrize("make", [lambda: Alibi(HEADS), lambda: RelativeBias(HEADS, REACH)], ids=["alibi", "relative"])
def test_positions_of_groups_keep_the_heads_in_their_place(make):
    """Positions (G, 1, 1, Q) against queries (G, B, H, Q, D)."""
    extent, items = filled(make()), torch.randn(7, BATCH, HEADS, 4, SIZE)
    at = torch.arange(28).view(7, 1, 1, 4)
    view = extent(items, items, query_at=at, key_at=at, valid=None)
    assert view.bias.shape == (7, 1, HEADS, 4, 4)
    alone = extent(items[3], items[3], query_at=at[3, 0, 0], key_at=at[3, 0, 0], valid=None)
    assert torch.equal(view.bias[3, 0], alone.bias)


def test_one_head_serves_queries_without_heads():
    for extent in (Alibi(1), filled(RelativeBias(1, REACH))):
        items = torch.randn(BATCH, LENGTH, SIZE)
        plain = Attention(ScaledDot(), Softmax(), extent & Causal())(items, items, items)
        headed = Attention(ScaledDot(), Softmax(), extent & Causal())(*[items.unsqueeze(1)] * 3)
        torch.testing.assert_close(headed.squeeze(1), plain, rtol=0, atol=1e-14)


@pytest.mark.parametrize("make", [lambda: Alibi(HEADS), lambda: RelativeBias(HEADS, REACH)], ids=["alibi", "relative"])
def test_another_number_of_heads_is_refused(make):
    items = torch.randn(BATCH, LENGTH, 20)
    with pytest.raises(InputError, match="made for 3 heads"):
        MultiHead(20, 4, Attention(ScaledDot(), Softmax(), make()))(items, items)
    with pytest.raises(InputError, match=r"query .* has 2"):  # no axis of heads at all
        Attention(ScaledDot(), Softmax(), make())(items, items, items)


@pytest.mark.parametrize(
    "make, found",
    [
        (lambda: Alibi(0), "heads=0"),
        (lambda: RelativeBias(0, 1), "heads=0"),
        (lambda: RelativeBias(1, 0), "reach=0"),
    ],
)
def test_sizes_that_tilt_nothing_are_refused(make, found):
    with pytest.raises(InputError, match=found):
        make()
    assert "3" in repr(Alibi(3)) and "reach=5" in repr(RelativeBias(3, 5))
