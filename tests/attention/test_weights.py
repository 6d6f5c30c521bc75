"""Calls: the weights of a pass, recomputed afterwards."""

import pytest
import torch

from atento.attention import (
    Attention,
    AttentionCall,
    Causal,
    Everything,
    MultiHead,
    ScaledDot,
    Softmax,
    summary_of,
    weights_of,
)
from atento.errors import InputError

BATCH, QUERIES, KEYS, HEADS, SIZE = 2, 5, 7, 3, 33
VALID = torch.tensor([[True, True, False, True, True, True, False], [True] * 7])


@pytest.mark.spec("X02")
def test_layers_heads_and_rows():
    """Two layers, each with its own queries and keys: (B, L, H, Q, K)."""
    modules = [MultiHead(SIZE, HEADS, Attention(ScaledDot(), Softmax(), extent)) for extent in (Everything(), Causal())]
    asked = [(torch.randn(BATCH, QUERIES, SIZE), torch.randn(BATCH, KEYS, SIZE)) for _ in modules]
    calls = [
        AttentionCall(module, query, module.prepare(source, valid=VALID))
        for module, (query, source) in zip(modules, asked, strict=True)
    ]
    expected = torch.stack(
        [module.weights(*pair, valid=VALID) for module, pair in zip(modules, asked, strict=True)], dim=1
    )
    torch.testing.assert_close(weights_of(calls), expected, rtol=0, atol=1e-14)
    part = weights_of(calls, heads=slice(1, 3), rows=slice(1, 4))
    torch.testing.assert_close(part, expected[:, :, 1:3, 1:4], rtol=0, atol=1e-14)


def test_an_attention_without_heads_is_one_head():
    attention = Attention(ScaledDot(), Softmax(), Everything())
    query, key = torch.randn(BATCH, QUERIES, SIZE), torch.randn(BATCH, KEYS, SIZE)
    call = AttentionCall(attention, query, attention.prepare(key, key, valid=VALID))
    weights = attention.weights(query, key, valid=VALID)
    torch.testing.assert_close(
        weights_of([call, call], rows=slice(2)), weights[:, None, None, :2].repeat(1, 2, 1, 1, 1)
    )
    several = summary_of([call], heads=slice(0, 1))
    torch.testing.assert_close(several.entropy, -torch.xlogy(weights, weights).sum(-1)[:, None, None])
    assert several.distance.shape == (BATCH, 1, 1, QUERIES)


def test_no_layer_is_said():
    with pytest.raises(InputError, match="layers names no layer"):
        weights_of([])
    with pytest.raises(InputError, match="layers names no layer"):
        summary_of([])
