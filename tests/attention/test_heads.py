"""Multi-head attention against torch's, against its formula, and against its heads one by one."""

import math

import pytest
import torch
from torch import nn

from atento.attention import (
    Additive,
    Alibi,
    Attention,
    Causal,
    Everything,
    General,
    MultiHead,
    ScaledDot,
    Sigmoid,
    Similarity,
    Softmax,
    Sparsemax,
    SquaredDistance,
    Window,
)
from atento.errors import InputError
from atento.layers import Rotary

BATCH, QUERIES, KEYS, HEADS, HEAD_SIZE = 2, 5, 7, 3, 11
SIZE = HEADS * HEAD_SIZE
SOURCE_SIZE = 13


def standard(heads=HEADS, extent=None, **options):
    return MultiHead(SIZE, heads, Attention(ScaledDot(), Softmax(), extent or Everything()), **options)


def test_one_argument_is_self_attention():
    """So that it stands in a Sequential."""
    torch.manual_seed(0)
    layer, values = standard(), torch.randn(BATCH, QUERIES, SIZE)
    valid = torch.arange(QUERIES) < torch.tensor([[QUERIES], [2]])
    assert torch.equal(layer(values), layer(values, values))
    assert torch.equal(layer(values, valid=valid), layer(values, values, valid=valid))
    assert torch.equal(nn.Sequential(nn.Identity(), layer)(values), layer(values, values))


def shaken(module):
    """Biases start at zero: give every parameter a value of its own."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return module


def one_head_by_loops(module, query, source):
    """softmax(Q Kᵀ / √d) V, each product of two vectors at a time, then the map back."""
    contexts = torch.zeros(len(query), query.size(1), SIZE)
    for row in range(len(query)):
        keys = [module.to_key.weight @ item + module.to_key.bias for item in source[row]]
        values = [module.to_value.weight @ item + module.to_value.bias for item in source[row]]
        for at, item in enumerate(query[row]):
            asked = module.to_query.weight @ item + module.to_query.bias
            powers = [((asked * key).sum() / math.sqrt(SIZE)).exp() for key in keys]
            contexts[row, at] = sum(power * value for power, value in zip(powers, values, strict=True)) / sum(powers)
    return contexts @ module.combine.weight.mT + module.combine.bias


def same(actual, expected, leaves):
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)
    upstream = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, leaves, upstream)
    torch.testing.assert_close(torch.autograd.grad(actual, leaves, upstream), gradients, rtol=0, atol=1e-12)


@pytest.mark.spec("A25")
def test_self_attention_with_learned_maps():
    module, items = shaken(standard(heads=1)), torch.randn(BATCH, KEYS, SIZE, requires_grad=True)
    same(module(items, items), one_head_by_loops(module, items, items), [items, *module.parameters()])


@pytest.mark.spec("A26")
def test_queries_of_one_sequence_keys_of_another():
    module = shaken(standard(heads=1, source_size=SOURCE_SIZE))
    query = torch.randn(BATCH, QUERIES, SIZE, requires_grad=True)
    source = torch.randn(BATCH, KEYS, SOURCE_SIZE, requires_grad=True)
    expected = one_head_by_loops(module, query, source)
    assert expected.shape == (BATCH, QUERIES, SIZE)
    same(module(query, source), expected, [query, source, *module.parameters()])


@pytest.mark.spec("A31")
@pytest.mark.parametrize("mask", ["none", "padding", "causal", "both"])
@pytest.mark.parametrize("way", ["from torch", "to torch"])
def test_equal_to_torch_for_equal_weights(way, mask):
    extent = Causal() if mask in ("causal", "both") else Everything()
    if way == "from torch":
        theirs = shaken(nn.MultiheadAttention(SIZE, HEADS, batch_first=True))
        ours = MultiHead.from_torch(theirs)
        ours.attention.extent = extent
    else:
        ours = shaken(standard(extent=extent))
        theirs = ours.to_torch()
    items = torch.randn(BATCH, KEYS, SIZE, requires_grad=True)
    valid = torch.ones(BATCH, KEYS, dtype=torch.bool)
    valid[0, 5:] = mask in ("none", "causal")
    hidden = torch.ones(KEYS, KEYS, dtype=torch.bool).triu(1) if isinstance(extent, Causal) else None
    expected, weights = theirs(
        items, items, items, key_padding_mask=~valid, attn_mask=hidden, average_attn_weights=False
    )
    actual = ours(items, items, valid=valid if mask in ("padding", "both") else None)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(ours.weights(items, items, valid=valid), weights, rtol=0, atol=1e-13)
    upstream = torch.randn_like(expected)
    into_items = [torch.autograd.grad(side, items, upstream, retain_graph=True)[0] for side in (actual, expected)]
    torch.testing.assert_close(*into_items, rtol=0, atol=1e-12)
    ours_gradient = torch.autograd.grad(
        actual, [ours.to_query.weight, ours.to_key.weight, ours.to_value.weight], upstream
    )
    (theirs_gradient,) = torch.autograd.grad(expected, [theirs.in_proj_weight], upstream)
    torch.testing.assert_close(torch.cat(ours_gradient), theirs_gradient, rtol=0, atol=1e-12)


def test_there_and_back_again():
    ours = shaken(standard())
    again = MultiHead.from_torch(ours.to_torch())
    assert again.state_dict().keys() == ours.state_dict().keys()
    assert all(torch.equal(again.state_dict()[name], tensor) for name, tensor in ours.state_dict().items())


@pytest.mark.spec("A31")
@pytest.mark.parametrize(
    "attention",
    [
        Attention(ScaledDot(), Softmax(), Causal()),
        Attention(General(HEAD_SIZE, HEAD_SIZE), Sparsemax(), Everything()),
        Attention(Additive(HEAD_SIZE, HEAD_SIZE, hidden_size=5), Softmax(), Window(2)),
    ],
    ids=["scaled dot", "general", "additive"],
)
def test_heads_are_calls_of_one_head(attention):
    module = shaken(MultiHead(SIZE, HEADS, attention, source_size=SOURCE_SIZE).double())
    query, source = torch.randn(BATCH, QUERIES, SIZE), torch.randn(BATCH, KEYS, SOURCE_SIZE)
    valid = torch.tensor([[True] * 6 + [False], [True] * 7])
    contexts, weights = [], []
    for head in range(HEADS):
        place = slice(head * HEAD_SIZE, (head + 1) * HEAD_SIZE)
        asked, keys, values = module.to_query(query), module.to_key(source), module.to_value(source)
        asked, keys, values = asked[..., place], keys[..., place], values[..., place]
        contexts.append(attention(asked, keys, values, valid=valid))
        weights.append(attention.weights(asked, keys, valid=valid))
    expected = module.combine(torch.cat(contexts, dim=-1))
    torch.testing.assert_close(module(query, source, valid=valid), expected, rtol=0, atol=1e-13)
    weights = torch.stack(weights, dim=1)
    torch.testing.assert_close(module.weights(query, source, valid=valid), weights, rtol=0, atol=1e-13)
    torch.testing.assert_close(
        module.weights(query, source, valid=valid, rows=slice(1, 4), heads=slice(1, 3)),
        weights[:, 1:3, 1:4],
        rtol=0,
        atol=1e-13,
    )


@pytest.mark.spec("T09")
def test_rotary_heads_by_complex_numbers():
    """q_m · k_n / √d with q and k read as complex numbers, each turned by its position; values are not turned."""
    module = shaken(MultiHead(12, 2, Attention(ScaledDot(), Softmax(), Causal()), rotary=Rotary(6)))
    items = torch.randn(BATCH, KEYS, 12, requires_grad=True)
    turns = torch.tensor([[at * 10_000 ** (-2 * pair / 6) for pair in range(3)] for at in range(KEYS)])

    def turned(values):
        numbers = torch.view_as_complex(values.view(BATCH, KEYS, 2, 3, 2)) * torch.polar(
            torch.ones(KEYS, 1, 3), turns.unsqueeze(1)
        )
        return torch.view_as_real(numbers).flatten(-2)  # (B, K, H, d)

    asked, keys = turned(module.to_query(items)), turned(module.to_key(items))
    values = module.to_value(items).view(BATCH, KEYS, 2, 6)
    scores = torch.einsum("bqhd,bkhd->bhqk", asked, keys) / math.sqrt(6)
    weights = scores.masked_fill(torch.ones(KEYS, KEYS, dtype=torch.bool).triu(1), -math.inf).softmax(-1)
    expected = module.combine(torch.einsum("bhqk,bkhd->bqhd", weights, values).flatten(-2))
    same(module(items, items), expected, [items, *module.parameters()])
    torch.testing.assert_close(module.weights(items, items), weights, rtol=0, atol=1e-12)
    few = module.weights(items, items, rows=slice(2, 5), heads=slice(1, 2))
    torch.testing.assert_close(few, weights[:, 1:, 2:5], rtol=0, atol=1e-12)


@pytest.mark.spec("T09")
@pytest.mark.parametrize("chunk", [1, 3, 17])
def test_rotary_keys_are_turned_where_they_stand_in_a_cache(chunk):
    module = shaken(MultiHead(12, 2, Attention(ScaledDot(), Softmax(), Causal()), rotary=Rotary(6)))
    items, past, outputs = torch.randn(BATCH, 19, 12), None, []
    for at in torch.arange(19).split(chunk):
        own = module.prepare(items[:, at], at=at)
        past = own if past is None else past.append(own)
        outputs.append(module.read(items[:, at], past, query_at=at))
    torch.testing.assert_close(torch.cat(outputs, dim=1), module(items, items), rtol=0, atol=1e-12)


@pytest.mark.spec("T09")
@pytest.mark.parametrize("score", [ScaledDot(), Similarity(), SquaredDistance()], ids=["product", "cosine", "distance"])
def test_rotary_weights_of_equal_items_depend_on_their_distance_alone(score):
    module = shaken(MultiHead(12, 2, Attention(score, Sigmoid(), Everything()), rotary=Rotary(6)))
    items = torch.randn(BATCH, 1, 12).expand(-1, KEYS, -1)
    weights = module.weights(items, items)
    torch.testing.assert_close(weights[..., 1:, 1:], weights[..., :-1, :-1], rtol=0, atol=1e-12)
    assert not torch.allclose(weights[..., 0, 0], weights[..., 0, 1])


def test_heads_of_parts_that_know_them_by_place():
    """ALiBi has a slope a head: the weights of the last head are those of the last slope."""
    module = shaken(MultiHead(SIZE, HEADS, Attention(ScaledDot(), Softmax(), Alibi(HEADS))))
    items = torch.randn(BATCH, KEYS, SIZE)
    every = module.weights(items, items)
    few = module.weights(items, items, heads=slice(2, 3), rows=slice(1, 4))
    torch.testing.assert_close(few, every[:, 2:, 1:4], rtol=0, atol=1e-13)
    torch.testing.assert_close(every, module.weights_from(items, module.prepare(items)), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    "attention, rotary, found",
    [
        (Attention(General(HEAD_SIZE, HEAD_SIZE), Softmax(), Everything()), 10, "score General"),
        (Attention(ScaledDot(), Softmax(), Everything()), 10, "Rotary(10), heads of 11"),
    ],
)
def test_what_cannot_be_turned_is_refused(attention, rotary, found):
    with pytest.raises(InputError) as caught:
        MultiHead(SIZE, HEADS, attention, rotary=Rotary(rotary))
    assert found in caught.value.found


@pytest.mark.parametrize("nothing", [math.nan, math.inf])
def test_what_padding_holds_reaches_neither_outputs_nor_weights(nothing):
    module = standard(source_size=SOURCE_SIZE)
    query, source = torch.randn(BATCH, QUERIES, SIZE), torch.randn(BATCH, KEYS, SOURCE_SIZE)
    valid = torch.tensor([[True] * 4 + [False] * 3, [True] * 7])
    results = []
    for filling in (0.0, nothing):
        filled = source.masked_fill(~valid.unsqueeze(-1), filling).requires_grad_()
        output = module(query, filled, valid=valid)
        gradients = torch.autograd.grad(output.square().sum(), [filled, *module.parameters()])
        results.append([output, module.weights(query, filled, valid=valid), *gradients])
    for plain, odd in zip(*results, strict=True):
        assert torch.equal(plain, odd)
    assert (results[1][2][~valid] == 0).all()  # the gradient at padding


def test_heads_must_fit():
    with pytest.raises(InputError, match="MultiHead: heads must divide size") as caught:
        MultiHead(SIZE, 4, Attention(ScaledDot(), Softmax(), Everything()))
    assert caught.value.found == "heads=4, size=33"
    assert caught.value.fix == "heads that fit: 1, 3, 11"


def test_what_torch_cannot_hold_is_refused():
    with pytest.raises(InputError, match="cannot compute this composition"):
        MultiHead(SIZE, HEADS, Attention(ScaledDot(), Sparsemax(), Everything())).to_torch()
    with pytest.raises(InputError, match="cannot compute this composition"):
        standard(source_size=SOURCE_SIZE).to_torch()
    with pytest.raises(InputError, match="cannot compute this composition"):
        MultiHead(12, 2, Attention(ScaledDot(), Softmax(), Everything()), rotary=Rotary(6)).to_torch()


@pytest.mark.parametrize("options", [{"bias": False}, {"kdim": 5}, {"add_bias_kv": True}, {"add_zero_attn": True}])
def test_what_we_cannot_hold_is_refused(options):
    with pytest.raises(InputError, match="from_torch needs") as caught:
        MultiHead.from_torch(nn.MultiheadAttention(SIZE, HEADS, **options))
    assert str(next(iter(options))) in caught.value.found + caught.value.fix
