"""Stacks of self-attention: the bodies of encoder-only and decoder-only models, against torch's."""

import pytest
import torch
from torch import nn

from atento.attention import Attention, Causal, Everything, MultiHead, ScaledDot, Softmax
from atento.blocks import TransformerEncoderLayer, TransformerStack
from atento.errors import InputError
from atento.layers import FeedForward

BATCH, TIME, HEADS, SIZE, INSIDE, LAYERS = 2, 19, 3, 33, 13, 2

VALID = torch.tensor([[True] * 19, [True] * 11 + [False] * 8])

orders = pytest.mark.parametrize("order", ["pre", "post"])


def stack(order, extent):
    layers = [
        TransformerEncoderLayer(
            MultiHead(SIZE, HEADS, Attention(ScaledDot(), Softmax(), extent)), FeedForward(SIZE, INSIDE), order=order
        )
        for _ in range(LAYERS)
    ]
    made = TransformerStack(layers)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return made


def torch_stack(ours, order):
    """torch.nn.TransformerEncoder with our weights."""
    theirs = nn.TransformerEncoder(
        ours.layers[0].to_torch(),
        LAYERS,
        norm=nn.LayerNorm(SIZE) if order == "pre" else None,
        enable_nested_tensor=False,
    )
    for index, layer in enumerate(ours.layers):
        theirs.layers[index].load_state_dict(layer.to_torch().state_dict())
    if order == "pre":
        theirs.norm.load_state_dict(ours.norm.state_dict())
    return theirs


def same(ours, theirs, leaf):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-11)
    upstream = torch.randn_like(theirs)
    gradients = [torch.autograd.grad(side, leaf, upstream, retain_graph=True)[0] for side in (ours, theirs)]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-10)


@pytest.mark.spec("T03")
@orders
def test_encoder_only_equals_torch_s_encoder(order):
    ours = stack(order, Everything())
    values = torch.randn(BATCH, TIME, SIZE, requires_grad=True)
    expected = torch_stack(ours, order)(values, src_key_padding_mask=~VALID)
    same(ours(values, valid=VALID)[VALID], expected[VALID], values)


@pytest.mark.spec("T03")
@orders
def test_decoder_only_equals_torch_s_layers_under_a_causal_mask(order):
    ours = stack(order, Causal())
    values = torch.randn(BATCH, TIME, SIZE, requires_grad=True)
    future = nn.Transformer.generate_square_subsequent_mask(TIME).isinf()
    same(ours(values), torch_stack(ours, order)(values, mask=future), values)


@pytest.mark.spec("T04")
@pytest.mark.parametrize("order", ["pre", "post", "none"])
@pytest.mark.parametrize("chunk", [1, 3, 17])
def test_decoder_only_from_a_cache_equals_uncached_equals_parallel(order, chunk):
    ours, tokens = stack(order, Causal()), nn.Linear(SIZE, 11)
    values = torch.randn(BATCH, TIME, SIZE)
    parallel, past = tokens(ours(values)), ()
    for first in range(0, TIME, chunk):
        at = torch.arange(TIME)[first : first + chunk]
        extended = ours.extend(values[:, at], past, at=at)
        past = extended.caches
        torch.testing.assert_close(tokens(extended.values), parallel[:, at], rtol=0, atol=1e-11)
        uncached = tokens(ours(values[:, : at[-1] + 1]))[:, -1]
        torch.testing.assert_close(uncached, parallel[:, at[-1]], rtol=0, atol=1e-11)
        assert all(own.value.size(-2) == at[-1] + 1 for own in past)  # only the new positions were computed


def test_a_padded_beginning_can_be_extended():
    """Rows of unequal length go on from a cache that knows which of its keys are real."""
    ours = stack("pre", Causal())
    values = torch.randn(BATCH, 7, SIZE)
    valid = torch.tensor([[True] * 7, [False, False] + [True] * 5])
    begun = ours.extend(values[:, :5], valid=valid[:, :5])
    after = ours.extend(values[:, 5:], begun.caches, at=torch.tensor([5, 6]), valid=valid[:, 5:]).values
    whole = ours(values, valid=valid)
    torch.testing.assert_close(after, whole[:, 5:], rtol=0, atol=1e-12)
    alone = ours(values[1:, 2:])
    torch.testing.assert_close(whole[1:, 2:], alone, rtol=0, atol=1e-12)


def test_a_stack_needs_layers():
    with pytest.raises(InputError, match="needs layers"):
        TransformerStack([])
