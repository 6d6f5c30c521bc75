"""Sinusoidal positions: the formula, and what positions must satisfy."""

import math

import pytest
import torch

from atento.layers.embeddings import PlacedEmbedding
from atento.layers.positions import Sinusoidal

POSITIONS, SIZE = 2000, 500


@pytest.fixture(scope="module")
def table():
    """All that a heat map of 2000 × 500 shows."""
    return Sinusoidal(SIZE)(torch.arange(POSITIONS))


@pytest.mark.spec("T07")
def test_by_hand():
    expected = torch.tensor([0.8415, 0.5403, 0.0100, 0.99995], dtype=torch.float64)
    torch.testing.assert_close(Sinusoidal(4)(torch.tensor(1)), expected, rtol=0, atol=5e-5)
    first = torch.tensor([[0.0, 1.0, 0.0, 1.0]], dtype=torch.float64)
    torch.testing.assert_close(Sinusoidal(4)(torch.tensor([0])), first)


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
    waves = 2 * math.pi / Sinusoidal(SIZE).frequencies
    assert waves[0].item() == pytest.approx(2 * math.pi)
    ratios = waves[1:] / waves[:-1]
    torch.testing.assert_close(ratios, torch.full_like(ratios, 10_000 ** (2 / SIZE)))


@pytest.mark.spec("T07")
def test_positions_are_added_to_the_embedding():
    embedding = PlacedEmbedding(13, 6)
    tokens, at = torch.tensor([[5, 7, 5]]), torch.tensor([3, 4, 11])
    expected = embedding.tokens.table.weight[tokens] * math.sqrt(6) + Sinusoidal(6)(at)
    torch.testing.assert_close(embedding(tokens, at), expected)


def test_an_odd_width():
    torch.testing.assert_close(Sinusoidal(5)(torch.tensor([7]))[0, 4].item(), math.sin(7 / 10_000 ** (4 / 5)))
    assert Sinusoidal(5)(torch.arange(3)).shape == (3, 5)
