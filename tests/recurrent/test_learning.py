"""The shapes of sequence problems, each learned by a stack and an output alone."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from atento.layers import valid_from_lengths
from atento.recurrent import GRUCell, OutputLayer, Stack

NOISE = 0.1


def heartbeats(batch, longest):
    """ECG-like waves (B, T, 1) of a few beats: a bump, a spike, and a second bump that is upside down in the sick.

    Rates, phases, noise and lengths differ; gives waves, valid and labels.
    """
    sick = torch.randint(2, (batch,))
    lengths = torch.randint(longest // 2, longest + 1, (batch,))
    rate, phase = 0.05 + 0.03 * torch.rand(batch, 1), torch.rand(batch, 1)
    beat = (phase + rate * torch.arange(longest)) % 1  # (B, T) where in its beat each moment stands

    def bump(at, width, height):
        return height * torch.exp(-0.5 * ((beat - at) / width) ** 2)

    second = torch.where(sick.bool(), -0.4, 0.4).unsqueeze(1)
    wave = bump(0.2, 0.05, 0.2) + bump(0.4, 0.03, 1.0) + bump(0.7, 0.07, second)
    wave = wave + NOISE * torch.randn(batch, longest)
    return wave.unsqueeze(-1).float(), valid_from_lengths(lengths, longest), sick


@pytest.mark.spec("R04")
def test_many_to_one_a_heartbeat_is_classified():
    """The last state of a ragged wave decides between two classes."""
    modules = nn.ModuleList([Stack(GRUCell, 1, 16), OutputLayer(16, 2)]).float()
    optimiser = torch.optim.Adam(modules.parameters(), lr=0.02, fused=True)

    def judged(waves, valid):
        (last,) = modules[0](waves, valid=valid).last
        return modules[1](last.hidden)

    for _ in range(150):
        waves, valid, sick = heartbeats(61, 40)
        functional.cross_entropy(judged(waves, valid), sick).backward()
        optimiser.step()
        optimiser.zero_grad()
    waves, valid, sick = heartbeats(401, 60)  # longer than any it learned from
    assert (judged(waves, valid).argmax(dim=-1) == sick).double().mean().item() > 0.97
    odd = waves.masked_fill(~valid.unsqueeze(-1), torch.nan)
    assert torch.equal(judged(odd, valid), judged(waves, valid))


def tides(batch, steps):
    """Sums of two waves of fixed periods and random phases and heights (B, T, 1)."""
    time = torch.arange(steps)
    heights, phases = torch.rand(batch, 2, 1), 6.28 * torch.rand(batch, 2, 1)
    speeds = torch.tensor([0.4, 0.9]).view(1, 2, 1)
    return (heights * torch.sin(speeds * time + phases)).sum(dim=1).unsqueeze(-1).float()


@pytest.mark.spec("R06")
def test_many_to_many_the_next_value_is_said_at_every_step():
    """One output a step, aligned with its input; far better than saying the last value again."""
    modules = nn.ModuleList([Stack(GRUCell, 1, 32), OutputLayer(32, 1)]).float()
    optimiser = torch.optim.Adam(modules.parameters(), lr=0.01, fused=True)
    for _ in range(200):
        series = tides(31, 41)
        predictions = modules[1](modules[0](series[:, :-1]).outputs)
        functional.mse_loss(predictions, series[:, 1:]).backward()
        optimiser.step()
        optimiser.zero_grad()
    series = tides(101, 61)
    predictions = modules[1](modules[0](series[:, :-1]).outputs)
    assert predictions.shape == (101, 60, 1)
    late = slice(10, None)  # four steps tell such a wave; ten are plenty
    error = functional.mse_loss(predictions[:, late], series[:, 1:][:, late]).item()
    again = functional.mse_loss(series[:, :-1][:, late], series[:, 1:][:, late]).item()
    assert error < 0.1 * again
