"""Laws of every composition, score × distribution × extent, whichever path computes it.

Each law is asked of compositions in which every two parts meet, and every part meets every value of the law's own
factors. A test is one law for one score: it goes through the compositions of that score and says with which it failed.
"""

import itertools
import math
from unittest import mock

import pytest
import torch

from atento.attention import (
    DISTRIBUTIONS,
    EXTENTS,
    SCORES,
    Causal,
    Composition,
    Location,
    MultiHead,
    Sizes,
    Softmax,
    view_of,
)
from atento.attention.fast import sparse
from atento.errors import InputError
from cases import law_over
from compositions import BIASED, go_together, law_of_compositions

BATCH, HEADS, QUERIES, KEYS, SIZE, VALUE_SIZE = 2, 3, 3, 5, 7, 11
LONGEST = 19
SIZES = Sizes(query=SIZE, key=SIZE, reach=1, heads=1, block=2, max_length=LONGEST)

CAUSAL_SAFE = [name for name, part in EXTENTS.items() if part.make(SIZES).causal_safe]  # others need all keys at once


def build(composition, sizes):
    """In float64, its parameters other than they start, drawing nothing by chance."""
    torch.manual_seed(1)
    attention = composition.build(sizes).double().eval()
    for weight in attention.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return attention


def every_composition(*, sizes=SIZES, **factors):
    return law_of_compositions(lambda names: build(names, sizes), **factors)


def some_items(*shape):
    return [torch.randn(*shape, SIZE), torch.randn(*shape, SIZE), torch.randn(*shape, VALUE_SIZE)]


def cross():
    """Queries, keys, values, and padding with a hole in it."""
    query, key, value = torch.randn(BATCH, QUERIES, SIZE), *some_items(BATCH, KEYS)[1:]
    valid = torch.tensor([[True, False, True, True, False], [False, True, True, True, True]])
    return query, key, value, valid


REASONS = {
    ("kernel", "scores"): "stands for exp(score) already",
    ("kernel", "opposed"): "never negative",
    ("scores", "kernel"): "gives any number",
}


def are_strangers(score, distribution, extent):
    return not go_together(score, distribution)


@pytest.mark.spec("A32")
@law_over(score=SCORES, distribution=DISTRIBUTIONS, extent=EXTENTS, allowed=are_strangers)
def test_what_has_no_meaning_is_refused_with_the_reason(score, distribution, extent):
    with pytest.raises(InputError) as caught:
        Composition(score, distribution, extent).build(SIZES)
    assert REASONS[SCORES[score].kind, DISTRIBUTIONS[distribution].kind] in caught.value.problem
    assert caught.value.fix


@pytest.mark.spec("A32")
@pytest.mark.parametrize("score", ["linear", "performer"])
def test_a_bias_has_no_meaning_for_proportions(score):
    assert {"alibi", "relative"} <= set(BIASED)
    for name in BIASED:
        with pytest.raises(InputError, match="Proportional has none"):
            Composition(score, "proportional", name).build(SIZES)


def expected_weights(attention, query, key, valid):
    """Each query against only the keys it sees, with no mask at all; the rows beside it, its heads, see those too."""
    prepared = attention.prepare(key, key, valid=valid)
    view = view_of(attention.extent, query, prepared, query_at=None)
    scores = view.add_bias(attention.score(query, key))
    whole = torch.zeros(scores.shape[-query.dim() :])
    visible = view.visible.expand_as(whole)
    factor = torch.ones_like(whole) if view.factor is None else view.factor.expand_as(whole)
    alone = {}
    for *batch, head, at in itertools.product(*(range(size) for size in whole.shape[:-1])):
        place = (*batch, head, at)
        seen = visible[place]
        what = (*batch, at, *seen.tolist())
        if seen.any() and what not in alone:
            heads = scores[(..., *batch, slice(None), slice(at, at + 1), slice(None))][..., seen]
            alone[what] = attention.distribution(heads, torch.ones(1, 1, dtype=torch.bool))
        if seen.any():
            whole[place] = whole[place].masked_scatter(seen, alone[what][head, 0] * factor[place][seen])
    return whole


@pytest.mark.spec("A32")
@every_composition(way=["whole", "groups"])
def test_what_is_hidden_might_as_well_not_be_there(attention, way):
    """As a decoder's attention and as self-attention; by the whole matrix, and by groups where an extent is sparse."""
    query, key, value, valid = cross()
    query = query if way == "whole" else key.flip(1)
    expected = expected_weights(attention, query, key, valid)
    weights = attention.weights(query, key, valid=valid)
    torch.testing.assert_close(weights, expected, rtol=0, atol=1e-13)
    with mock.patch.object(sparse, "WORTH_IT", 0 if way == "groups" else math.inf):
        context = attention(query, key, value, valid=valid)
    torch.testing.assert_close(context, expected @ value, rtol=0, atol=1e-13)


@every_composition()
def test_the_weights_of_the_asked_rows(attention):
    query, key, _, valid = cross()
    weights = attention.weights(query, key, valid=valid)
    for rows in (slice(0, 1), slice(1, 3), slice(None, None, 2)):
        part = attention.weights(query, key, valid=valid, rows=rows)
        torch.testing.assert_close(part, weights[:, rows], rtol=0, atol=1e-14)


@every_composition()
def test_promises_of_the_distribution_hold_for_the_weights(attention):
    query, key, _, valid = cross()
    weights = attention.weights(query, key, valid=valid)
    view = view_of(attention.extent, query, attention.prepare(key, key, valid=valid), query_at=None)
    seen = view.visible.expand_as(weights)
    assert (weights[~seen] == 0).all()
    if attention.distribution.non_negative:
        assert (weights >= 0).all()
    if attention.distribution.sums_to_one and view.factor is None:
        torch.testing.assert_close(weights.sum(-1), seen.any(-1).double(), rtol=0, atol=1e-13)


@pytest.mark.spec("A32")
@every_composition()
def test_as_pooling_one_query_sums_a_sequence_up(attention):
    """One query of its own gets what it gets among others."""
    query, key, value, valid = cross()
    alone = attention(query[:, :1], key, value, valid=valid)
    assert alone.shape == (BATCH, 1, VALUE_SIZE)
    among = attention(query, key, value, valid=valid)[:, :1]
    torch.testing.assert_close(alone, among, rtol=0, atol=1e-13)


@pytest.mark.spec("A32", "A31")
@every_composition(sizes=SIZES._replace(query=2, key=2, heads=HEADS))
def test_as_multi_head_each_head_is_an_attention(attention):
    """(B, H, Q, d) at once, with the weights of any head by itself."""
    size = HEADS * 2
    items, valid = torch.randn(BATCH, KEYS, size), torch.tensor([[True, True, False, True, True], [True] * 5])
    heads = MultiHead(size, HEADS, attention).double().eval()
    query, key, value = (heads.split(part(items)) for part in (heads.to_query, heads.to_key, heads.to_value))
    context = attention(query, key, value, valid=valid.unsqueeze(1))
    expected = expected_weights(attention, query, key, valid.unsqueeze(1))
    torch.testing.assert_close(context, expected @ value, rtol=0, atol=1e-13)
    merged = heads.combine(context.transpose(1, 2).flatten(2))
    torch.testing.assert_close(heads(items, items, valid=valid), merged, rtol=0, atol=1e-13)
    weights = heads.weights(items, items, valid=valid, heads=slice(1, 2))
    torch.testing.assert_close(weights, expected[:, 1:2], rtol=0, atol=1e-13)


@every_composition()
def test_a_row_that_sees_nothing_gives_zeros_and_finite_gradients(attention):
    query, key, value, valid = cross()
    valid[0] = False
    leaves = [part.clone().requires_grad_() for part in (query, key, value)]
    context = attention(*leaves, valid=valid)
    assert (context[0] == 0).all()
    assert (attention.weights(query, key, valid=valid)[0] == 0).all()
    gradients = gradients_of(context.square().sum() + context.sum(), [*leaves, *attention.parameters()])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert all((gradient[0] == 0).all() for gradient in gradients[:3])


def gradients_of(value, leaves):
    """Zeros where a score does not look at the query or the key, or a draw passes nothing on."""
    return torch.autograd.grad(value, leaves, allow_unused=True, materialize_grads=True)


@every_composition()
def test_what_padding_holds_never_matters(attention):
    query, key, value, valid = cross()
    results = []
    for filling in (0.0, math.nan, math.inf):
        leaves = [part.masked_fill(~valid.unsqueeze(-1), filling).requires_grad_() for part in (key, value)]
        context = attention(query, *leaves, valid=valid)
        gradients = gradients_of(context.square().sum(), [*leaves, *attention.parameters()])
        results.append([context, attention.weights(query, leaves[0], valid=valid), *gradients])
    for plain, *odd in zip(*results, strict=True):
        assert all(torch.equal(plain, one) for one in odd)
    assert all((gradient[~valid] == 0).all() for gradient in results[1][2:4])


@every_composition(padding=[(0, 3), (2, 0), (3, 1)])
def test_neither_the_amount_nor_the_side_of_padding_matters(attention, padding):
    """A score that asks where a key stands counts padding before it: it gets all of it after the keys."""
    before, after = (0, sum(padding)) if attention.score.by_position else padding
    items = some_items(BATCH, KEYS)
    padded = [torch.nn.functional.pad(part, (0, 0, before, after), value=math.nan) for part in items]
    valid = torch.zeros(BATCH, before + KEYS + after, dtype=torch.bool)
    valid[:, before : before + KEYS] = True
    context = attention(*padded, valid=valid)[:, before : before + KEYS]
    torch.testing.assert_close(context, attention(*items), rtol=0, atol=1e-13)


@every_composition(extents=["everything"])
def test_keys_moved_with_their_values_change_nothing(attention):
    """But for a score that asks where a key stands."""
    (query, key, value, valid), order = cross(), torch.tensor([3, 0, 4, 2, 1])
    moved = attention(query, key[:, order], value[:, order], valid=valid[:, order])
    still = attention(query, key, value, valid=valid)
    if attention.score.by_position:
        assert any(isinstance(part, Location) for part in attention.modules())
        assert not torch.allclose(moved, still)
    else:
        torch.testing.assert_close(moved, still, rtol=0, atol=1e-13)


@every_composition()
def test_neighbours_never_matter(attention):
    query, key, value, valid = cross()
    together = attention(query, key, value, valid=valid)
    for row in range(BATCH):
        place = slice(row, row + 1)
        alone = attention(query[place], key[place], value[place], valid=valid[place])
        torch.testing.assert_close(alone, together[place], rtol=0, atol=1e-13)


@pytest.mark.spec("A20", "A32")
@every_composition(extents=CAUSAL_SAFE, padded=[False, True])
def test_the_future_never_matters_exactly(attention, padded):
    attention = attention.with_extent(Causal() & attention.extent)
    items = some_items(BATCH, KEYS)
    valid = torch.tensor([[True, False, True, True, True], [True] * 5]) if padded else None
    expected = attention(*items, valid=valid)
    for now in range(KEYS - 1):
        changed = [part.clone() for part in items]
        for part in changed:
            part[:, now + 1 :] = 1e3 * torch.randn_like(part[:, now + 1 :])
        assert torch.equal(attention(*changed, valid=valid)[:, : now + 1], expected[:, : now + 1])


@every_composition(extents=CAUSAL_SAFE, cut=[(1, 7), (3, 11), (17, LONGEST)])
def test_cached_chunks_equal_the_whole(attention, cut):
    attention, (chunk, length) = attention.with_extent(Causal() & attention.extent), cut
    query, key, value = some_items(BATCH, length)
    expected, cache, outputs = attention(query, key, value), None, []
    for first in range(0, length, chunk):
        place = slice(first, first + chunk)
        new = attention.prepare(key[:, place], value[:, place])
        cache = new if cache is None else cache.append(new)
        outputs.append(attention.read(query[:, place], cache, query_at=torch.arange(length)[place]))
    torch.testing.assert_close(torch.cat(outputs, dim=1), expected, rtol=0, atol=1e-12)


@pytest.mark.spec("A32")
@every_composition(sizes=SIZES._replace(query=3, key=3))
def test_gradients_of_every_composition_with_masks(attention):
    """By small differences. A draw has no such gradient: straight-through gives the softmax's, by the same values."""
    query, key, value, valid = cross()
    valid[0] = False
    leaves = [part[:, :, :3].contiguous().requires_grad_() for part in (query, key, value)]
    leaves += list(attention.parameters())

    def context(query, key, value, *_):
        return attention(query, key, value, valid=valid)

    if attention.distribution.differentiable:
        assert torch.autograd.gradcheck(context, leaves, fast_mode=True)
    else:
        upstream = torch.randn(BATCH, QUERIES, 3)
        found = gradients_of((context(*leaves) * upstream).sum(), leaves)
        wanted = gradients_of((by_draws(attention, *leaves[:3], valid) * upstream).sum(), leaves)
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-13)


@every_composition()
def test_low_precision_goes_all_the_way(attention):
    """A module in bfloat16 gives bfloat16, near what it gives in float64 with the same numbers."""
    with torch.no_grad():
        for weight in attention.parameters():
            weight.mul_(0.3)  # scores that two digits are enough for
    attention = attention.bfloat16()
    items = [part.bfloat16().requires_grad_() for part in some_items(BATCH, KEYS)]
    context = attention(*items)
    context.float().sum().backward()
    assert context.dtype == torch.bfloat16 and items[2].grad.dtype == torch.bfloat16
    if attention.distribution.differentiable:  # a near tie may be drawn otherwise
        exact = attention.double()(*(part.detach().double() for part in items))
        torch.testing.assert_close(context.double(), exact, rtol=0.05, atol=0.05)


def by_draws(attention, query, key, value, valid):
    """The drawn values, and the gradient of what a softmax would have made of them where it goes straight through."""
    prepared = attention.prepare(key, value, valid=valid)
    view = view_of(attention.extent, query, prepared, query_at=None)
    scores = view.add_bias(attention.score(query, key))
    drawn, soft = attention.distribution(scores, view.visible).detach(), Softmax()(scores, view.visible)
    context = view.scale(drawn) @ prepared.value
    if attention.distribution.gradient == "straight-through":
        factor = 1 if view.factor is None else view.factor.detach()
        context = context + (soft - soft.detach()) * factor @ prepared.value.detach()
    return context


def test_the_table_says_what_each_score_gives():
    for name, part in SCORES.items():
        assert part.make(SIZES).gives == part.kind, name
