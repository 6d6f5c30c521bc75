"""The composition itself; what holds for every composition is in tests/contracts/test_attentions.py."""

import pytest
import torch

from atento.attention import Additive, Attention, Causal, Dot, Everything, ScaledDot, Softmax, Sparsemax

BATCH, QUERIES, KEYS, SIZE, VALUE_SIZE = 2, 3, 5, 7, 11


@pytest.mark.spec("A24")
def test_plain_self_attention():
    """y_i = Σ_j softmax_j(x_i · x_j) x_j, with no parameters, and moved items move their outputs."""
    attention = Attention(Dot(), Softmax(), Everything())
    assert list(attention.parameters()) == []
    items = torch.randn(BATCH, KEYS, SIZE, requires_grad=True)
    expected = torch.zeros(BATCH, KEYS, SIZE)
    for row in range(BATCH):
        for at in range(KEYS):
            powers = [(items[row, at] * items[row, other]).sum().exp() for other in range(KEYS)]
            expected[row, at] = sum(power * items[row, other] for other, power in enumerate(powers)) / sum(powers)
    outputs = attention(items, items, items)
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-12)
    upstream = torch.randn(BATCH, KEYS, SIZE)
    gradients = [torch.autograd.grad(side, items, upstream, retain_graph=True)[0] for side in (outputs, expected)]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-12)
    order = torch.tensor([3, 0, 4, 2, 1])
    moved = items[:, order]
    torch.testing.assert_close(attention(moved, moved, moved), outputs[:, order], rtol=0, atol=1e-12)


def test_prepared_once_asked_many_times():
    attention = Attention(Additive(SIZE, SIZE, hidden_size=13), Sparsemax(), Causal())
    query, key, value = torch.randn(BATCH, KEYS, SIZE), torch.randn(BATCH, KEYS, SIZE), torch.randn(BATCH, KEYS, 3)
    whole = attention(query, key, value)
    prepared = attention.prepare(key, value)
    for at in range(KEYS):
        one = attention.read(query[:, at : at + 1], prepared, query_at=torch.tensor([at]))
        torch.testing.assert_close(one[:, 0], whole[:, at], rtol=0, atol=1e-14)


def test_no_batch_axis_or_several():
    for score in (ScaledDot(), Additive(SIZE, SIZE, hidden_size=13)):
        attention = Attention(score, Softmax(), Everything())
        query, key = torch.randn(2, 3, QUERIES, SIZE), torch.randn(2, 3, KEYS, SIZE)
        value = torch.randn(2, 3, KEYS, VALUE_SIZE)
        whole = attention(query, key, value)
        assert whole.shape == (2, 3, QUERIES, VALUE_SIZE)
        torch.testing.assert_close(attention(query[1, 2], key[1, 2], value[1, 2]), whole[1, 2], rtol=0, atol=1e-14)
