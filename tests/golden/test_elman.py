"""Two steps of a recurrent network, worked on paper: vectors are rows, h_t = tanh(h_{t−1} W + x_t U), o_t = h_t V."""

import pytest
import torch
from torch import nn

from atento.layers import token_cross_entropy
from atento.recurrent import ElmanCell, OutputLayer, unroll

U = [[0.2, 0.1, 0.2], [0.3, 0.2, 0.1], [0.6, 0.4, 0.1], [0.8, 0.1, 0.2], [0.1, 0.1, 0.4]]
W = [[0.2, 0.1, 0.2], [0.3, 0.2, 0.1], [0.6, 0.4, 0.1]]
V = [[0.2, 0.1, 0.2, 0.1, 0.1], [0.3, 0.2, 0.1, 0.2, 0.1], [0.6, 0.4, 0.1, 0.1, 0.3]]

FIRST = [0.2913, 0.1974, 0.0997]
SECOND = [0.7519, 0.2055, 0.2803]
TRANSPOSED = [0.7153, 0.2325, 0.4331]


def rounded(tensor):
    return [round(number, 4) for number in tensor.flatten().tolist()]


@pytest.fixture
def cell():
    made = ElmanCell(5, 3).double()
    with torch.no_grad():
        made.read.weight.copy_(torch.tensor(U).T)
        made.recur.weight.copy_(torch.tensor(W).T)
    return made


@pytest.fixture
def words():
    """The second word, then the fourth, as one sequence (1, 2, 5)."""
    return torch.eye(5, dtype=torch.float64)[[1, 3]].unsqueeze(0)


@pytest.mark.spec("R01")
def test_the_first_step(cell, words):
    state = cell(words[:, 0], cell.start(words[:, 0]))
    assert rounded(words[0, 0] @ torch.tensor(U, dtype=torch.float64)) == [0.3, 0.2, 0.1]
    assert rounded(state.hidden) == FIRST
    output = OutputLayer(3, 5).double()
    with torch.no_grad():
        output.map.weight.copy_(torch.tensor(V).T)
        output.map.bias.zero_()
    said = output(state.hidden)
    assert rounded(said) == [0.1773, 0.1085, 0.0880, 0.0786, 0.0788]
    assert rounded(said.softmax(-1)) == [0.2146, 0.2003, 0.1962, 0.1944, 0.1944]
    assert round(token_cross_entropy(said, torch.tensor([3])).mean.item(), 4) == 1.6378


@pytest.mark.spec("R01")
def test_the_second_step(cell, words):
    state = cell.start(words[:, 0])
    for at in range(2):
        state = cell(words[:, at], state)
    assert rounded(state.hidden) == SECOND
    assert rounded(state.hidden) != TRANSPOSED


def test_what_a_transposed_matrix_would_give(cell, words):
    with torch.no_grad():
        cell.recur.weight.copy_(torch.tensor(W))
    assert rounded(unroll(cell, words).outputs[0, 1]) == TRANSPOSED


@pytest.mark.spec("R01")
def test_the_walk_and_torch_s_rnn_agree(cell, words):
    theirs = nn.RNN(5, 3, batch_first=True).double()
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(cell.read.weight)
        theirs.weight_hh_l0.copy_(cell.recur.weight)
        theirs.bias_ih_l0.zero_()
        theirs.bias_hh_l0.zero_()
    for outputs in (theirs(words)[0], unroll(cell, words).outputs):
        assert rounded(outputs) == [*FIRST, *SECOND]
