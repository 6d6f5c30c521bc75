"""The products of a linear layer and of its backward pass, in torch's fastest form for the device.

On a CPU in float32 oneDNN computes them: its kernels use the widest instructions of any processor, and MKL, which
torch's `linear` calls, only those of Intel's. Elsewhere they are torch's own."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# Axes: M rows, K features in, N features out.

PLAIN = (Tensor, nn.Parameter)
HAS_ONE_DNN: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
ONE_DNN: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if HAS_ONE_DNN else None


def by_one_dnn(*parts: Tensor) -> bool:
    """Whether oneDNN computes a product of these matrices."""
    return (
        ONE_DNN is not None
        and all(type(part) in PLAIN and part.dtype == torch.float32 and part.is_cpu for part in parts)
        and all(part.numel() for part in parts)
    )


def product(values: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x Wᵀ + b: values (M, K), weight (N, K), bias (N,) -> (M, N)."""
    if by_one_dnn(values, weight):
        if not (weight.is_contiguous() or weight.t().is_contiguous()):
            weight = weight.contiguous()  # with gaps between its rows oneDNN is a thousand times slower
        found: Tensor = ONE_DNN(values, weight, bias, "none", [], "")
        return found
    return functional.linear(values, weight, bias)


def product_to_inputs(gradient: Tensor, weight: Tensor) -> Tensor:
    """dx = dy W: gradient (M, N), weight (N, K) -> (M, K)."""
    return product(gradient, weight.t()) if by_one_dnn(gradient, weight) else gradient @ weight


def product_to_weight(gradient: Tensor, values: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    """dW = dyᵀ x: gradient (M, N), values (M, K) -> (N, K), in this dtype, which a GPU may sum short floats in."""
    if by_one_dnn(gradient, values):
        return product(gradient.t(), values.t())
    dtype = dtype or values.dtype
    if values.is_cuda and values.dtype in (torch.bfloat16, torch.float16) and dtype == torch.float32:
        return torch.mm(gradient.t(), values, out_dtype=torch.float32)
    return (gradient.t() @ values).to(dtype)


class LinearFunction(torch.autograd.Function):
    """A linear layer by these products."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """y = x Wᵀ + b."""
        ctx.save_for_backward(values, weight)
        ctx.has_bias = bias is not None
        return product(values, weight, bias)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """dx, dW, db."""
        values, weight = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (
            product_to_inputs(gradient, weight) if needs[0] else None,
            product_to_weight(gradient, values) if needs[1] else None,
            gradient.sum(dim=0) if needs[2] and ctx.has_bias else None,
        )


def linear(values: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x Wᵀ + b of values (..., K), as `torch.nn.functional.linear`."""
    if torch.compiler.is_compiling() or not by_one_dnn(values, weight) or torch.is_autocast_enabled("cpu"):
        return functional.linear(values, weight, bias)
    flat = values.reshape(-1, values.size(-1))
    found: Tensor = LinearFunction.apply(flat, weight, bias)  # type: ignore[no-untyped-call]
    return found.view(*values.shape[:-1], weight.size(0))
