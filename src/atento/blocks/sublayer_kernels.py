"""The elementwise parts of a Transformer's sublayers on a GPU: one Triton kernel each, forward and backward.

Dropout is drawn from a seed, the number of the draw and the place of an element, so that the backward pass draws the
same and stores nothing. The seed is on the GPU: a CUDA graph of these kernels draws anew whenever it runs."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

# Axes: M rows, D features, P programs.

ELEMENTS = 1024  # of one program that works element by element
PROGRAMS = 512  # that share the rows of a backward pass; each sums its own part of the norm's gradients


@triton.jit
def kept(seed, place, P: tl.constexpr):
    """1 / (1 − p) with probability 1 − p, else 0."""
    return tl.where(tl.rand(seed, place) >= P, 1.0 / (1.0 - P), 0.0)


@triton.jit
def add_norm_kernel(
    residual, change, gain, shift, summed, entered, mean, rstd, seed, draw, size, eps,
    BLOCK: tl.constexpr, ADD: tl.constexpr, DROP: tl.constexpr, NORM: tl.constexpr,
):  # fmt: skip
    """One row: the sum of residual and dropped-out change, and its normalization."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    here = column < size
    place = row * size + column
    x = tl.load(residual + place, here, other=0.0).to(tl.float32)
    if ADD:
        y = tl.load(change + place, here, other=0.0).to(tl.float32)
        if DROP > 0.0:
            y *= kept(tl.load(seed) + draw, place, DROP)
        x += y
        tl.store(summed + place, x, here)
    if NORM:
        middle = tl.sum(x, 0) / size
        centred = tl.where(here, x - middle, 0.0)
        scale = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / size + eps)
        tl.store(mean + row, middle)
        tl.store(rstd + row, scale)
        w = tl.load(gain + column, here, other=0.0).to(tl.float32)
        b = tl.load(shift + column, here, other=0.0).to(tl.float32)
        x = centred * scale * w + b
    tl.store(entered + place, x, here)


@triton.jit
def add_norm_backward_kernel(
    summed, from_residual, from_entered, gain, mean, rstd, to_summed, to_change, parts, seed, draw, rows, size,
    BLOCK: tl.constexpr, ADD: tl.constexpr, DROP: tl.constexpr, NORM: tl.constexpr,
    RESIDUAL: tl.constexpr, ENTERED: tl.constexpr,
):  # fmt: skip
    """Rows of one program: the gradient of the sum, of the change before dropout, and parts of the norm's gradients."""
    column = tl.arange(0, BLOCK)
    here = column < size
    gain_part = tl.zeros([BLOCK], tl.float32)
    shift_part = tl.zeros([BLOCK], tl.float32)
    if NORM:
        w = tl.load(gain + column, here, other=0.0).to(tl.float32)
    for at in range(tl.program_id(0), rows, tl.num_programs(0)):
        place = (tl.zeros([BLOCK], tl.int64) + at) * size + column
        g = tl.zeros([BLOCK], tl.float32)
        if ENTERED:
            g += tl.load(from_entered + place, here, other=0.0).to(tl.float32)
        if NORM:
            x = tl.load(summed + place, here, other=0.0).to(tl.float32)
            scale = tl.load(rstd + at)
            unit = tl.where(here, (x - tl.load(mean + at)) * scale, 0.0)
            gain_part += g * unit
            shift_part += g
            g *= w
            g = scale * (g - tl.sum(g, 0) / size - unit * (tl.sum(g * unit, 0) / size))
        if RESIDUAL:
            g += tl.load(from_residual + place, here, other=0.0).to(tl.float32)
        tl.store(to_summed + place, g, here)
        if ADD:
            if DROP > 0.0:
                g *= kept(tl.load(seed) + draw, place, DROP)
            tl.store(to_change + place, g, here)
    if NORM:
        tl.store(parts + tl.program_id(0) * 2 * size + column, gain_part, here)
        tl.store(parts + (tl.program_id(0) * 2 + 1) * size + column, shift_part, here)


@triton.jit
def relu_drop_kernel(hidden, seed, draw, count, BLOCK: tl.constexpr, DROP: tl.constexpr):
    """max(x, 0), dropped out, in place."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = place < count
    x = tl.maximum(tl.load(hidden + place, here, other=0.0).to(tl.float32), 0.0)
    if DROP > 0.0:
        x *= kept(tl.load(seed) + draw, place, DROP)
    tl.store(hidden + place, x, here)


@triton.jit
def relu_drop_backward_kernel(hidden, gradient, count, BLOCK: tl.constexpr, DROP: tl.constexpr):
    """The gradient where the output is above 0, in place; there the derivative is 1 / (1 − p)."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = place < count
    g = tl.load(gradient + place, here, other=0.0).to(tl.float32) / (1.0 - DROP)
    tl.store(gradient + place, tl.where(tl.load(hidden + place, here, other=0.0) > 0.0, g, 0.0), here)


def warps(size: int) -> int:
    """Threads of a row, in warps."""
    return min(max(triton.next_power_of_2(size) // 256, 1), 16)


def add_norm(
    residual: Tensor, change: Tensor | None, norm: tuple[Tensor, Tensor, float] | None, *,
    drop: float, seed: Tensor, draw: int, dtype: torch.dtype,
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:  # fmt: skip
    """Residual + dropout(change), its normalization in this dtype, and mean and 1/σ of each row."""
    rows, size = residual.shape
    summed = residual if change is None else torch.empty_like(residual)
    entered = torch.empty(rows, size, dtype=dtype, device=residual.device)
    gain, shift, eps = norm or (residual, residual, 0.0)
    statistics = torch.empty(2, rows if norm else 1, dtype=torch.float32, device=residual.device)
    add_norm_kernel[(rows,)](
        residual, residual if change is None else change, gain, shift, summed, entered, statistics[0], statistics[1],
        seed, draw, size, eps, BLOCK=triton.next_power_of_2(size), ADD=change is not None, DROP=drop,
        NORM=norm is not None, num_warps=warps(size),
    )  # fmt: skip
    return (summed, entered, statistics[0], statistics[1]) if norm else (summed, entered, None, None)


def add_norm_backward(
    summed: Tensor, from_residual: Tensor | None, from_entered: Tensor | None, gain: Tensor | None,
    mean: Tensor | None, rstd: Tensor | None, *, add: bool, drop: float, seed: Tensor, draw: int,
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:  # fmt: skip
    """Gradients of the sum, of the change, and of gain and shift."""
    rows, size = summed.shape
    to_summed = torch.empty_like(summed)
    to_change = torch.empty(rows, size, dtype=dtype, device=summed.device) if add else None
    programs = min(rows, PROGRAMS)
    parts: Any = torch.empty(programs, 2, size, device=summed.device) if gain is not None else None
    add_norm_backward_kernel[(programs,)](
        summed, summed if from_residual is None else from_residual, summed if from_entered is None else from_entered,
        summed if gain is None else gain, summed if mean is None else mean, summed if rstd is None else rstd,
        to_summed, summed if to_change is None else to_change, summed if parts is None else parts, seed, draw, rows,
        size,
        BLOCK=triton.next_power_of_2(size), ADD=add, DROP=drop, NORM=gain is not None,
        RESIDUAL=from_residual is not None, ENTERED=from_entered is not None, num_warps=warps(size),
    )  # fmt: skip
    sums = (None, None) if parts is None else tuple(parts.sum(dim=0))
    return to_summed, to_change, sums[0], sums[1]


def relu_drop(hidden: Tensor, *, drop: float, seed: Tensor, draw: int) -> Tensor:
    """dropout(max(x, 0)), in place."""
    count = hidden.numel()
    relu_drop_kernel[(triton.cdiv(count, ELEMENTS),)](hidden, seed, draw, count, BLOCK=ELEMENTS, DROP=drop)
    return hidden


def relu_drop_backward(hidden: Tensor, gradient: Tensor, *, drop: float) -> Tensor:
    """The gradient before `relu_drop`, in place."""
    count = hidden.numel()
    relu_drop_backward_kernel[(triton.cdiv(count, ELEMENTS),)](hidden, gradient, count, BLOCK=ELEMENTS, DROP=drop)
    return gradient
