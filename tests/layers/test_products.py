"""The products of a linear layer, by oneDNN in float32, against float64 by autograd."""

import pytest
import torch

from atento.layers.products import by_one_dnn, linear, product, product_to_inputs, product_to_weight

ROWS, INPUTS, OUTPUTS = 13, 29, 7


def drawn(dtype=torch.float32):
    torch.manual_seed(1)
    return [torch.randn(size, dtype=dtype) for size in ((ROWS, INPUTS), (OUTPUTS, INPUTS), (OUTPUTS,), (ROWS, OUTPUTS))]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_products_are_those_of_the_formula(dtype):
    values, weight, bias, gradient = drawn(dtype)
    exact = [part.double() for part in (values, weight, bias, gradient)]
    pairs = [
        (product(values, weight, bias), exact[0] @ exact[1].mT + exact[2]),
        (product(values, weight), exact[0] @ exact[1].mT),
        (product_to_inputs(gradient, weight), exact[3] @ exact[1]),
        (product_to_weight(gradient, values), exact[3].mT @ exact[0]),
        (product(values.mT.contiguous().mT, weight, bias), exact[0] @ exact[1].mT + exact[2]),  # strided
    ]
    for found, wanted in pairs:
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), wanted, rtol=0, atol=1e-5 if dtype == torch.float32 else 1e-13)


@pytest.mark.parametrize("biased", [True, False])
def test_a_linear_layer_and_its_gradients(biased):
    values, weight, bias, _ = drawn()
    given = [values.view(1, ROWS, INPUTS), weight, *([bias] if biased else [])]
    ours = [part.clone().requires_grad_() for part in given]
    exact = [part.double().requires_grad_() for part in given]
    found, wanted = linear(*ours), torch.nn.functional.linear(*exact)
    torch.testing.assert_close(found.double(), wanted.detach(), rtol=0, atol=1e-5)
    upstream = torch.randn_like(found)
    gradients = torch.autograd.grad(found, ours, upstream), torch.autograd.grad(wanted, exact, upstream.double())
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-5)


def test_what_one_dnn_leaves_to_torch():
    values, weight, _, _ = drawn()
    assert by_one_dnn(values, weight) == (torch.backends.mkldnn.is_available())
    assert not by_one_dnn(values.double(), weight.double())
    assert not by_one_dnn(values[:0], weight)
    assert linear(values[:0], weight).shape == (0, OUTPUTS)
