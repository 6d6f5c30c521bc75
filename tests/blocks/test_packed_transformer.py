"""The packed way through Transformer layers gives what the layers give one after another, gradients included."""

import copy

import pytest
import torch
from torch import nn

from atento.attention import (
    Additive,
    Alibi,
    Attention,
    Causal,
    Everything,
    Hard,
    MultiHead,
    ScaledDot,
    Softmax,
    Sparsemax,
    Window,
)
from atento.attention.fast.packed import call_of
from atento.blocks import TransformerEncoderLayer, TransformerStack
from atento.blocks.packed_transformer import is_packable
from atento.blocks.sublayers import Node, NodeFunction
from atento.layers import FeedForward
from atento.layers.positions import Rotary
from compiled import take_library

BATCH, TIME, HEADS, SIZE, INSIDE, LAYERS = 3, 11, 2, 14, 13, 2
LENGTHS = torch.tensor([11, 4, 1])
RIGHT = torch.arange(TIME) < LENGTHS.unsqueeze(1)
VALID = {"all": None, "right": RIGHT, "left": RIGHT.flip(1), "empty": RIGHT & torch.tensor([[True], [False], [True]])}
HOLES = {**VALID, "holes": RIGHT & (torch.arange(TIME) % 3 != 1)}

COMPOSITIONS = {
    "plain": lambda: Attention(ScaledDot(), Softmax(), Everything()),
    "causal": lambda: Attention(ScaledDot(), Softmax(), Causal()),
    "window": lambda: Attention(ScaledDot(), Sparsemax(), Window(3)),
    "additive": lambda: Attention(Additive(7, 7, hidden_size=3), Softmax(), Causal() & Alibi(HEADS)),
}


def stack(composition="plain", order="pre", *, heads=HEADS, rotary=None, dropout=0.0):
    torch.manual_seed(5)
    layers = [
        TransformerEncoderLayer(
            MultiHead(SIZE, heads, COMPOSITIONS[composition](), rotary=rotary),
            FeedForward(SIZE, INSIDE, dropout=dropout),
            order=order,
            dropout=dropout,
        )
        for _ in range(LAYERS)
    ]
    made = TransformerStack(layers)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return made


def both_ways(made, values, valid):
    """Outputs and gradients by the packed way and layer by layer, real positions only."""
    found, real = [], slice(None) if valid is None else valid
    for way in (made, lambda given, valid: made.extend(given, valid=valid).values):
        leaf = values.clone().requires_grad_()
        output = way(leaf, valid=valid)[real]
        gradients = torch.autograd.grad(output.square().sum(), [leaf, *made.parameters()], allow_unused=True)
        found.append([output.detach(), gradients[0].nan_to_num(0.0), *gradients[1:]])
    return found


@pytest.mark.parametrize("side", VALID)
@pytest.mark.parametrize("order", ["pre", "post", "none"])
@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_packed_equals_layer_by_layer(composition, order, side):
    made, valid = stack(composition, order), VALID[side]
    values = torch.randn(BATCH, TIME, SIZE)
    if valid is not None:
        values = values.masked_fill(~valid.unsqueeze(-1), torch.nan)
    assert is_packable(made.each(), values)
    for one, other in zip(*both_ways(made, values, valid), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-11)


def test_in_float32_by_one_dnn():
    made, values = stack().float(), torch.randn(BATCH, TIME, SIZE, dtype=torch.float32)
    exact = both_ways(copy.deepcopy(made).double(), values.double(), RIGHT)[1]
    for one, other in zip(both_ways(made, values, RIGHT)[0], exact, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5)


def test_rotary_positions():
    made, values = stack(heads=1, rotary=Rotary(SIZE)), torch.randn(BATCH, TIME, SIZE)
    for one, other in zip(*both_ways(made, values, RIGHT), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-11)


def test_what_takes_the_layers_themselves():
    values = torch.randn(BATCH, TIME, SIZE)
    hooked = stack()
    hooked.layers[1].feed_forward.register_forward_hook(lambda *_: None)
    assert not is_packable(hooked.each(), values)
    gelu = stack()
    gelu.layers[0].feed_forward.activation = nn.functional.gelu
    assert not is_packable(gelu.each(), values)
    drawn = stack()
    drawn.layers[0].self_attention.attention.distribution = Hard()
    assert not is_packable(drawn.each(), values)
    assert not is_packable(stack().each(), values[:, :0])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert not is_packable(stack().each(), values)


@pytest.mark.parametrize("post", [False, True])
@pytest.mark.parametrize("feeds", [False, True])
def test_a_node_with_dropout_has_the_gradients_of_its_draws(feeds, post):
    torch.manual_seed(3)
    node = Node(post=post, feeds=feeds, eps=1e-5, drop=0.3, inner_drop=0.4, seed=None, draw=0)
    sizes = [(4, 6), (4, 6), (6, 6), (6,), (6,), (6,), (9, 6), (9,), (6, 9), (6,)]
    given = [torch.randn(size, requires_grad=True) for size in sizes]

    def passed(residual, context, combine, bias, gain, shift, *weights):
        torch.manual_seed(7)  # the same draws every time
        weights = weights if feeds else weights[:2]
        return NodeFunction.apply(node, torch.float64, residual, None, context, combine, bias, gain, shift, *weights)

    assert torch.autograd.gradcheck(passed, given[: 10 if feeds else 8])


def test_dropout_is_drawn_in_training_alone():
    made, values = stack(dropout=0.5), torch.randn(BATCH, TIME, SIZE)
    assert not torch.equal(made(values), made(values))
    made.eval()
    torch.testing.assert_close(made(values), made(values), rtol=0, atol=0)


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("composition", ["plain", "causal"])
@pytest.mark.parametrize("side", HOLES)
def test_float32_by_the_compiled_library(monkeypatch, side, composition, rotary):
    """Packed rows go through C and never see padding; layer by layer in float64 is the reference."""
    taken, library = [], take_library(monkeypatch)
    monkeypatch.setattr("atento.attention.fast.packed.call_of", lambda *given: taken.append(given) or call_of(*given))
    size, heads, valid = 48, 3, HOLES[side]
    torch.manual_seed(5)
    layer = TransformerEncoderLayer(
        MultiHead(size, heads, COMPOSITIONS[composition](), rotary=Rotary(size // heads) if rotary else None),
        FeedForward(size, INSIDE, dropout=0.0),
        dropout=0.0,
    )
    exact = TransformerStack([layer])
    with torch.no_grad():
        for parameter in exact.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    short = copy.deepcopy(exact).float()
    values = torch.randn(BATCH, TIME, size)
    found = both_ways(short, values.float(), valid)[0]
    expected = both_ways(exact, values, valid)[1]
    assert taken and library.lanes
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-5 * (1 + other.abs().max().item()))
