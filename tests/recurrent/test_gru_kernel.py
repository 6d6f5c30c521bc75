"""The kernel against the equations step by step, and its hand-written way back against autograd."""

import pytest
import torch

from atento.recurrent.gru_kernel import gru_outputs

BATCH, STEPS, HIDDEN = 2, 5, 3


def by_steps(reads, start, weight, bias):
    """r, z = σ(a + U h + c); n = tanh(a + r (U h + c)); h' = (1 − z) n + z h."""
    hidden, outputs = start, []
    for step in range(reads.size(1)):
        product = hidden @ weight.mT + bias
        reset, keep = (
            torch.sigmoid(reads[:, step, place] + product[:, place])
            for place in (slice(0, HIDDEN), slice(HIDDEN, 2 * HIDDEN))
        )
        new = torch.tanh(reads[:, step, 2 * HIDDEN :] + reset * product[:, 2 * HIDDEN :])
        hidden = (1 - keep) * new + keep * hidden
        outputs.append(hidden)
    return torch.stack(outputs, dim=1)


@pytest.fixture
def parts():
    shapes = [(BATCH, STEPS, 3 * HIDDEN), (BATCH, HIDDEN), (3 * HIDDEN, HIDDEN), (3 * HIDDEN,)]
    return [torch.randn(*shape, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("steps", [1, 2, STEPS])
def test_values_and_gradients(parts, steps):
    reads, *rest = parts
    actual, expected = (run(reads[:, :steps], *rest) for run in (gru_outputs, by_steps))
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-14)
    upstream = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, parts, upstream)
    torch.testing.assert_close(torch.autograd.grad(actual, parts, upstream), gradients, rtol=0, atol=1e-13)


def test_gradcheck(parts):
    assert torch.autograd.gradcheck(gru_outputs, parts)


def test_only_one_output_is_asked_for(parts):
    """Gradients of most steps are then zero, which autograd may hand over as a broadcast."""
    expected = torch.autograd.grad(by_steps(*parts)[:, -1].sum(), parts)
    gradients = torch.autograd.grad(gru_outputs(*parts)[:, -1].sum(), parts)
    torch.testing.assert_close(gradients, expected, rtol=0, atol=1e-13)


def test_memory_laid_out_otherwise(parts):
    reads, start, weight, bias = parts
    other = reads.detach().permute(1, 2, 0).contiguous().permute(2, 0, 1)
    torch.testing.assert_close(gru_outputs(other, start, weight, bias), gru_outputs(*parts), rtol=0, atol=0)
