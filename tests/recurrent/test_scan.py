"""The scan against the recurrence step by step, its way back against autograd, and what it costs against the length."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from atento.recurrent import linear_recurrence

BATCH, STEPS, HIDDEN = 2, 13, 3


def by_steps(keep, write, start):
    """h_t = a_t h_{t−1} + b_t."""
    states = [start]
    for step in range(write.size(1)):
        states.append(keep[:, step] * states[-1] + write[:, step])
    return torch.stack(states[1:], dim=1)


@pytest.fixture
def parts():
    keep = torch.rand(BATCH, STEPS, HIDDEN).requires_grad_()
    return [keep, *(torch.randn(*shape, requires_grad=True) for shape in ((BATCH, STEPS, HIDDEN), (BATCH, HIDDEN)))]


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 7, 8, 9, STEPS])
def test_values_and_gradients(parts, steps):
    keep, write, start = parts
    actual, expected = (run(keep[:, :steps], write[:, :steps], start) for run in (linear_recurrence, by_steps))
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-14)
    upstream = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, parts, upstream)
    torch.testing.assert_close(torch.autograd.grad(actual, parts, upstream), gradients, rtol=0, atol=1e-13)


def test_gradients_of_gradients():
    parts = [torch.rand(1, 3, 2), torch.randn(1, 3, 2), torch.randn(1, 2)]
    parts = [part.requires_grad_() for part in parts]
    assert torch.autograd.gradcheck(linear_recurrence, parts)
    assert torch.autograd.gradgradcheck(linear_recurrence, parts)


def test_only_one_state_is_asked_for(parts):
    """Gradients of most steps are then zero, which autograd may hand over as a broadcast."""
    expected = torch.autograd.grad(by_steps(*parts)[:, -1].sum(), parts)
    gradients = torch.autograd.grad(linear_recurrence(*parts)[:, -1].sum(), parts)
    torch.testing.assert_close(gradients, expected, rtol=0, atol=1e-13)


def test_memory_laid_out_otherwise(parts):
    keep, write, start = (part.detach() for part in parts)
    other = [part.permute(1, 2, 0).contiguous().permute(2, 0, 1) for part in (keep, write)]
    assert torch.equal(linear_recurrence(*other, start), linear_recurrence(keep, write, start))


@pytest.mark.parametrize("lowest", [0.0, 0.999, 1.0])
def test_ten_thousand_steps_in_float32_are_those_of_float64(lowest):
    """Gates that are shut for good, nearly open and open all the time: states of up to 10,000 terms, each exact."""
    keep = lowest + (1 - lowest) * torch.rand(1, 10_000, HIDDEN)
    keep[:, ::101] = 0.0 if lowest == 0 else keep[:, ::101]
    write, start = (1 - keep if lowest < 1 else 1e-3) * torch.rand(1, 10_000, HIDDEN), torch.rand(1, HIDDEN)
    expected = by_steps(keep, write, start)
    parts = [part.float().requires_grad_() for part in (keep, write, start)]
    states = linear_recurrence(*parts)
    torch.testing.assert_close(states.double(), expected, rtol=2e-5, atol=1e-6)
    assert all(part.isfinite().all() for part in torch.autograd.grad(states.sum(), parts))


class Counted(TorchDispatchMode):
    """How many operations run, forward and backward."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += 1
        return function(*args, **(kwargs or {}))


def test_twice_the_steps_are_a_few_operations_more():
    """What makes it parallel: the operations grow with log T, and not with T."""
    counts = []
    for steps in (256, 512, 1024):
        parts = [torch.rand(1, steps, 1, requires_grad=True) for _ in range(2)]
        with Counted() as counted:
            linear_recurrence(*parts, torch.zeros(1, 1)).sum().backward()
        counts.append(counted.count)
    assert counts[2] - counts[1] == counts[1] - counts[0] < 64
