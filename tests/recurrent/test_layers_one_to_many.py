import math

import pytest
import torch
from torch.nn import functional

from atento.errors import InputError
from atento.recurrent import ElmanCell, GRUCell, OneToMany, OutputLayer, Stack

BATCH, STEPS, INPUT, HIDDEN, OUTPUT = 3, 5, 2, 7, 4


@pytest.mark.spec("R05")
@pytest.mark.parametrize("given", ["start", "always"])
def test_one_vector_in_a_sequence_out(given):
    """h_t = tanh(W h_{t−1} + U x_t + b), o_t = V h_t + c, where x_t is the vector, at t = 1 alone or always."""
    module = OneToMany(Stack(ElmanCell, INPUT, HIDDEN), OutputLayer(HIDDEN, OUTPUT), given=given)
    vector = torch.randn(BATCH, INPUT, requires_grad=True)
    cell, output = module.stack.cell(0), module.output.map
    rows = []
    for row in range(BATCH):
        hidden, outputs = torch.zeros(HIDDEN), []
        for time in range(STEPS):
            shown = vector[row] if given == "always" or time == 0 else torch.zeros(INPUT)
            read = cell.read.weight @ shown + cell.read.bias
            hidden = torch.tanh(read + cell.recur.weight @ hidden + cell.recur.bias)
            outputs.append(output.weight @ hidden + output.bias)
        rows.append(torch.stack(outputs))
    expected = torch.stack(rows)
    found = module(vector, STEPS)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)
    leaves = [vector, *module.parameters()]
    upstream = torch.randn_like(found)
    wanted = torch.autograd.grad(expected, leaves, upstream)
    torch.testing.assert_close(torch.autograd.grad(found, leaves, upstream), wanted, rtol=0, atol=1e-12)
    torch.testing.assert_close(module(vector, STEPS + 3)[:, :STEPS], found, rtol=0, atol=1e-13)  # the end is free


def waves(batch, steps):
    """Vectors (a, b) and what they stand for: a sin(t/2) + b cos(t/2) (B, T, 1)."""
    vector = 2 * torch.rand(batch, 2) - 1
    time = torch.arange(steps) / 2
    return vector, (vector[:, :1] * time.sin() + vector[:, 1:] * time.cos()).unsqueeze(-1)


@pytest.mark.spec("R05")
@pytest.mark.parametrize("given", ["start", "always"])
def test_a_wave_is_written_from_its_two_numbers(given):
    module = OneToMany(Stack(GRUCell, 2, 32), OutputLayer(32, 1), given=given).float()
    optimiser = torch.optim.Adam(module.parameters(), lr=0.01, fused=True)
    for _ in range(250):
        vector, wave = waves(31, 20)
        functional.mse_loss(module(vector.float(), 20), wave.float()).backward()
        optimiser.step()
        optimiser.zero_grad()
    vector, wave = waves(101, 20)
    error = functional.mse_loss(module(vector.float(), 20), wave.float()).item()
    assert error < 0.03 * wave.square().mean().item()
    assert math.isclose(wave.square().mean().item(), 1 / 3, abs_tol=0.1)  # what saying nothing would cost


@pytest.mark.parametrize(
    "make, problem",
    [
        (
            lambda: OneToMany(Stack(GRUCell, 2, 3), OutputLayer(3, 1), given="sometimes"),
            "no value of given 'sometimes'",
        ),
        (lambda: OneToMany(Stack(GRUCell, 2, 3, bidirectional=True), OutputLayer(6, 1)), "must have one direction"),
        (lambda: OneToMany(Stack(GRUCell, 2, 3), OutputLayer(3, 1))(torch.zeros(5, 3), 4), "one row for each sequence"),
        (lambda: OneToMany(Stack(GRUCell, 2, 3), OutputLayer(3, 1))(torch.zeros(5, 2), 0), "at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(make, problem):
    with pytest.raises(InputError, match=problem):
        make()
