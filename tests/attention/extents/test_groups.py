"""Sequences cut into groups, and put together again."""

import pytest
import torch

from atento.attention.extents.groups import BlockEnds, Blocks, NearTiles, Neighbourhoods, Strides, Tiles
from cases import law_over

NONE = 0  # what stands where there is no item


def places(groups, length):
    """Which items (counted from 1) each group holds."""
    items = torch.arange(1, length + 1).unsqueeze(-1)
    return groups.split(items, axes=0).squeeze(-1).tolist()


def test_blocks_are_runs_of_neighbours():
    assert places(Blocks.over(7, 3), 7) == [[1, 2, 3], [4, 5, 6], [7, NONE, NONE]]


def test_strides_hold_every_so_many_th():
    assert places(Strides.over(7, 3), 7) == [[1, 4, 7], [2, 5, NONE], [3, 6, NONE]]


@pytest.mark.parametrize(
    "before, after, expected",
    [
        (1, 0, [[NONE, NONE, 1, 2], [1, 2, 3, 4], [3, 4, 5, NONE]]),
        (0, 1, [[1, 2, 3, 4], [3, 4, 5, NONE], [5, NONE, NONE, NONE]]),
        (0, 0, [[1, 2], [3, 4], [5, NONE]]),
    ],
)
def test_neighbourhoods_add_whole_blocks(before, after, expected):
    blocks = Blocks.over(5, 2)
    assert places(Neighbourhoods.around(blocks, before=before, after=after), 5) == expected


def test_neighbourhoods_of_few_queries_among_many_keys_and_of_many_among_few():
    blocks = Blocks.over(4, 2)
    assert places(Neighbourhoods.around(blocks, before=1, after=0), 9) == [[NONE, NONE, 1, 2], [1, 2, 3, 4]]
    assert places(Neighbourhoods.around(blocks, before=1, after=0), 1) == [[NONE, NONE, 1, NONE], [1, NONE, NONE, NONE]]


def test_the_ends_of_blocks():
    assert places(BlockEnds.over(7, 3, 1), 7) == [[3, 6, NONE]]
    assert places(BlockEnds.over(8, 3, 2), 8) == [[2, 3, 5, 6, 8, NONE]]


def test_tiles_of_an_image():
    """An image of 3 × 5 in tiles of 2 × 3.

    1  2  3 |  4  5
    6  7  8 |  9 10
    11 12 13 | 14 15
    """
    tiles = Tiles.over(15, 3, 5, (2, 3))
    assert places(tiles, 15) == [
        [1, 2, 3, 6, 7, 8],
        [4, 5, NONE, 9, 10, NONE],
        [11, 12, 13, NONE, NONE, NONE],
        [14, 15, NONE, NONE, NONE, NONE],
    ]
    near = places(NearTiles.around(tiles, 1, below=True), 15)
    assert [sorted(set(group) - {NONE}) for group in near] == [list(range(1, 16))] * 4
    above = places(NearTiles.around(tiles, 1, below=False), 15)
    assert [sorted(set(group) - {NONE}) for group in above] == [list(range(1, 11))] * 2 + [list(range(1, 16))] * 2
    alone = places(NearTiles.around(tiles, 0, below=True), 15)
    assert alone == places(tiles, 15)


CUTS = {
    "blocks": lambda length: Blocks.over(length, 4),
    "strides": lambda length: Strides.over(length, 4),
    "tiles": lambda length: Tiles.over(length, 3, 5, (2, 2)),
}


@law_over(cut=CUTS, length=[1, 6, 13, 15])
def test_what_is_cut_is_put_together_again(cut, length):
    groups, items = CUTS[cut](length), torch.randn(2, 3, length, 7)
    cut = groups.split(items, axes=2)
    assert cut.shape == (groups.groups, 2, 3, groups.size, 7)
    assert torch.equal(groups.merge(cut, axes=2), items)


def test_axes_before_the_leading_ones_stay_before_the_groups():
    """Two score matrices stand on an axis of their own, before everything."""
    groups, pair = Blocks.over(6, 3), torch.randn(2, 5, 3, 6, 7)
    cut = groups.split(pair, axes=2)
    assert cut.shape == (2, 2, 5, 3, 3, 7)
    assert torch.equal(cut[1, 1], pair[1, ..., 3:, :])
    assert torch.equal(groups.merge(cut, axes=2), pair)
    assert groups.split(pair[0, 0, 0], axes=2).shape == (2, 1, 1, 3, 7)
