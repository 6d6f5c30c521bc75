"""Laws of every composition, score × distribution × extent, whichever path computes it."""

import itertools
import math

import pytest
import torch

from atento.attention import Attention, Causal
from atento.attention.presets import DISTRIBUTIONS, EXTENTS, SCORES, Composition, Sizes

BATCH, QUERIES, KEYS, SIZE, VALUE_SIZE = 2, 3, 5, 7, 11

NAMES = [Composition(*names) for names in itertools.product(SCORES, DISTRIBUTIONS, EXTENTS)]
every_composition = pytest.mark.parametrize("composition", NAMES, ids="+".join)


def build(composition, *, also=None):
    attention = composition.build(Sizes(query=SIZE, key=SIZE, reach=1)).double()
    return attention if also is None else Attention(attention.score, attention.distribution, attention.extent & also)


def some_items(*shape):
    return [torch.randn(*shape, SIZE), torch.randn(*shape, SIZE), torch.randn(*shape, VALUE_SIZE)]


def cross():
    """Queries, keys, values, and padding with a hole in it."""
    query, key, value = torch.randn(BATCH, QUERIES, SIZE), *some_items(BATCH, KEYS)[1:]
    valid = torch.tensor([[True, False, True, True, False], [False, True, True, True, True]])
    return query, key, value, valid


def view_at(attention, query, key):
    positions = {"query_at": torch.arange(query.size(-2)), "key_at": torch.arange(key.size(-2))}
    return attention.extent(query, key, **positions)


@pytest.mark.spec("A32")
@every_composition
def test_what_is_hidden_might_as_well_not_be_there(composition):
    """Each query against only the keys it sees, one row at a time, with no mask at all."""
    attention = build(composition)
    query, key, value, valid = cross()
    context, weights = attention(query, key, value, valid=valid), attention.weights(query, key, valid=valid)
    view = view_at(attention, query, key)
    for row, at in itertools.product(range(BATCH), range(QUERIES)):
        seen = view.visible.expand(QUERIES, KEYS)[at] & valid[row]
        scores = view.tilt(attention.score(query, key))[row, at, seen]
        shares = attention.distribution(scores, torch.ones_like(scores, dtype=torch.bool)) if seen.any() else scores
        factor = 1 if view.factor is None else view.factor.expand(BATCH, QUERIES, KEYS)[row, at, seen]
        torch.testing.assert_close(context[row, at], shares * factor @ value[row, seen], rtol=0, atol=1e-13)
        torch.testing.assert_close(weights[row, at, seen], shares * factor, rtol=0, atol=1e-14)
        assert (weights[row, at, ~seen] == 0).all()


@every_composition
def test_the_weights_are_those_the_context_used(composition):
    """With one-hot values the context is its weights."""
    attention = build(composition)
    query, key, _, valid = cross()
    markers = torch.eye(KEYS).expand(BATCH, KEYS, KEYS)
    weights = attention.weights(query, key, valid=valid)
    torch.testing.assert_close(attention(query, key, markers, valid=valid), weights, rtol=0, atol=1e-14)
    for rows in (slice(0, 1), slice(1, 3), slice(None, None, 2)):
        part = attention.weights(query, key, valid=valid, rows=rows)
        torch.testing.assert_close(part, weights[:, rows], rtol=0, atol=1e-14)


@every_composition
def test_a_row_that_sees_nothing_gives_zeros_and_finite_gradients(composition):
    attention = build(composition)
    query, key, value, valid = cross()
    valid[0] = False
    leaves = [part.requires_grad_() for part in (query, key, value)]
    context = attention(*leaves, valid=valid)
    assert (context[0] == 0).all()
    assert (attention.weights(query, key, valid=valid)[0] == 0).all()
    gradients = torch.autograd.grad(context.square().sum() + context.sum(), [*leaves, *attention.parameters()])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert all((gradient[0] == 0).all() for gradient in gradients[:3])


@every_composition
@pytest.mark.parametrize("nothing", [math.nan, math.inf])
def test_what_padding_holds_never_matters(composition, nothing):
    attention = build(composition)
    query, key, value, valid = cross()
    results = []
    for filling in (0.0, nothing):
        leaves = [part.masked_fill(~valid.unsqueeze(-1), filling).requires_grad_() for part in (key, value)]
        context = attention(query, *leaves, valid=valid)
        gradients = torch.autograd.grad(context.square().sum(), [*leaves, *attention.parameters()])
        results.append([context, attention.weights(query, leaves[0], valid=valid), *gradients])
    for plain, odd in zip(*results, strict=True):
        assert torch.equal(plain, odd)
    assert all((gradient[~valid] == 0).all() for gradient in results[1][2:4])


@every_composition
@pytest.mark.parametrize("before, after", [(0, 3), (2, 0), (3, 1)])
def test_neither_the_amount_nor_the_side_of_padding_matters(composition, before, after):
    attention = build(composition)
    items = some_items(BATCH, KEYS)
    expected = attention(*items)
    padded = [torch.nn.functional.pad(part, (0, 0, before, after), value=math.nan) for part in items]
    valid = torch.zeros(BATCH, before + KEYS + after, dtype=torch.bool)
    valid[:, before : before + KEYS] = True
    context = attention(*padded, valid=valid)[:, before : before + KEYS]
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("composition", [names for names in NAMES if names.extent == "everything"], ids="+".join)
def test_keys_moved_with_their_values_change_nothing(composition):
    attention, order = build(composition), torch.randperm(KEYS)
    query, key, value, valid = cross()
    moved = attention(query, key[:, order], value[:, order], valid=valid[:, order])
    torch.testing.assert_close(moved, attention(query, key, value, valid=valid), rtol=0, atol=1e-13)


@every_composition
def test_neighbours_never_matter(composition):
    attention = build(composition)
    query, key, value, valid = cross()
    together = attention(query, key, value, valid=valid)
    for row in range(BATCH):
        place = slice(row, row + 1)
        alone = attention(query[place], key[place], value[place], valid=valid[place])
        torch.testing.assert_close(alone, together[place], rtol=0, atol=1e-13)


@pytest.mark.spec("A20")
@every_composition
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_the_future_never_matters_exactly(composition, padded):
    attention = build(composition, also=None if composition.extent == "causal" else Causal())
    items = some_items(BATCH, KEYS)
    valid = torch.tensor([[True, False, True, True, True], [True] * 5]) if padded else None
    expected = attention(*items, valid=valid)
    for now in range(KEYS - 1):
        changed = [part.clone() for part in items]
        for part in changed:
            part[:, now + 1 :] = 1e3 * torch.randn_like(part[:, now + 1 :])
        assert torch.equal(attention(*changed, valid=valid)[:, : now + 1], expected[:, : now + 1])


@every_composition
@pytest.mark.parametrize("chunk", [1, 3, 17])
def test_cached_chunks_equal_the_whole(composition, chunk):
    length = 19
    attention = build(composition, also=None if composition.extent == "causal" else Causal())
    query, key, value = some_items(BATCH, length)
    expected, cache, outputs = attention(query, key, value), None, []
    for first in range(0, length, chunk):
        place = slice(first, first + chunk)
        new = attention.prepare(key[:, place], value[:, place])
        cache = new if cache is None else cache.append(new)
        query_at = torch.arange(length)[place]
        outputs.append(attention.read(query[:, place], cache, query_at=query_at))
    torch.testing.assert_close(torch.cat(outputs, dim=1), expected, rtol=0, atol=1e-13)


@pytest.mark.spec("A32")
@every_composition
def test_gradients_of_every_composition_with_masks(composition):
    query, key, value, valid = cross()
    valid[0] = False
    leaves = [part[:, :, :3].contiguous() for part in (query, key, value)]
    attention = composition.build(Sizes(query=3, key=3, reach=1)).double()
    leaves = [part.requires_grad_() for part in (*leaves, *attention.parameters())]

    def context(query, key, value, *_):
        return attention(query, key, value, valid=valid)

    assert torch.autograd.gradcheck(context, leaves, fast_mode=True)
