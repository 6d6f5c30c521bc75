"""The products of a linear layer and of its backward pass, and of an LSTM, in torch's fastest form for the device.

On a CPU in float32 oneDNN computes them: its kernels use the widest instructions of any processor, and MKL, which
torch's `linear` calls, only those of Intel's. Elsewhere they are torch's own. Within `bf16_products` large ones round
their factors to bfloat16, which takes half the time where a processor has instructions for it: sums are in float32, and
all that is not a factor of a product stays in float32."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

# Axes: M rows, K features in, N features out.

PLAIN = (Tensor, nn.Parameter)
HAS_ONE_DNN: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
ONE_DNN: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if HAS_ONE_DNN else None
IS_TRANSFORMED: Any = getattr(torch._C, "_are_functorch_transforms_active", None)
LARGE = 1 << 22  # multiplications of a product from which another library is worth asking
BF16 = ContextVar("BF16", default=False)  # whether large products take their factors in bfloat16
WORTH_ROUNDING = 1 << 22  # multiplications from which a product is faster with its factors rounded first


def is_recorded() -> bool:
    """Whether a compiler, an exporter or a tracer records what is done, with sizes that may be open."""
    return torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None


def is_watched() -> bool:
    """Whether something records, counts or transforms every operation of torch: a compiler, an exporter, a tracer, a
    counter of FLOPs, `torch.func`.
    """
    return is_recorded() or is_in_torch_dispatch_mode() or (IS_TRANSFORMED is not None and IS_TRANSFORMED())


@cache
def has_bf16_instructions() -> bool:
    """Whether this processor multiplies numbers in bfloat16 faster than in float32."""
    asked = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return ONE_DNN is not None and any(supported() for supported in asked if supported is not None)


@contextmanager
def bf16_products(wanted: bool) -> Iterator[None]:
    """Within it, where wanted, large products on a CPU round their factors to bfloat16, and recurrent kernels too."""
    before = BF16.set(wanted)
    try:
        yield
    finally:
        BF16.reset(before)


def is_rounded(multiplications: int) -> bool:
    """Whether a product of so many multiplications takes its factors in bfloat16 here."""
    return BF16.get() and multiplications >= WORTH_ROUNDING


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
        if is_rounded(len(values) * weight.numel()):
            short = ONE_DNN(values.bfloat16(), weight.bfloat16(), None, "none", [], "").float()
            return short if bias is None else short.add_(bias)
        found: Tensor = ONE_DNN(values, weight, bias, "none", [], "")
        return found
    return functional.linear(values, weight, bias)


def product_to_inputs(gradient: Tensor, weight: Tensor) -> Tensor:
    """dx = dy W: gradient (M, N), weight (N, K) -> (M, K)."""
    return product(gradient, weight.t()) if by_one_dnn(gradient, weight) else gradient @ weight


def product_to_weight(gradient: Tensor, values: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    """dW = dyᵀ x: gradient (M, N), values (M, K) -> (N, K), in this dtype, which a GPU may sum short floats in."""
    if by_one_dnn(gradient, values):
        if is_rounded(gradient.numel() * values.size(1)):  # torch's own product takes a transpose as it lies
            return torch.mm(gradient.bfloat16().t(), values.bfloat16()).float()
        if gradient.size(1) < values.size(1):
            return product(gradient.t(), values.t())
        return product(values.t(), gradient.t()).t()  # oneDNN is faster where the result is wider than high
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
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """dx, dW, db; by torch's products for a second derivative."""
        values, weight = ctx.saved_tensors
        needs, twice = ctx.needs_input_grad, torch.is_grad_enabled()
        to_values = to_weight = None
        if needs[0]:
            to_values = gradient @ weight if twice else product_to_inputs(gradient, weight)
        if needs[1]:
            to_weight = gradient.t() @ values if twice else product_to_weight(gradient, values)
        return to_values, to_weight, gradient.sum(dim=0) if needs[2] and ctx.has_bias else None


def linear(values: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x Wᵀ + b of values (..., K), as `torch.nn.functional.linear`; large products by `LinearFunction`."""
    is_small = is_recorded() or values.numel() * len(weight) < LARGE
    if is_small or is_watched() or torch.is_autocast_enabled("cpu") or not by_one_dnn(values, weight):
        return functional.linear(values, weight, bias)
    flat = values.reshape(-1, values.size(-1))
    found: Tensor = LinearFunction.apply(flat, weight, bias)  # type: ignore[no-untyped-call]
    return found.view(*values.shape[:-1], weight.size(0))


class Linear(nn.Linear):
    """`torch.nn.Linear`, with its arguments, by `linear`."""

    def forward(self, input: Tensor) -> Tensor:
        """x Wᵀ + b of values (..., K)."""
        return linear(input, self.weight, self.bias)


def lstm(inputs: Tensor, start: tuple[Tensor, ...], weights: list[Tensor], *how: Any) -> tuple[Tensor, Tensor, Tensor]:
    """`torch.lstm` of a batch (B, T, I); within `bf16_products` a large one in bfloat16, of float32 and to float32."""
    rounded = inputs.is_cpu and inputs.dtype == torch.float32
    if not rounded or not is_rounded(inputs.size(0) * inputs.size(1) * weights[0].numel()):
        return torch.lstm(inputs, start, weights, *how)
    first, parts = [one.bfloat16() for one in start], [one.bfloat16() for one in weights]
    outputs, hidden, carry = torch.lstm(inputs.bfloat16(), first, parts, *how)
    return outputs.float(), hidden.float(), carry.float()
