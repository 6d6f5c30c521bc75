"""Cross-entropy by Triton kernels, in the interpreter, against float64 by autograd."""

import pytest
import torch

if torch.cuda.is_available():
    pytest.skip("the interpreter is for machines without a GPU", allow_module_level=True)
pytest.importorskip("triton")

from atento.layers import loss_kernels


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("block", [16, 64])  # two blocks of classes and one
def test_values_and_gradients(block, smoothing, monkeypatch):
    monkeypatch.setattr(loss_kernels, "WIDEST_BLOCK", block)
    torch.manual_seed(2)
    logits, targets = torch.randn(7, 29) * 5, torch.randint(29, (7,))
    logits[2] = 1e4 * torch.randn(29).sign()  # far apart
    leaf, exact = logits.clone().requires_grad_(), logits.double().requires_grad_()
    found = loss_kernels.summed_cross_entropy(leaf, targets, smoothing=smoothing)
    wanted = torch.nn.functional.cross_entropy(exact, targets, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(found.double(), wanted.detach(), rtol=1e-6, atol=1e-5)
    (0.7 * found).backward()
    (0.7 * wanted).backward()
    torch.testing.assert_close(leaf.grad.double(), exact.grad, rtol=1e-5, atol=1e-6)
