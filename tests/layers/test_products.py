"""The products of a linear layer, by oneDNN in float32, against float64 by autograd."""

import copy
from threading import Thread

import pytest
import torch

from atento.layers.products import (
    Linear,
    bf16_products,
    by_one_dnn,
    has_bf16_instructions,
    is_rounded,
    linear,
    product,
    product_to_inputs,
    product_to_weight,
)

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


@pytest.mark.parametrize("rows", [13, 4001])  # a small product is torch's, a large one is of this package
@pytest.mark.parametrize("biased", [True, False])
def test_a_layer_is_torchs_in_its_arguments_and_numbers(rows, biased):
    torch.manual_seed(3)
    theirs = torch.nn.Linear(59, 31, bias=biased, dtype=torch.float32)
    ours = Linear(59, 31, bias=biased, dtype=torch.float32)
    ours.load_state_dict(theirs.state_dict())
    values = torch.randn(rows, 59, dtype=torch.float32)
    exact = theirs.double()(values.double())
    torch.testing.assert_close(ours(values).double(), exact, rtol=0, atol=1e-5)
    node = ours(values).grad_fn
    kind = type(node.next_functions[0][0] if "View" in type(node).__name__ else node).__name__
    assert ("LinearFunction" in kind) == (rows == 4001 and torch.backends.mkldnn.is_available())
    assert isinstance(ours, torch.nn.Linear) and repr(ours) == repr(theirs)
    program = torch.export.export(ours, (values,)).graph_module.code
    assert "linear" in program and "mkldnn" not in program  # a recorded program holds torch's


def large_layer():
    torch.manual_seed(4)
    return Linear(59, 31, dtype=torch.float32), torch.randn(4001, 59, dtype=torch.float32)


def test_a_large_layer_has_a_second_derivative():
    """Of the squared norm of a gradient, as a gradient penalty takes it."""
    layer, values = large_layer()

    def penalty(layer, values):
        values = values.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(torch.tanh(layer(values)).sum(), values, create_graph=True)
        return torch.autograd.grad(gradient.square().sum(), list(layer.parameters()))

    for one, other in zip(penalty(layer, values), penalty(copy.deepcopy(layer).double(), values.double()), strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-4)


def test_transforms_and_tracers_see_torchs_own_operation():
    layer, values = large_layer()
    wanted = layer(values)
    mapped = torch.func.vmap(layer)(values.view(1, 4001, 59))
    torch.testing.assert_close(mapped[0], wanted, rtol=0, atol=1e-5)
    slope = torch.func.grad(lambda some: layer(some).sum())(values)
    torch.testing.assert_close(slope, layer.weight.sum(dim=0).expand_as(values), rtol=0, atol=1e-5)
    with pytest.warns(DeprecationWarning, match=r"torch\.jit\.trace"):
        traced = torch.jit.trace(layer, (values,))
    assert "aten::linear" in str(traced.inlined_graph) and "PythonOp" not in str(traced.inlined_graph)


def test_what_one_dnn_leaves_to_torch():
    values, weight, _, _ = drawn()
    assert by_one_dnn(values, weight) == (torch.backends.mkldnn.is_available())
    assert not by_one_dnn(values.double(), weight.double())
    assert not by_one_dnn(values[:0], weight)
    assert linear(values[:0], weight).shape == (0, OUTPUTS)


LARGE = (257, 131, 127)  # rows, inputs, outputs: 4.3 million multiplications
rounding = pytest.mark.skipif(not has_bf16_instructions(), reason="this processor has no bf16 instructions")


def large(dtype=torch.float32):
    torch.manual_seed(2)
    rows, inputs, outputs = LARGE
    return [torch.randn(size, dtype=dtype) for size in ((rows, inputs), (outputs, inputs), (outputs,), (rows, outputs))]


@rounding
def test_a_large_product_rounds_its_factors_and_nothing_else():
    values, weight, bias, _ = large()
    exact = values.double() @ weight.double().mT + bias.double()
    factors = values.bfloat16().double() @ weight.bfloat16().double().mT
    with bf16_products(True):
        found = product(values, weight, bias)
        small = product(values[:100], weight, bias)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), factors.bfloat16().double() + bias.double(), rtol=2**-7, atol=1e-3)
    assert 1e-4 < ((found - exact).norm() / exact.norm()).item() < 1e-2
    torch.testing.assert_close(small.double(), exact[:100], rtol=0, atol=1e-4)
    torch.testing.assert_close(product(values, weight, bias).double(), exact, rtol=0, atol=1e-4)  # and after it
    with bf16_products(True), bf16_products(False):
        torch.testing.assert_close(product(values, weight, bias).double(), exact, rtol=0, atol=1e-4)


@rounding
def test_gradients_of_a_rounded_linear_layer():
    parts = [part.requires_grad_() for part in large()[:3]]
    exact = [part.detach().double().requires_grad_() for part in parts]
    upstream = large()[3]
    with bf16_products(True):
        found = torch.autograd.grad(linear(*parts), parts, upstream)
    wanted = torch.autograd.grad(torch.nn.functional.linear(*exact), exact, upstream.double())
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == torch.float32
        assert ((one - other).norm() / other.norm()).item() < 1e-2


@rounding
def test_the_context_ends_after_an_error_and_is_of_one_thread():
    seen = []
    with pytest.raises(ZeroDivisionError), bf16_products(True):
        thread = Thread(target=lambda: seen.append(is_rounded(1 << 30)))
        thread.start()
        thread.join()
        seen.append(is_rounded(1 << 30))
        _ = 1 / 0
    assert [*seen, is_rounded(1 << 30)] == [False, True, False]
