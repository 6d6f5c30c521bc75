"""Laws of every extent, alone and joined."""

import itertools

import pytest
import torch

from atento.attention.presets import EXTENTS, Sizes

QUERIES, KEYS, SIZE = 11, 7, 3

MEMBERS = {name: part.make(Sizes(SIZE, SIZE, reach=2)) for name, part in EXTENTS.items()}
PAIRS = list(itertools.product(MEMBERS, MEMBERS))


def view_of(extent, query_at):
    query, key = torch.randn(1, len(query_at), SIZE), torch.randn(1, KEYS, SIZE)
    return extent(query, key, query_at=query_at, key_at=torch.arange(KEYS))


def shown(extent, query_at):
    return view_of(extent, query_at).visible.expand(len(query_at), KEYS)


@pytest.mark.parametrize("extent", MEMBERS.values(), ids=MEMBERS)
def test_a_cached_step_sees_what_the_whole_pass_sees(extent):
    whole = shown(extent, torch.arange(QUERIES))
    for first, last in [(0, 1), (3, 4), (5, 8), (8, 11)]:
        assert torch.equal(shown(extent, torch.arange(first, last)), whole[first:last])


@pytest.mark.parametrize("extent", MEMBERS.values(), ids=MEMBERS)
def test_views_have_the_two_axes_that_kernels_want(extent):
    view = view_of(extent, torch.arange(QUERIES))
    assert view.visible.dtype == torch.bool
    for part in view:
        if part is not None:
            assert part.dim() >= 2
            torch.broadcast_shapes(part.shape, (1, QUERIES, KEYS))


@pytest.mark.parametrize("left, right", PAIRS)
def test_and_or(left, right):
    one, two, positions = MEMBERS[left], MEMBERS[right], torch.arange(QUERIES)
    assert torch.equal(shown(one & two, positions), shown(one, positions) & shown(two, positions))
    plain = all(part is None for extent in (one, two) for part in view_of(extent, positions)[1:])
    if plain:
        assert torch.equal(shown(one | two, positions), shown(one, positions) | shown(two, positions))
