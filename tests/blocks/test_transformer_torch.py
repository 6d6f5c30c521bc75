"""Transformer layers against torch's, weight for weight, and back."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from atento.attention import Attention, Causal, Everything, MultiHead, ScaledDot, Softmax, Sparsemax, Window
from atento.blocks import TransformerDecoderLayer, TransformerEncoderLayer
from atento.errors import InputError
from atento.layers import FeedForward

BATCH, TARGET, SOURCE, HEADS, SIZE, INSIDE = 2, 5, 7, 3, 33, 13

orders = pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
activations = pytest.mark.parametrize("activation", [functional.relu, functional.gelu], ids=["relu", "gelu"])


def shaken(module):
    """Norms start at one and biases at zero: give every parameter a value of its own."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return module


def torch_layer(kind, **options):
    return shaken(kind(SIZE, HEADS, INSIDE, dropout=0.0, batch_first=True, **options))


def heads(extent):
    return MultiHead(SIZE, HEADS, Attention(ScaledDot(), Softmax(), extent))


def our_encoder_layer(extent=None, **options):
    return shaken(TransformerEncoderLayer(heads(extent or Everything()), FeedForward(SIZE, INSIDE), **options))


def our_decoder_layer(own=None, **options):
    return shaken(
        TransformerDecoderLayer(heads(own or Causal()), heads(Everything()), FeedForward(SIZE, INSIDE), **options)
    )


def same(ours, theirs, leaves):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
    upstream = torch.randn_like(theirs)
    expected = torch.autograd.grad(theirs, leaves, upstream)
    torch.testing.assert_close(torch.autograd.grad(ours, leaves, upstream), expected, rtol=0, atol=1e-11)


@pytest.mark.spec("T01")
@orders
@activations
@pytest.mark.parametrize("eps", [1e-5, 0.1])
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_encoder_layer_equals_torch(norm_first, activation, eps, padded):
    theirs = torch_layer(nn.TransformerEncoderLayer, norm_first=norm_first, activation=activation, layer_norm_eps=eps)
    ours = TransformerEncoderLayer.from_torch(theirs)
    values = torch.randn(BATCH, SOURCE, SIZE, requires_grad=True)
    valid = torch.ones(BATCH, SOURCE, dtype=torch.bool)
    valid[0, 4:] = not padded
    expected = theirs(values, src_key_padding_mask=~valid)
    actual = ours(values, valid=valid if padded else None)
    same(actual[valid], expected[valid], [values])
    assert (actual[~valid] == 0).all()


@pytest.mark.spec("T02")
@orders
@activations
@pytest.mark.parametrize("eps", [1e-5, 0.1])
def test_decoder_layer_equals_torch(norm_first, activation, eps):
    theirs = torch_layer(nn.TransformerDecoderLayer, norm_first=norm_first, activation=activation, layer_norm_eps=eps)
    ours = TransformerDecoderLayer.from_torch(theirs)
    values = torch.randn(BATCH, TARGET, SIZE, requires_grad=True)
    source = torch.randn(BATCH, SOURCE, SIZE, requires_grad=True)
    valid = torch.tensor([[True] * 4 + [False] * 3, [True] * 7])
    future = torch.ones(TARGET, TARGET, dtype=torch.bool).triu(1)
    expected = theirs(values, source, tgt_mask=future, memory_key_padding_mask=~valid)
    passed = ours(values, ours.cross_attention.prepare(source, valid=valid))
    same(passed.values, expected, [values, source])


def gradients_by_torch_name(layer, run, theirs_run):
    """Our gradients written into a torch layer's shape, beside torch's own."""
    theirs = layer.to_torch()
    theirs_run(theirs).square().sum().backward()
    run(layer).square().sum().backward()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(parameter.grad)
    return layer.to_torch().state_dict(), {name: parameter.grad for name, parameter in theirs.named_parameters()}


@pytest.mark.spec("T01")
@pytest.mark.parametrize("order", ["pre", "post"])
def test_weights_of_an_encoder_layer_get_torch_s_gradients(order):
    values = torch.randn(BATCH, SOURCE, SIZE)
    ours, theirs = gradients_by_torch_name(
        our_encoder_layer(order=order), lambda layer: layer(values), lambda layer: layer(values)
    )
    torch.testing.assert_close(dict(ours), theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.spec("T02")
@pytest.mark.parametrize("order", ["pre", "post"])
def test_weights_of_a_decoder_layer_get_torch_s_gradients(order):
    values, source = torch.randn(BATCH, TARGET, SIZE), torch.randn(BATCH, SOURCE, SIZE)
    future = torch.ones(TARGET, TARGET, dtype=torch.bool).triu(1)
    ours, theirs = gradients_by_torch_name(
        our_decoder_layer(order=order),
        lambda layer: layer(values, layer.cross_attention.prepare(source)).values,
        lambda layer: layer(values, source, tgt_mask=future),
    )
    torch.testing.assert_close(dict(ours), theirs, rtol=1e-10, atol=1e-10)


@orders
@activations
def test_there_and_back_again(norm_first, activation):
    """Also in evaluation, where torch's encoder layer takes another path."""
    values, source = torch.randn(BATCH, SOURCE, SIZE), torch.randn(BATCH, TARGET, SIZE)
    options = {"norm_first": norm_first, "activation": activation, "layer_norm_eps": 0.1}
    for kind, ours in [
        (nn.TransformerEncoderLayer, TransformerEncoderLayer),
        (nn.TransformerDecoderLayer, TransformerDecoderLayer),
    ]:
        theirs = torch_layer(kind, **options).eval()
        again = ours.from_torch(theirs).to_torch()
        assert not again.training
        assert all(torch.equal(again.state_dict()[name], tensor) for name, tensor in theirs.state_dict().items())
        arguments = (values,) if kind is nn.TransformerEncoderLayer else (values, source)
        with torch.no_grad():
            torch.testing.assert_close(again(*arguments), theirs(*arguments), rtol=0, atol=1e-13)


def test_what_torch_cannot_hold_is_refused():
    with pytest.raises(InputError, match="no such extent"):
        our_encoder_layer(Window(2)).to_torch()
    with pytest.raises(InputError, match=r"use Causal\(\)"):
        our_decoder_layer(Everything()).to_torch()
    with pytest.raises(InputError, match="without norms"):
        our_encoder_layer(order="none").to_torch()
    with pytest.raises(InputError, match="without norms"):
        our_decoder_layer(order="none").to_torch()
    sparse = MultiHead(SIZE, HEADS, Attention(ScaledDot(), Sparsemax(), Everything()))
    with pytest.raises(InputError, match="cannot compute this composition"):
        TransformerEncoderLayer(sparse, FeedForward(SIZE, INSIDE)).to_torch()
