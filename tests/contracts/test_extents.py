"""Laws of every extent, alone and joined."""

import math

import pytest
import torch

from atento.attention import (
    EXTENTS,
    Attention,
    BlockLocal2d,
    Causal,
    Everything,
    General,
    Masked,
    ScaledDot,
    Sizes,
    Softmax,
)
from atento.attention.fast import sparse
from atento.blocks import TransformerDecoderLayer, TransformerEncoderLayer
from atento.errors import InputError
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe
from cases import law_over

BATCH, HEADS, LENGTH, SIZE, VALUE_SIZE = 2, 3, 19, 5, 7
SIZES = Sizes(SIZE, SIZE, reach=2, heads=HEADS, block=4, max_length=11)

MAKERS = {name: lambda part=part: part.make(SIZES) for name, part in EXTENTS.items()}
MAKERS["block-local, 2-D"] = lambda: BlockLocal2d(4, 6, (2, 2))
MAKERS["masked"] = lambda: Masked(torch.rand(LENGTH, LENGTH) < 0.7)
MAKERS["masked, added"] = lambda: Masked(torch.randn(LENGTH, LENGTH))
OF_REAL_KEYS = [name for name in MAKERS if not name.startswith("masked")]  # a mask counts padding among the positions
CAUSAL_SAFE = [name for name in MAKERS if name != "local-predictive"]  # which needs the length of the whole sequence

SCORES = {"kernel": ScaledDot, "formula": lambda: General(SIZE, SIZE)}
WAYS = {"whole": math.inf, "groups": 0}

every_extent = pytest.mark.parametrize("name", MAKERS)


def take(way, monkeypatch):
    """By the whole matrix, or by groups of queries and keys also where these do not pay."""
    monkeypatch.setattr(sparse, "WORTH_IT", WAYS[way])


def made(name):
    """An extent of three heads, with numbers in it where it learns some."""
    torch.manual_seed(0)
    extent = MAKERS[name]()
    for parameter in extent.parameters():
        torch.nn.init.normal_(parameter)
    return extent


def some_items(length=LENGTH):
    return [torch.randn(BATCH, HEADS, length, size) for size in (SIZE, SIZE, VALUE_SIZE)]


def view_of(extent, query, key, at, valid=None):
    return extent(query, key, query_at=at, key_at=torch.arange(key.size(-2)), valid=valid)


def parts_equal(one, other, rows):
    """Whether the rows of one view are the whole other view."""
    for left, right in zip(one, other, strict=True):
        if left is not None:
            left = left.expand(*left.shape[:-2], LENGTH, LENGTH)[..., rows, :]
            torch.testing.assert_close(left, right.expand_as(left), rtol=0, atol=1e-14)


@every_extent
def test_a_step_sees_what_the_whole_pass_sees(name):
    extent, (query, key, _) = made(name), some_items()
    whole = view_of(extent, query, key, torch.arange(LENGTH))
    for rows in (slice(0, 1), slice(3, 4), slice(5, 8), slice(8, LENGTH)):
        parts_equal(whole, view_of(extent, query[..., rows, :], key, torch.arange(LENGTH)[rows]), rows)


@every_extent
def test_views_have_the_axes_that_kernels_want(name):
    extent, (query, key, _) = made(name), some_items()
    view = view_of(extent, query, key, torch.arange(LENGTH))
    assert view.visible.dtype == torch.bool
    assert (view.bias is not None) == extent.biased
    for part in view:
        if part is not None:
            assert part.dim() >= 2
            torch.broadcast_shapes(part.shape, (BATCH, HEADS, LENGTH, LENGTH))


@every_extent
def test_positions_may_differ_from_group_to_group(name):
    """Queries (G, B, H, Q, D) at positions (G, 1, 1, Q) see what each group sees alone."""
    extent, items, starts = made(name), torch.randn(3, BATCH, HEADS, 4, SIZE), (0, 3, 9)
    at = torch.stack([torch.arange(start, start + 4) for start in starts]).view(3, 1, 1, 4)
    together = extent(items, items, query_at=at, key_at=at, valid=None)
    for group, start in enumerate(starts):
        place = torch.arange(start, start + 4)
        alone = extent(items[group], items[group], query_at=place, key_at=place, valid=None)
        for part, expected in zip(together, alone, strict=True):
            if part is not None:
                wanted = expected.expand(BATCH, HEADS, 4, 4)
                torch.testing.assert_close(part.expand(3, BATCH, HEADS, 4, 4)[group], wanted, rtol=0, atol=1e-14)


@law_over(left=MAKERS, right=MAKERS)
def test_both_show_what_each_shows_and_add_up_their_biases(left, right):
    one, two, (query, key, _), at = made(left), made(right), some_items(), torch.arange(LENGTH)
    if "causal" in (left, right) and not {left, right} <= set(CAUSAL_SAFE):
        with pytest.raises(InputError, match="length of the whole sequence"):
            one & two
        return
    first, second, both = (view_of(extent, query, key, at) for extent in (one, two, one & two))
    zeros, ones = torch.zeros(LENGTH, LENGTH), torch.ones(LENGTH, LENGTH)
    assert torch.equal(both.visible, first.visible & second.visible)
    added = first.add_bias(zeros) + second.add_bias(zeros)
    torch.testing.assert_close(both.add_bias(zeros), added, rtol=0, atol=1e-14)
    torch.testing.assert_close(both.scale(ones), first.scale(ones) * second.scale(ones))


@law_over(left=MAKERS, right=MAKERS)
def test_either_shows_what_one_of_them_shows(left, right):
    one, two, (query, key, _), at = made(left), made(right), some_items(), torch.arange(LENGTH)
    first, second = (view_of(extent, query, key, at) for extent in (one, two))
    if all(part is None for view in (first, second) for part in view[1:]):
        either = view_of(one | two, query, key, at)
        assert torch.equal(either.visible, first.visible | second.visible)
    else:
        with pytest.raises(InputError, match="only show or hide"):
            view_of(one | two, query, key, at)


@law_over(name=OF_REAL_KEYS, way=WAYS, score=SCORES, padding=[(0, 3), (2, 0), (3, 1)])
def test_neither_the_amount_nor_the_side_of_padding_matters(name, way, score, padding, monkeypatch):
    take(way, monkeypatch)
    attention, items, (before, after) = Attention(SCORES[score](), Softmax(), made(name)), some_items(), padding
    padded = [torch.nn.functional.pad(part, (0, 0, before, after), value=math.nan) for part in items]
    valid = torch.zeros(BATCH, 1, before + LENGTH + after, dtype=torch.bool)
    valid[..., before : before + LENGTH] = True
    context = attention(*padded, valid=valid)[..., before : before + LENGTH, :]
    torch.testing.assert_close(context, attention(*items), rtol=0, atol=1e-13)


@law_over(name=MAKERS, way=WAYS, score=SCORES)
def test_what_padding_holds_never_matters(name, way, score, monkeypatch):
    take(way, monkeypatch)
    attention, (query, key, value) = Attention(SCORES[score](), Softmax(), made(name)), some_items()
    valid = torch.rand(BATCH, 1, LENGTH) < 0.6
    valid[0] = False
    results = []
    for filling in (0.0, math.nan, math.inf):
        leaves = [part.masked_fill(~valid.unsqueeze(-1), filling).requires_grad_() for part in (key, value)]
        context = attention(query, *leaves, valid=valid)
        gradients = torch.autograd.grad(context.square().sum(), [*leaves, *attention.parameters()])
        results.append([context, attention.weights(query, leaves[0], valid=valid), *gradients])
    for plain, *odd in zip(*results, strict=True):
        assert plain.isfinite().all()
        assert all(torch.equal(plain, other) for other in odd)
    assert (results[0][0][0] == 0).all()  # a row that sees nothing
    hidden = ~valid.unsqueeze(-2).expand(BATCH, HEADS, LENGTH, LENGTH)
    assert (results[0][1][hidden] == 0).all()


@law_over(name=CAUSAL_SAFE, way=WAYS, score=SCORES, chunk=[1, 3, 17])
def test_cached_chunks_equal_the_whole(name, way, score, chunk, monkeypatch):
    take(way, monkeypatch)
    attention = Attention(SCORES[score](), Softmax(), made(name) if name == "causal" else Causal() & made(name))
    query, key, value = some_items()
    expected, cache, outputs = attention(query, key, value), None, []
    for first in range(0, LENGTH, chunk):
        place = slice(first, first + chunk)
        new = attention.prepare(key[..., place, :], value[..., place, :])
        cache = new if cache is None else cache.append(new)
        outputs.append(attention.read(query[..., place, :], cache, query_at=torch.arange(LENGTH)[place]))
    torch.testing.assert_close(torch.cat(outputs, dim=-2), expected, rtol=0, atol=1e-13)


@law_over(name=MAKERS, way=WAYS)
def test_heads_and_neighbours_never_matter_to_each_other(name, way, monkeypatch):
    take(way, monkeypatch)
    attention, items = Attention(ScaledDot(), Softmax(), made(name)), some_items()
    whole = attention(*items)
    alone = attention(*(part[1:] for part in items))
    torch.testing.assert_close(alone, whole[1:], rtol=0, atol=1e-14)
    changed = [part.clone() for part in items]
    for part in changed:
        part[:, 1] = torch.randn_like(part[:, 1])
    others = attention(*changed)
    assert torch.equal(others[:, ::2], whole[:, ::2])
    assert not torch.equal(others[:, 1], whole[:, 1])


def build(name):
    recipe = ModelRecipe(name=name, hidden=2 * SIZE, heads=2, layers=1, window=2, block=4, max_length=11)
    return build_translator(recipe, Vocabularies(13, 11))


@pytest.mark.parametrize("name", EXTENTS)
def test_an_extent_stands_where_it_has_a_meaning(name):
    """Between two sequences, within one, in a growing past: as each declares, and by name in models."""
    extent = EXTENTS[name].make(SIZES)
    model = build(f"transformer+{name}")
    encoder, decoder = (
        next(layer for layer in model.modules() if isinstance(layer, kind))
        for kind in (TransformerEncoderLayer, TransformerDecoderLayer)
    )
    own, cross = decoder.self_attention.attention.extent, decoder.cross_attention.attention.extent
    assert type(encoder.self_attention.attention.extent) is type(extent)
    assert type(cross) is (type(extent) if extent.crosses_sequences else Everything)
    assert any(isinstance(part, Causal) for part in own.modules())
    named = any(type(part) is type(extent) for part in own.modules())
    assert named == (extent.causal_safe and name != "everything")
    if extent.crosses_sequences:
        assert type(build(f"gru+dot+{name}").decoder.attention.extent) is type(extent)
    else:
        with pytest.raises(InputError, match="within one sequence only") as caught:
            build(f"gru+dot+{name}")
        assert caught.value.found == name
        assert "local" in caught.value.fix
