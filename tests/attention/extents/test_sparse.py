"""Sparse patterns, position by position, and how far they reach."""

import pytest
import torch

from atento.attention import BlockLocal, BlockLocal2d, Causal, Fixed, Strided
from atento.errors import InputError
from cases import law_over

LENGTH = 23


def shown(extent, length=LENGTH, valid=None):
    items, at = torch.zeros(1, length, 3), torch.arange(length)
    view = extent(items, items, query_at=at, key_at=at, valid=valid)
    assert view.bias is None
    assert view.factor is None
    return view.visible.expand(*view.visible.shape[:-2], length, length)


def by_loops(may_look, length=LENGTH):
    return torch.tensor([[bool(may_look(query, key)) for key in range(length)] for query in range(length)])


PATTERNS = {
    "block-local": (BlockLocal(5), lambda query, key: abs(query // 5 - key // 5) <= 1),
    "two blocks before": (BlockLocal(5, before=2, after=0), lambda query, key: 0 <= query // 5 - key // 5 <= 2),
    "strided": (Strided(4), lambda query, key: abs(query - key) <= 4 or (query - key) % 4 == 0),
    "fixed": (Fixed(5, 2), lambda query, key: query // 5 == key // 5 or key % 5 in (3, 4)),
    "causal strided": (
        Causal() & Strided(4),
        lambda query, key: max(0, query - 4) <= key <= query or (key <= query and (query - key) % 4 == 0),
    ),
    "causal fixed": (
        Fixed(5, 1) & Causal(),
        lambda query, key: key <= query and (query // 5 == key // 5 or key % 5 == 4),
    ),
}


@pytest.mark.parametrize("extent, may_look", PATTERNS.values(), ids=PATTERNS)
def test_patterns_show_what_the_papers_say(extent, may_look):
    assert torch.equal(shown(extent), by_loops(may_look))


@pytest.mark.spec("C01")
@pytest.mark.parametrize("block, around", [((2, 3), 1), ((3, 2), 0), ((1, 1), 2)])
def test_images_are_seen_tile_by_tile(block, around):
    height, width = 5, 7

    def may_look(query, key):
        down = abs(query // width // block[0] - key // width // block[0])
        across = abs(query % width // block[1] - key % width // block[1])
        return max(down, across) <= around

    extent = BlockLocal2d(height, width, block, around)
    assert torch.equal(shown(extent, height * width), by_loops(may_look, height * width))


@pytest.mark.spec("C02")
@law_over(pattern=[Strided, Fixed], length=[16, 23, 64, 97])
def test_every_position_reaches_every_earlier_one_in_two_steps(pattern, length):
    """Each position sees about 2√n others, yet two steps lead from any position to all before it."""
    size = int(length**0.5)
    one_step = shown(Causal() & pattern(size), length).double()
    two_steps = one_step @ one_step > 0
    assert torch.equal(two_steps, torch.ones(length, length).tril().bool())
    assert one_step.sum(-1).max() <= 2 * size + 1 + length / size


@law_over(extent=[BlockLocal(5), Fixed(5, 2), BlockLocal2d(8, 6, (2, 2))], before=[1, 3, 8])
def test_blocks_are_counted_from_the_first_real_key(extent, before):
    """Padding on the left moves no border; each row has its own."""
    valid = torch.ones(2, LENGTH + before, dtype=torch.bool)
    valid[1, :before] = False
    padded = shown(extent, LENGTH + before, valid)
    assert torch.equal(padded[0], shown(extent, LENGTH + before))
    assert torch.equal(padded[1, before:, before:], shown(extent))


def test_a_first_real_key_that_comes_later_is_not_waited_for():
    valid = torch.zeros(1, LENGTH, dtype=torch.bool)
    assert torch.equal(shown(BlockLocal(5), valid=valid)[0], shown(BlockLocal(5)))


@pytest.mark.parametrize(
    "make, argument",
    [
        (lambda: BlockLocal(0), "block=0"),
        (lambda: BlockLocal(3, before=-1), "before=-1"),
        (lambda: BlockLocal(3, after=-2), "after=-2"),
        (lambda: BlockLocal2d(0, 3, (2, 2)), "height=0"),
        (lambda: BlockLocal2d(3, 3, (2, 0)), "block_width=0"),
        (lambda: BlockLocal2d(3, 3, (2, 2), around=-1), "around=-1"),
        (lambda: Strided(0), "stride=0"),
        (lambda: Fixed(0), "block=0"),
        (lambda: Fixed(4, 0), "summary=0"),
        (lambda: Fixed(4, 5), "summary=5"),
    ],
)
def test_sizes_that_make_no_pattern_are_refused(make, argument):
    with pytest.raises(InputError) as caught:
        make()
    assert argument in caught.value.found
    assert caught.value.fix


def test_more_keys_than_pixels_are_refused():
    with pytest.raises(InputError, match="7 keys, an image of 2 × 3"):
        shown(BlockLocal2d(2, 3, (2, 2)), 7)
    assert shown(BlockLocal2d(2, 3, (2, 2)), 7, torch.arange(7).unsqueeze(0) < 6).shape == (1, 7, 7)  # one is padding


def test_patterns_have_a_meaning_within_one_sequence_only():
    for extent in (BlockLocal(3), BlockLocal2d(3, 3, (2, 2)), Strided(3), Fixed(3)):
        assert not extent.crosses_sequences
        assert extent.causal_safe
        assert repr(extent)
