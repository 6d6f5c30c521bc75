"""Positions: the formulas, and which of them are unique, bounded and tell a distance."""

import math
import subprocess
import sys

import pytest
import torch

from atento.errors import InputError
from atento.layers import (
    BinaryPositions,
    IndexPositions,
    LearnedPositions,
    NoPositions,
    PositionedEmbedding,
    Rotary,
    SinusoidalPositions,
)

POSITIONS, SIZE = 2000, 500


@pytest.fixture(scope="module")
def table():
    """All that a heat map of 2000 × 500 shows."""
    return SinusoidalPositions(SIZE)(torch.arange(POSITIONS))


@pytest.mark.spec("T07")
def test_by_hand():
    expected = torch.tensor([0.8415, 0.5403, 0.0100, 0.99995], dtype=torch.float64)
    torch.testing.assert_close(SinusoidalPositions(4)(torch.tensor(1)), expected, rtol=0, atol=5e-5)
    first = torch.tensor([[0.0, 1.0, 0.0, 1.0]], dtype=torch.float64)
    torch.testing.assert_close(SinusoidalPositions(4)(torch.tensor([0])), first)


@pytest.mark.spec("T07")
def test_every_number_of_the_table(table):
    """PE(t, 2i) = sin(t / 10000^(2i/d)), PE(t, 2i+1) = cos(t / 10000^(2i/d))."""
    assert table.shape == (POSITIONS, SIZE)
    for place in range(0, POSITIONS, 97):
        expected = []
        for pair in range(SIZE // 2):
            angle = place / 10_000 ** (2 * pair / SIZE)
            expected += [math.sin(angle), math.cos(angle)]
        torch.testing.assert_close(table[place].tolist(), expected, rtol=0, atol=1e-11)


@pytest.mark.spec("T07")
def test_unique_and_bounded(table):
    assert table.abs().max() <= 1
    distance = torch.cdist(table, table).fill_diagonal_(math.inf)
    assert distance.min() > 1.0  # no two positions are near


@pytest.mark.spec("T07")
def test_the_product_of_two_positions_tells_their_distance_only(table):
    products = table @ table.mT
    for apart in (0, 1, 7, 101, 1009):
        along = products.diagonal(apart)
        expected = sum(math.cos(apart / 10_000 ** (2 * pair / SIZE)) for pair in range(SIZE // 2))
        torch.testing.assert_close(along, torch.full_like(along, expected), rtol=0, atol=1e-9)


@pytest.mark.spec("T07")
@pytest.mark.parametrize("apart", [1, 5, 131])
def test_a_step_is_one_linear_map_everywhere(table, apart):
    """Each pair turns by a fixed angle: PE(t + k) = R(k) PE(t)."""
    turn = torch.zeros(SIZE, SIZE, dtype=torch.float64)
    for pair in range(SIZE // 2):
        angle, at = apart / 10_000 ** (2 * pair / SIZE), 2 * pair
        turn[at, at], turn[at, at + 1] = math.cos(angle), math.sin(angle)
        turn[at + 1, at], turn[at + 1, at + 1] = -math.sin(angle), math.cos(angle)
    torch.testing.assert_close(table[:-apart] @ turn.mT, table[apart:], rtol=0, atol=1e-10)


@pytest.mark.spec("T07")
def test_wavelengths_grow_geometrically_from_two_pi():
    waves = 2 * math.pi / SinusoidalPositions(SIZE).frequencies
    assert waves[0].item() == pytest.approx(2 * math.pi)
    ratios = waves[1:] / waves[:-1]
    torch.testing.assert_close(ratios, torch.full_like(ratios, 10_000 ** (2 / SIZE)))


@pytest.mark.spec("T07")
def test_positions_are_added_to_the_embedding():
    embedding = PositionedEmbedding(13, SinusoidalPositions(6))
    tokens, at = torch.tensor([[5, 7, 5]]), torch.tensor([3, 4, 11])
    expected = embedding.tokens.table.weight[tokens] * math.sqrt(6) + SinusoidalPositions(6)(at)
    torch.testing.assert_close(embedding(tokens, at), expected)


def test_an_odd_width():
    torch.testing.assert_close(SinusoidalPositions(5)(torch.tensor([7]))[0, 4].item(), math.sin(7 / 10_000 ** (4 / 5)))
    assert SinusoidalPositions(5)(torch.arange(3)).shape == (3, 5)


@pytest.mark.spec("T08")
def test_the_index_is_unbounded():
    places = IndexPositions(3)(torch.tensor([[0, 1], [7, 1999]]))
    assert places.tolist() == [[[0, 0, 0], [1, 0, 0]], [[7, 0, 0], [1999, 0, 0]]]
    lengths = IndexPositions(5)(torch.arange(POSITIONS)).norm(dim=-1)
    assert torch.equal(lengths, torch.arange(POSITIONS).double())  # a token's own vector is about √size long


def test_an_index_in_all_features_would_be_lost_in_a_norm():
    vectors = torch.randn(7, 5)
    norm = torch.nn.LayerNorm(5)
    torch.testing.assert_close(norm(vectors + 11), norm(vectors))
    assert not torch.allclose(norm(vectors + IndexPositions(5)(torch.tensor(11))), norm(vectors))


@pytest.mark.spec("T08")
def test_binary_digits_are_bounded_but_need_more_room():
    places = BinaryPositions(11)(torch.arange(POSITIONS))
    for place in (0, 6, 13, 1999):
        digits = [int(digit) for digit in reversed(f"{place:011b}")]  # the last digit first
        assert places[place].tolist() == digits
    assert set(places.unique().tolist()) == {0, 1}
    assert len(places.unique(dim=0)) == POSITIONS
    with pytest.raises(InputError, match="position 2048, max_length=2048"):  # one digit more is needed at each doubling
        BinaryPositions(11)(torch.tensor([3, 2048]))


@pytest.mark.spec("T08")
def test_binary_neighbours_can_be_far_apart():
    """7 = 0111 and 8 = 1000 share no digit, 6 and 7 share all but one: the same distance looks different."""
    places = BinaryPositions(4)(torch.arange(16))
    assert (places[7] != places[8]).sum() == 4
    assert (places[6] != places[7]).sum() == 1
    flips = (places[1:] != places[:-1]).sum(-1)
    assert flips.tolist() == [1, 2, 1, 3, 1, 2, 1, 4, 1, 2, 1, 3, 1, 2, 1]


def explained(places, apart):
    """How well one linear map, fitted on even places, takes each odd place to the one `apart` later."""
    before, after = places[:-apart], places[apart:]
    turn = torch.linalg.lstsq(before[0::2], after[0::2]).solution
    missed = (before[1::2] @ turn - after[1::2]).square().sum()
    return 1 - (missed / after[1::2].square().sum()).item()


@pytest.mark.spec("T08", "T07")
def test_learned_positions_tell_no_distance():
    """No linear map takes each place to the next, and equal distances have unequal products; waves have both."""
    size, count = 16, 400
    learned, waves = (
        LearnedPositions(size, max_length=count)(torch.arange(count)),
        SinusoidalPositions(size)(torch.arange(count)),
    )
    for apart in (1, 7):
        assert explained(waves, apart) == pytest.approx(1, abs=1e-9)
        assert explained(learned, apart) < 0.05
        for places, std in ((waves, 0.0), (learned, 1.0)):
            products = (places @ places.mT) / places.square().sum(-1).mean() * size**0.5  # of unit std if unrelated
            assert products.diagonal(apart).std().item() == pytest.approx(std, abs=0.1)


@pytest.mark.spec("T08")
def test_learned_positions_are_looked_up_and_learn():
    positions = LearnedPositions(5, max_length=7)
    at = torch.tensor([[0, 6], [3, 3]])
    vectors = positions(at)
    for row in range(2):
        for place in range(2):
            assert torch.equal(vectors[row, place], positions.table.weight[at[row, place]])
    vectors.sum().backward()
    assert positions.table.weight.grad[:, 0].tolist() == [1, 0, 0, 2, 0, 0, 1]
    with pytest.raises(InputError, match="position 7, max_length=7") as caught:
        positions(torch.tensor([6, 7]))
    assert "raise max_length" in caught.value.fix


def test_no_positions_add_nothing():
    assert NoPositions(3)(torch.tensor([[4, 1999]])).tolist() == [[[0, 0, 0], [0, 0, 0]]]


def test_whole_sequences_count_from_their_first_real_token():
    embedding = PositionedEmbedding(13, SinusoidalPositions(6))
    left = torch.tensor([[0, 0, 5, 7, 5]]), torch.tensor([[False, False, True, True, True]])
    right = torch.tensor([[5, 7, 5, 0]]), torch.tensor([[True, True, True, False]])
    expected = embedding(torch.tensor([[5, 7, 5]]), torch.arange(3))
    assert torch.equal(embedding.embed_padded(*left)[:, 2:], expected)
    assert torch.equal(embedding.embed_padded(*right)[:, :3], expected)


@pytest.mark.spec("T09")
def test_rotary_turns_pairs_like_complex_numbers():
    """(x + i y) exp(i t θ), θ = 10000^(−2i/d)  (Su et al., 2021, sec. 3.4.2)."""
    values, at = torch.randn(2, 3, 7, 10, requires_grad=True), torch.tensor([0, 1, 2, 5, 11, 101, 1009])
    turned = Rotary(10)(values, at)
    angles = torch.tensor([[place * 10_000 ** (-2 * pair / 10) for pair in range(5)] for place in at.tolist()])
    numbers = torch.view_as_complex(values.reshape(2, 3, 7, 5, 2)) * torch.polar(torch.ones(7, 5), angles)
    expected = torch.view_as_real(numbers).flatten(-2)
    torch.testing.assert_close(turned, expected, rtol=0, atol=1e-12)
    upstream = torch.randn_like(turned)
    torch.testing.assert_close(*(torch.autograd.grad(side, values, upstream)[0] for side in (turned, expected)))
    assert torch.equal(turned[..., 0, :], values[..., 0, :])  # position 0 is not turned


@pytest.mark.parametrize(
    "make, found",
    [
        (lambda: Rotary(7), "size=7"),
        (lambda: LearnedPositions(5, max_length=0), "max_length=0"),
        (lambda: SinusoidalPositions(0), "size=0"),
        (lambda: NoPositions(-1), "size=-1"),
    ],
)
def test_sizes_that_cannot_be_are_refused(make, found):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.found == found


def test_shapes_alone_are_made_without_a_compiler():
    """A model is sketched on the meta device to know what memory it takes, before every training."""
    code = (
        "import sys, torch\n"
        "from atento.layers.positions import SinusoidalPositions\n"
        "with torch.device('meta'):\n"
        "    SinusoidalPositions(11)\n"
        "print('torch._dynamo' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
