"""What the layers promise beyond being equal to torch's."""

import math

import pytest
import torch
from torch import nn

from atento.attention import Attention, Causal, Everything, MultiHead, ScaledDot, Softmax
from atento.blocks import Residual, TransformerDecoderLayer, TransformerEncoderLayer
from atento.errors import InputError
from atento.layers import FeedForward

BATCH, TARGET, SOURCE, HEADS, SIZE, INSIDE = 2, 19, 7, 3, 33, 13

orders = pytest.mark.parametrize("order", ["pre", "post", "none"])


def heads(extent):
    return MultiHead(SIZE, HEADS, Attention(ScaledDot(), Softmax(), extent))


def decoder_layer(order, **options):
    return TransformerDecoderLayer(
        heads(Causal()), heads(Everything()), FeedForward(SIZE, INSIDE), order=order, **options
    )


@pytest.mark.spec("T05")
def test_a_path_around_a_part():
    values, change = torch.randn(BATCH, SIZE), torch.randn(BATCH, SIZE)

    def norm(rows):
        centred = rows - rows.mean(-1, keepdim=True)
        return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()

    pre, post, none = (Residual(SIZE, order) for order in ("pre", "post", "none"))
    torch.testing.assert_close(pre.enter(values), norm(values))
    torch.testing.assert_close(pre.leave(values, change), values + change)
    assert post.enter(values) is values
    torch.testing.assert_close(post.leave(values, change), norm(values + change))
    assert none.enter(values) is values
    assert torch.equal(none.leave(values, change), values + change)
    assert list(none.parameters()) == []
    with pytest.raises(InputError, match="did you mean 'pre'"):
        Residual(SIZE, "pree")


@pytest.mark.spec("T05")
def test_no_norm_equals_torch_s_layers_with_theirs_taken_out():
    encoder_layer = TransformerEncoderLayer(heads(Everything()), FeedForward(SIZE, INSIDE), order="pre")
    with_norm, plain = decoder_layer("pre"), decoder_layer("none")
    plain.load_state_dict({name: tensor for name, tensor in with_norm.state_dict().items() if "norm" not in name})
    theirs = with_norm.to_torch()
    theirs.norm1 = theirs.norm2 = theirs.norm3 = nn.Identity()
    values, source = torch.randn(BATCH, TARGET, SIZE, requires_grad=True), torch.randn(BATCH, SOURCE, SIZE)
    future = torch.ones(TARGET, TARGET, dtype=torch.bool).triu(1)
    same(plain(values, plain.cross_attention.prepare(source)).values, theirs(values, source, tgt_mask=future), [values])

    plain = TransformerEncoderLayer(encoder_layer.self_attention, encoder_layer.feed_forward, order="none")
    theirs = encoder_layer.to_torch()
    theirs.norm1 = theirs.norm2 = nn.Identity()
    same(plain(values), theirs(values), [values])


def same(ours, theirs, leaves):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
    upstream = torch.randn_like(theirs)
    expected = torch.autograd.grad(theirs, leaves, upstream)
    torch.testing.assert_close(torch.autograd.grad(ours, leaves, upstream), expected, rtol=0, atol=1e-11)


@orders
def test_items_without_positions_can_be_moved(order):
    layer = TransformerEncoderLayer(heads(Everything()), FeedForward(SIZE, INSIDE), order=order)
    values, moved = torch.randn(BATCH, SOURCE, SIZE), torch.randperm(SOURCE)
    torch.testing.assert_close(layer(values[:, moved]), layer(values)[:, moved], rtol=0, atol=1e-12)


@orders
@pytest.mark.parametrize("nothing", [math.nan, math.inf])
def test_what_padding_holds_never_matters(order, nothing):
    layer = TransformerEncoderLayer(heads(Everything()), FeedForward(SIZE, INSIDE), order=order)
    values = torch.randn(BATCH, SOURCE, SIZE)
    valid = torch.tensor([[True, True, False, True, False, False, True], [False] * 7])
    results = []
    for filling in (0.0, nothing):
        filled = values.masked_fill(~valid.unsqueeze(-1), filling).requires_grad_()
        outputs = layer(filled, valid=valid)
        results.append([outputs, *torch.autograd.grad(outputs.square().sum(), [filled, *layer.parameters()])])
    for plain, odd in zip(*results, strict=True):
        assert torch.equal(plain, odd)
        assert odd.isfinite().all()
    assert (results[1][0][~valid] == 0).all()
    assert (results[1][1][~valid] == 0).all()


@orders
@pytest.mark.parametrize("chunk", [1, 3, 17])
def test_cached_chunks_equal_the_whole(order, chunk):
    layer = decoder_layer(order)
    values = torch.randn(BATCH, TARGET, SIZE)
    source = layer.cross_attention.prepare(torch.randn(BATCH, SOURCE, SIZE))
    whole, past, outputs = layer(values, source), None, []
    for first in range(0, TARGET, chunk):
        place = slice(first, first + chunk)
        passed = layer(values[:, place], source, past, at=torch.arange(TARGET)[place])
        past = passed.cache
        outputs.append(passed.values)
    torch.testing.assert_close(torch.cat(outputs, dim=1), whole.values, rtol=0, atol=1e-12)
    for cached, kept in zip(past[:2], whole.cache[:2], strict=True):
        torch.testing.assert_close(cached, kept, rtol=0, atol=1e-12)


@orders
@pytest.mark.parametrize("training", [False, True])
def test_the_future_never_matters_exactly(order, training):
    """Also while training, for the same drawn dropout."""
    layer = decoder_layer(order, dropout=0.3).train(training)
    values = torch.randn(BATCH, TARGET, SIZE)
    source = layer.cross_attention.prepare(torch.randn(BATCH, SOURCE, SIZE))
    changed = values.clone()
    changed[:, 11:] = 1e3 * torch.randn_like(changed[:, 11:])
    outputs = []
    for one in (values, changed):
        torch.manual_seed(7)
        outputs.append(layer(one, source).values[:, :11])
    assert torch.equal(*outputs)


def test_the_source_is_asked_with_what_entered_that_part():
    """`query` reproduces the cross-attention's weights beside the fast path."""
    layer = decoder_layer("pre")
    values, states = torch.randn(BATCH, TARGET, SIZE), torch.randn(BATCH, SOURCE, SIZE)
    source = layer.cross_attention.prepare(states)
    passed = layer(values, source)
    entered = layer.around_self.enter(values)
    after_self = values + layer.self_attention(entered, entered)
    torch.testing.assert_close(passed.query, layer.around_cross.norm(after_self))
    torch.testing.assert_close(
        layer.cross_attention.weights_from(passed.query, source), layer.cross_attention.weights(passed.query, states)
    )
