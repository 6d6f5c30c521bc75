"""Laws of every composition, score × distribution × extent, whichever path computes it.

Each test is one score with one distribution; it goes through extents and says with which one it failed. What row A32
asks, weights, contexts and gradients under masks, is asked of every composition. The other laws go round the extents in
turn, two for a pair, so that every two parts of a composition meet under every law.
"""

import functools
import itertools
import math
from contextlib import contextmanager

import pytest
import torch

from atento.attention import DISTRIBUTIONS, EXTENTS, SCORES, Causal, Composition, MultiHead, Sizes, Softmax, view_of
from atento.attention.fast import sparse
from atento.errors import InputError

BATCH, HEADS, QUERIES, KEYS, SIZE, VALUE_SIZE = 2, 3, 3, 5, 7, 11
LONGEST = 19
SIZES = Sizes(query=SIZE, key=SIZE, reach=1, heads=1, block=2, max_length=LONGEST)

PAIRS = list(itertools.product(SCORES, DISTRIBUTIONS))


def has_meaning(score, distribution):
    """Kernels are divided by their sum, and nothing else is."""
    return (score in ("linear", "performer")) == (distribution == "proportional")


MEANT = [pair for pair in PAIRS if has_meaning(*pair)]
TURNS = 5
every_pair = pytest.mark.parametrize("pair", MEANT, ids="+".join)


@contextmanager
def about(name):
    try:
        yield
    except Exception as error:
        error.add_note(f"with the extent {name}")
        raise


@functools.cache
def build(pair, extent, sizes=SIZES):
    """The composition in float64, its parameters other than they start, drawing nothing by chance."""
    torch.manual_seed(1)
    attention = Composition(*pair, extent).build(sizes).double().eval()
    for weight in attention.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return attention


def in_turn(pair):
    """Two of the ten extents; a kernel, which has but one distribution, gets all of them."""
    if not has_meaning(pair[0], "softmax"):
        return list(EXTENTS)
    first = list(SCORES).index(pair[0]) + list(DISTRIBUTIONS).index(pair[1])
    return [name for at, name in enumerate(EXTENTS) if (first + at) % TURNS == 0]


def test_in_turn_every_two_parts_meet():
    met = [(score, distribution, extent) for score, distribution in MEANT for extent in in_turn((score, distribution))]
    for one, other in itertools.combinations(range(3), 2):
        every = {(parts[one], parts[other]) for parts in ((*pair, extent) for pair in MEANT for extent in EXTENTS)}
        assert {(parts[one], parts[other]) for parts in met} == every


def compositions(pair, *, sizes=SIZES, also=None, extents=None):
    """Extents, two in turn or those given, where they have a meaning with this pair: the name and the attention."""
    for name in extents or in_turn(pair):
        if DISTRIBUTIONS[pair[1]].kind == "kernel" and EXTENTS[name].make(sizes).biased:
            continue  # refused, see below
        with about(name):
            attention = build(pair, name, sizes)
            if also is None:
                yield name, attention
            elif attention.extent.causal_safe:  # else it has no meaning while keys still come
                yield name, attention.with_extent(also & attention.extent)


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


@pytest.mark.spec("A32")
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if not has_meaning(*pair)], ids="+".join)
def test_what_has_no_meaning_is_refused_with_the_reason(pair):
    kinds = SCORES[pair[0]].kind, DISTRIBUTIONS[pair[1]].kind
    for extent in EXTENTS:
        with pytest.raises(InputError) as caught:
            Composition(*pair, extent).build(SIZES)
        assert REASONS[kinds] in caught.value.problem
        assert caught.value.fix


@pytest.mark.spec("A32")
@pytest.mark.parametrize("score", ["linear", "performer"])
def test_a_bias_has_no_meaning_for_proportions(score):
    biased = [name for name in EXTENTS if EXTENTS[name].make(SIZES).biased]
    assert {"alibi", "relative"} <= set(biased)
    for name in biased:
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
@every_pair
@pytest.mark.parametrize("way", ["whole", "groups"])
def test_what_is_hidden_might_as_well_not_be_there(pair, way, monkeypatch):
    """As a decoder's attention and as self-attention; by the whole matrix, and by groups where an extent is sparse."""
    monkeypatch.setattr(sparse, "WORTH_IT", 0 if way == "groups" else math.inf)
    query, key, value, valid = cross()
    query = query if way == "whole" else key.flip(1)
    for name, attention in compositions(pair, extents=EXTENTS):
        with about(name):
            expected = expected_weights(attention, query, key, valid)
            weights = attention.weights(query, key, valid=valid)
            torch.testing.assert_close(weights, expected, rtol=0, atol=1e-13)
            context = attention(query, key, value, valid=valid)
            torch.testing.assert_close(context, expected @ value, rtol=0, atol=1e-13)


@every_pair
def test_the_weights_of_the_asked_rows(pair):
    query, key, _, valid = cross()
    for name, attention in compositions(pair):
        with about(name):
            weights = attention.weights(query, key, valid=valid)
            for rows in (slice(0, 1), slice(1, 3), slice(None, None, 2)):
                part = attention.weights(query, key, valid=valid, rows=rows)
                torch.testing.assert_close(part, weights[:, rows], rtol=0, atol=1e-14)


@every_pair
def test_promises_of_the_distribution_hold_for_the_weights(pair):
    query, key, _, valid = cross()
    for name, attention in compositions(pair):
        with about(name):
            weights = attention.weights(query, key, valid=valid)
            view = view_of(attention.extent, query, attention.prepare(key, key, valid=valid), query_at=None)
            seen = view.visible.expand_as(weights)
            assert (weights[~seen] == 0).all()
            if attention.distribution.non_negative:
                assert (weights >= 0).all()
            if attention.distribution.sums_to_one and view.factor is None:
                torch.testing.assert_close(weights.sum(-1), seen.any(-1).double(), rtol=0, atol=1e-13)


@pytest.mark.spec("A32")
@every_pair
def test_as_pooling_one_query_sums_a_sequence_up(pair):
    """One query of its own gets what it gets among others."""
    query, key, value, valid = cross()
    for name, attention in compositions(pair):
        with about(name):
            alone = attention(query[:, :1], key, value, valid=valid)
            assert alone.shape == (BATCH, 1, VALUE_SIZE)
            among = attention(query, key, value, valid=valid)[:, :1]
            torch.testing.assert_close(alone, among, rtol=0, atol=1e-13)


@pytest.mark.spec("A32", "A31")
@every_pair
def test_as_multi_head_each_head_is_an_attention(pair):
    """(B, H, Q, d) at once, with the weights of any head by itself."""
    size = HEADS * 2
    sizes = SIZES._replace(query=2, key=2, heads=HEADS)
    items, valid = torch.randn(BATCH, KEYS, size), torch.tensor([[True, True, False, True, True], [True] * 5])
    for name, attention in compositions(pair, sizes=sizes):
        with about(name):
            heads = MultiHead(size, HEADS, attention).double().eval()
            query, key, value = (heads.split(part(items)) for part in (heads.to_query, heads.to_key, heads.to_value))
            context = attention(query, key, value, valid=valid.unsqueeze(1))
            expected = expected_weights(attention, query, key, valid.unsqueeze(1))
            torch.testing.assert_close(context, expected @ value, rtol=0, atol=1e-13)
            merged = heads.combine(context.transpose(1, 2).flatten(2))
            torch.testing.assert_close(heads(items, items, valid=valid), merged, rtol=0, atol=1e-13)
            weights = heads.weights(items, items, valid=valid, heads=slice(1, 2))
            torch.testing.assert_close(weights, expected[:, 1:2], rtol=0, atol=1e-13)


@every_pair
def test_a_row_that_sees_nothing_gives_zeros_and_finite_gradients(pair):
    query, key, value, valid = cross()
    valid[0] = False
    for name, attention in compositions(pair):
        with about(name):
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


@every_pair
def test_what_padding_holds_never_matters(pair):
    query, key, value, valid = cross()
    for name, attention in compositions(pair):
        with about(name):
            results = []
            for filling in (0.0, math.nan, math.inf):
                leaves = [part.masked_fill(~valid.unsqueeze(-1), filling).requires_grad_() for part in (key, value)]
                context = attention(query, *leaves, valid=valid)
                gradients = gradients_of(context.square().sum(), [*leaves, *attention.parameters()])
                results.append([context, attention.weights(query, leaves[0], valid=valid), *gradients])
            for plain, *odd in zip(*results, strict=True):
                assert all(torch.equal(plain, one) for one in odd)
            assert all((gradient[~valid] == 0).all() for gradient in results[1][2:4])


@every_pair
@pytest.mark.parametrize("before, after", [(0, 3), (2, 0), (3, 1)])
def test_neither_the_amount_nor_the_side_of_padding_matters(pair, before, after):
    """A score that asks where a key stands counts padding before it; padding after the keys moves none of them."""
    items = some_items(BATCH, KEYS)
    padded = [torch.nn.functional.pad(part, (0, 0, before, after), value=math.nan) for part in items]
    valid = torch.zeros(BATCH, before + KEYS + after, dtype=torch.bool)
    valid[:, before : before + KEYS] = True
    for name, attention in compositions(pair):
        if attention.score.by_position and before:
            assert pair[0] == "location"
            continue
        with about(name):
            context = attention(*padded, valid=valid)[:, before : before + KEYS]
            torch.testing.assert_close(context, attention(*items), rtol=0, atol=1e-13)


@every_pair
def test_keys_moved_with_their_values_change_nothing(pair):
    """But for a score that asks where a key stands."""
    attention, order = build(pair, "everything"), torch.tensor([3, 0, 4, 2, 1])
    query, key, value, valid = cross()
    moved = attention(query, key[:, order], value[:, order], valid=valid[:, order])
    still = attention(query, key, value, valid=valid)
    if attention.score.by_position:
        assert pair[0] == "location" and not torch.allclose(moved, still)
    else:
        torch.testing.assert_close(moved, still, rtol=0, atol=1e-13)


@every_pair
def test_neighbours_never_matter(pair):
    query, key, value, valid = cross()
    for name, attention in compositions(pair):
        with about(name):
            together = attention(query, key, value, valid=valid)
            for row in range(BATCH):
                place = slice(row, row + 1)
                alone = attention(query[place], key[place], value[place], valid=valid[place])
                torch.testing.assert_close(alone, together[place], rtol=0, atol=1e-13)


@pytest.mark.spec("A20", "A32")
@every_pair
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_the_future_never_matters_exactly(pair, padded):
    items = some_items(BATCH, KEYS)
    valid = torch.tensor([[True, False, True, True, True], [True] * 5]) if padded else None
    for name, attention in compositions(pair, also=Causal()):
        with about(name):
            expected = attention(*items, valid=valid)
            for now in range(KEYS - 1):
                changed = [part.clone() for part in items]
                for part in changed:
                    part[:, now + 1 :] = 1e3 * torch.randn_like(part[:, now + 1 :])
                assert torch.equal(attention(*changed, valid=valid)[:, : now + 1], expected[:, : now + 1])


@every_pair
@pytest.mark.parametrize("chunk, length", [(1, 7), (3, 11), (17, LONGEST)])
def test_cached_chunks_equal_the_whole(pair, chunk, length):
    query, key, value = some_items(BATCH, length)
    for name, attention in compositions(pair, also=Causal()):
        with about(name):
            expected, cache, outputs = attention(query, key, value), None, []
            for first in range(0, length, chunk):
                place = slice(first, first + chunk)
                new = attention.prepare(key[:, place], value[:, place])
                cache = new if cache is None else cache.append(new)
                outputs.append(attention.read(query[:, place], cache, query_at=torch.arange(length)[place]))
            torch.testing.assert_close(torch.cat(outputs, dim=1), expected, rtol=0, atol=1e-12)


@pytest.mark.spec("A32")
@every_pair
def test_gradients_of_every_composition_with_masks(pair):
    """By small differences. A draw has no such gradient: straight-through gives the softmax's, by the same values."""
    query, key, value, valid = cross()
    valid[0] = False
    for name, attention in compositions(pair, sizes=SIZES._replace(query=3, key=3), extents=EXTENTS):
        leaves = [part[:, :, :3].contiguous().requires_grad_() for part in (query, key, value)]
        leaves += list(attention.parameters())

        def context(query, key, value, *_, attention=attention):
            return attention(query, key, value, valid=valid)

        with about(name):
            if attention.distribution.differentiable:
                assert torch.autograd.gradcheck(context, leaves, fast_mode=True)
                continue
            upstream = torch.randn(BATCH, QUERIES, 3)
            found = gradients_of((context(*leaves) * upstream).sum(), leaves)
            wanted = gradients_of((by_draws(attention, *leaves[:3], valid) * upstream).sum(), leaves)
            torch.testing.assert_close(found, wanted, rtol=0, atol=1e-13)


@every_pair
def test_low_precision_goes_all_the_way(pair):
    """A module in bfloat16 gives bfloat16, near what it gives in float64 with the same numbers."""
    torch.manual_seed(1)
    attention = Composition(*pair).build(SIZES).bfloat16().eval()
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


@pytest.mark.parametrize("name", SCORES)
def test_the_table_says_what_each_score_gives(name):
    assert SCORES[name].make(SIZES).gives == SCORES[name].kind
