"""What each first matrix does to a vector, by its laws."""

import math

import pytest
import torch
from torch import nn

from atento.layers import INITIALIZERS, initialize_blocks
from atento.layers.initialization import shapes_alone
from atento.recurrent import ElmanCell, GRUCell, JordanCell, LSTMCell

SIZE, INPUT = 211, 3
uniform, orthogonal, identity, xavier = INITIALIZERS.values()


def made(initializer, rows=SIZE, columns=SIZE):
    matrix = torch.full((rows, columns), torch.nan)
    initializer(matrix)
    return matrix


@pytest.mark.spec("R14")
def test_an_orthogonal_matrix_keeps_every_length():
    matrix = made(orthogonal)
    torch.testing.assert_close(matrix @ matrix.mT, torch.eye(SIZE), rtol=0, atol=1e-12)
    tall = made(orthogonal, 7, 5)
    torch.testing.assert_close(tall.mT @ tall, torch.eye(5), rtol=0, atol=1e-12)
    assert not torch.equal(made(orthogonal), matrix)


@pytest.mark.spec("R14")
def test_the_identity_keeps_a_state_as_it_is():
    assert torch.equal(made(identity), torch.eye(SIZE))


@pytest.mark.spec("R14")
@pytest.mark.parametrize("initializer, variance", [(uniform, 1 / 3), (xavier, 1)])
def test_random_matrices_follow_the_circular_law(initializer, variance):
    """Entries of variance v/n: the spectral radius is near √v, the largest singular value near 2√v."""
    matrix = made(initializer)
    assert matrix.var().item() * SIZE == pytest.approx(variance, rel=0.03)
    assert matrix.abs().max().item() <= math.sqrt(3 * variance / SIZE)
    assert torch.linalg.eigvals(matrix).abs().max().item() == pytest.approx(math.sqrt(variance), rel=0.1)
    assert torch.linalg.svdvals(matrix).max().item() == pytest.approx(2 * math.sqrt(variance), rel=0.1)


def test_xavier_looks_at_both_sides():
    """Variance 2/(rows + columns) (Glorot & Bengio, 2010, eq. 12)."""
    assert made(xavier, 503, 101).var().item() == pytest.approx(2 / 604, rel=0.03)


@pytest.mark.spec("R14")
@pytest.mark.parametrize("kind", [ElmanCell, JordanCell, GRUCell, LSTMCell])
@pytest.mark.parametrize("name", INITIALIZERS)
def test_each_gate_has_a_first_matrix_of_its_own(kind, name):
    cell = kind(INPUT, 5, initializer=INITIALIZERS[name])
    blocks = cell.recur.weight.detach().split(5)
    for block in blocks:
        if name == "orthogonal":
            torch.testing.assert_close(block @ block.mT, torch.eye(5), rtol=0, atol=1e-13)
        elif name == "identity":
            assert torch.equal(block, torch.eye(5))
        else:
            assert 0 < block.abs().max().item() <= {"uniform": 5**-0.5, "xavier": 0.6**0.5}[name]
    if name != "identity":
        assert all(not torch.equal(blocks[0], block) for block in blocks[1:])
    assert cell.read.weight.abs().max().item() <= 5**-0.5
    assert not cell.read.bias.any() and not cell.recur.bias.any()


def test_blocks_are_filled_in_place():
    matrix = torch.full((6, 3), torch.nan, requires_grad=True)
    initialize_blocks(matrix, 3, identity)
    assert torch.equal(matrix, torch.cat([torch.eye(3), torch.eye(3)]))


@pytest.mark.parametrize("name", [*INITIALIZERS, "normal", "bound"])
def test_shapes_alone_are_made_without_values_and_without_a_number_drawn(name):
    fill = {"normal": nn.init.normal_, "bound": lambda matrix: matrix.uniform_(-1, 1)} | INITIALIZERS
    before = torch.get_rng_state()
    with shapes_alone():
        layer, matrix = nn.Linear(3, 5), torch.empty(5, 3)
        fill[name](matrix)
        assert torch.randn(5, 3).is_meta and torch.arange(1, 7).is_meta and torch.rand(2).shape == (2,)
    assert layer.weight.is_meta and layer.weight.shape == (5, 3) and matrix.is_meta
    assert torch.equal(torch.get_rng_state(), before)
    assert not nn.Linear(3, 5).weight.is_meta
