"""The elementwise kernels of a Transformer's sublayers, in Triton's interpreter, against float64 by autograd."""

import pytest
import torch

if torch.cuda.is_available():
    pytest.skip("the interpreter is for machines without a GPU", allow_module_level=True)
pytest.importorskip("triton")

from atento.blocks import sublayer_kernels as kernels

ROWS, SIZE, EPS = 7, 29, 1e-5
SEED = torch.tensor([11])


def drawn(drop):
    """residual, change, gain, shift and gradients, and which elements of a change are kept."""
    torch.manual_seed(3)
    parts = [torch.randn(ROWS, SIZE) for _ in range(4)]
    ones = torch.ones(ROWS, SIZE)
    kept = kernels.relu_drop(ones, drop=drop, seed=SEED, draw=3) if drop else ones
    return *parts, torch.rand(SIZE) + 0.5, torch.randn(SIZE), kept.double()


@pytest.mark.parametrize("drop", [0.0, 0.3])
@pytest.mark.parametrize("normed", [True, False])
@pytest.mark.parametrize("added", [True, False])
def test_add_norm(added, normed, drop):
    residual, change, from_sum, from_entered, gain, shift, kept = drawn(drop)
    leaves = [part.double().requires_grad_() for part in (residual, change, gain, shift)]
    total = leaves[0] + leaves[1] * kept if added else leaves[0] * 1.0
    wanted = torch.nn.functional.layer_norm(total, (SIZE,), leaves[2], leaves[3], EPS) if normed else total
    gradients = torch.autograd.grad((total * from_sum).sum() + (wanted * from_entered).sum(), leaves, allow_unused=True)
    summed, entered, mean, rstd = kernels.add_norm(
        residual, change if added else None, (gain, shift, EPS) if normed else None,
        drop=drop, seed=SEED, draw=3, dtype=torch.float32,
    )  # fmt: skip
    torch.testing.assert_close(summed.double(), total.detach(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(entered.double(), wanted.detach(), rtol=1e-5, atol=1e-5)
    found = kernels.add_norm_backward(
        summed, from_sum, from_entered, gain if normed else None, mean, rstd,
        add=added, drop=drop, seed=SEED, draw=3, dtype=torch.float32,
    )  # fmt: skip
    for one, other in zip(found, gradients, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("drop", [0.0, 0.3])
def test_relu_drop(drop):
    values, _, gradient, *_, kept = drawn(drop)
    leaf = values.double().requires_grad_()
    wanted = leaf.relu() * kept
    (to_values,) = torch.autograd.grad((wanted * gradient).sum(), [leaf])
    hidden = kernels.relu_drop(values.clone(), drop=drop, seed=SEED, draw=3)
    torch.testing.assert_close(hidden.double(), wanted.detach(), rtol=1e-6, atol=1e-6)
    found = kernels.relu_drop_backward(hidden, gradient.clone(), drop=drop)
    torch.testing.assert_close(found.double(), to_values, rtol=1e-6, atol=1e-6)


def test_dropout_keeps_its_share_and_its_mean():
    ones = kernels.relu_drop(torch.ones(97, 1031), drop=0.3, seed=SEED, draw=5)
    assert (ones == 0).double().mean().item() == pytest.approx(0.3, abs=0.01)
    assert ones.mean().item() == pytest.approx(1.0, abs=0.01)
    assert not torch.equal(ones, kernels.relu_drop(torch.ones(97, 1031), drop=0.3, seed=SEED, draw=6))
