"""Few numbers for long rows: against loops, and without the whole matrix ever being there."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from atento.attention import (
    Attention,
    AttentionCall,
    Causal,
    Everything,
    General,
    MultiHead,
    ScaledDot,
    Softmax,
    Sparsemax,
    WeightSummary,
    Window,
    summarize_weights,
)
from atento.errors import InputError

BATCH, QUERIES, KEYS, HEADS, HEAD_SIZE, TOP = 2, 5, 7, 3, 11, 2
SIZE = HEADS * HEAD_SIZE
VALID = torch.tensor([[True, True, False, True, True, True, False], [True] * 7])


class Sizes(TorchDispatchMode):
    """How many numbers the largest tensor holds that is made meanwhile."""

    largest = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        made = function(*arguments, **(options or {}))
        for part in tree_leaves(made):
            if isinstance(part, torch.Tensor):
                self.largest = max(self.largest, part.untyped_storage().nbytes() // part.element_size())
        return made


def by_loops(weights, valid, at):
    """Each row by its definition."""
    found = torch.zeros(4, *weights.shape[:-1])
    for place in torch.cartesian_prod(*map(torch.arange, weights.shape[:-1])).tolist():
        row, real = weights[tuple(place)].abs().tolist(), valid[place[0]].tolist()
        shares = [weight / sum(row) for weight in row] if sum(row) else row
        entropy = -sum(share * math.log(share) for share in shares if share > 0)
        distance = sum(share * abs(key - int(at[place[-1]])) for key, share in enumerate(shares))
        zeros = sum(weight == 0 for weight, is_real in zip(row, real, strict=True) if is_real) / max(sum(real), 1)
        outside = sum(sorted(shares)[:-TOP])
        found[(slice(None), *place)] = torch.tensor([entropy, distance, zeros, outside])
    return WeightSummary(*found)


@pytest.mark.spec("X02")
def test_each_number_by_its_definition():
    scores = torch.randn(BATCH, HEADS, QUERIES, KEYS)
    visible = VALID[:, None, None].clone()
    weights = Sparsemax()(2 * scores, visible)
    weights[0, 1, 2] = 0  # a row that sees nothing
    weights[1, 2, 3] *= -1  # weights of either sign count by their size
    weights[1, 0] *= 0.3  # and need not sum to 1
    at = torch.tensor([0, 3, 4, 9, 2])
    found = summarize_weights(weights, VALID.unsqueeze(1), query_at=at, top=TOP)
    torch.testing.assert_close(found, by_loops(weights, VALID, at), rtol=0, atol=1e-13)
    assert (found.zeros > 0).any()


@pytest.mark.spec("X02")
def test_numbers_known_beforehand():
    alike, one = torch.full((1, KEYS), 1 / KEYS), torch.eye(KEYS)[4:5]
    found = summarize_weights(torch.cat([alike, one]), None, query_at=torch.tensor([3, 1]), top=TOP)
    torch.testing.assert_close(found.entropy, torch.tensor([math.log(7), 0]))
    torch.testing.assert_close(found.distance, torch.tensor([12 / 7, 3]))  # 3 + 2 + 1 + 0 + 1 + 2 + 3; from 1 to 4
    torch.testing.assert_close(found.zeros, torch.tensor([0, 6 / 7]))
    torch.testing.assert_close(found.outside, torch.tensor([5 / 7, 0]))


ATTENTIONS = [
    Attention(ScaledDot(), Softmax(), Everything()),
    Attention(General(HEAD_SIZE, HEAD_SIZE), Sparsemax(), Causal()),
    Attention(ScaledDot(), Softmax(), Causal() & Window(2)),
]


@pytest.mark.spec("X02")
@pytest.mark.parametrize("attention", ATTENTIONS, ids=["softmax", "sparsemax", "window"])
@pytest.mark.parametrize("block", [1, 2, 128])
def test_blocks_of_rows_are_the_slow_path_s_rows(attention, block):
    module = MultiHead(SIZE, HEADS, attention.double())
    query, source = torch.randn(BATCH, QUERIES, SIZE), torch.randn(BATCH, KEYS, SIZE)
    prepared = module.prepare(source, valid=VALID)
    weights = module.weights(query, source, valid=VALID)
    expected = by_loops(weights.detach(), VALID, torch.arange(QUERIES))
    found = AttentionCall(module, query, prepared).summary(block=block, top=TOP)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)
    assert not found.entropy.requires_grad
    part = AttentionCall(module, query, prepared).summary(rows=slice(1, 4), heads=slice(1, 3), block=block, top=TOP)
    torch.testing.assert_close(part, WeightSummary(*(number[:, 1:3, 1:4] for number in expected)), rtol=0, atol=1e-13)


@pytest.mark.spec("X02")
@pytest.mark.parametrize("asked", ["summary", "weights"])
def test_the_whole_matrix_is_never_there(asked):
    """Forty rows at a time of 199: no tensor holds more than these rows of these heads."""
    long, block = 199, 40
    module = MultiHead(SIZE, HEADS, Attention(ScaledDot(), Softmax(), Everything()))
    items = torch.randn(1, long, SIZE)
    call = AttentionCall(module, items, module.prepare(items))
    with Sizes() as sizes:
        if asked == "summary":
            call.summary(block=block)
        else:
            call.weights(rows=slice(0, block), heads=slice(1, 2))
    rows = block * long * (HEADS if asked == "summary" else 1)
    assert sizes.largest <= max(rows, items.numel())
    with Sizes() as sizes:
        call.weights()
    assert sizes.largest == HEADS * long * long  # what would be seen


def test_what_does_not_fit_is_named():
    attention, items = Attention(ScaledDot(), Softmax(), Everything()), torch.randn(1, KEYS, SIZE)
    prepared = attention.prepare(items, items)
    with pytest.raises(InputError, match="block must be positive"):
        AttentionCall(attention, items, prepared).summary(block=0)
    assert AttentionCall(attention, items, prepared).summary(rows=slice(0, 0)).entropy.shape == (1, 1, 0)
