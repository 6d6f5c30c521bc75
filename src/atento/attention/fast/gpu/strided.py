"""Strided extents in two parts: the nearest keys, and every A-th key, whose rows are folded so that they lie together.

A query sees the keys at most A away, and those at a multiple of A. Of n positions, those with the same remainder by A
see each other: folded to (B H, A, n / A, D), they are A short sequences, and a tile of scores holds no hidden ones. The
softmax over both parts follows from their log Σ exp. The backward pass is that of both parts with the common log Σ exp
and context."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

from atento.attention.fast.gpu.context import computed
from atento.attention.fast.gpu.distributions import SOFTMAX
from atento.attention.fast.gpu.extents import UNBOUNDED, ExtentPlug, apart
from atento.attention.fast.gpu.launch import cdiv, composition_of, power_of_two, start

# Axes: B batch, H heads, n positions, A stride, D width, V value_width.

ROWS = 32  # of a block of the kernel that joins the parts


def strided_context(query: Tensor, key: Tensor, value: Tensor, stride: int, *, causal: bool, scale: float) -> Tensor:
    """The context (B, H, n, V) of as many queries as keys, a multiple of the stride."""
    found: Tensor = StridedContext.apply(query, key, value, stride, causal, scale)
    return found


class StridedContext(torch.autograd.Function):
    """The context of a strided extent, in two parts."""

    @staticmethod
    def forward(
        context: Any, query: Tensor, key: Tensor, value: Tensor, stride: int, causal: bool, scale: float
    ) -> Tensor:
        """Both parts, joined."""
        after = 0 if causal else UNBOUNDED
        near = composition_of("product", SOFTMAX, ExtentPlug(stride, min(after, stride)))
        far = composition_of("product", SOFTMAX, ExtentPlug(after=after, pattern=apart, first_size=2))
        given, nothing = (query, key, value), (None,) * 7
        folded = tuple(fold(part, stride) for part in given)
        context.near, output, _, statistic = computed(near, {"scale": scale}, given + nothing, recorded=True)
        context.far, other, _, of_other = computed(far, {"scale": scale}, folded + nothing, recorded=True)
        batch, heads, length, width = output.shape
        output = output.contiguous()
        start(
            join,
            (cdiv(length, ROWS), batch * heads),
            (output, other, statistic, of_other, length, stride, width),
            (ROWS, power_of_two(width)),
            4,
            key=(output.dtype, output.shape, stride),
        )
        context.stride = stride
        context.save_for_backward(output, statistic, of_other, *given)  # inputs too: a change of them is noticed
        return output

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of both parts, added."""
        output, statistic, of_other, *_ = context.saved_tensors
        upstream = upstream if upstream.stride(-1) == 1 else upstream.contiguous()
        near = context.near.backward(upstream, output, statistic)[:3]
        folded = fold(upstream, context.stride), fold(output, context.stride)
        far = context.far.backward(*folded, of_other)[:3]
        return *(one + unfold(other, one) for one, other in zip(near, far, strict=True)), None, None, None


def fold(items: Tensor, stride: int) -> Tensor:
    """(B, H, n, D) -> (B H, A, n / A, D)."""
    batch, heads, length, width = items.shape
    return items.reshape(batch * heads, length // stride, stride, width).transpose(1, 2)


def unfold(items: Tensor, like: Tensor) -> Tensor:
    """(B H, A, n / A, D) -> (B, H, n, D)."""
    return items.transpose(1, 2).reshape(like.shape)


@triton.jit
def join(output, other, statistic, of_other, length, stride, width, BT: tl.constexpr, BV: tl.constexpr):
    """The context of both parts in place of the first, and their common log Σ exp in place of each one's own.

    output (B H, n, V), other in the same order; statistic (B H, n), of_other (B H, A, n / A): +inf where none is seen.
    """
    lead = tl.program_id(1).to(tl.int64)
    rows, outputs = tl.program_id(0) * BT + tl.arange(0, BT), tl.arange(0, BV)
    real = rows < length
    mask = real[:, None] & (outputs < width)[None, :]
    at, folded = lead * length + rows, lead * length + rows % stride * (length // stride) + rows // stride
    first = tl.load(statistic + at, mask=real, other=0.0)
    second = tl.load(of_other + folded, mask=real, other=0.0)
    second = tl.where(second == float("inf"), float("-inf"), second)
    peak = tl.maximum(first, second)
    common = peak + tl.log2(tl.exp2(first - peak) + tl.exp2(second - peak))
    places = at[:, None] * width + outputs[None, :]
    near = tl.load(output + places, mask=mask, other=0.0).to(tl.float32)
    far = tl.load(other + places, mask=mask, other=0.0).to(tl.float32)
    whole = near * tl.exp2(first - common)[:, None] + far * tl.exp2(second - common)[:, None]
    tl.store(output + places, whole.to(output.dtype.element_ty), mask=mask)
    tl.store(statistic + at, common, mask=real)
    tl.store(of_other + folded, common, mask=real)
