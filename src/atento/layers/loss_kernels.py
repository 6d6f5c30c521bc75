"""Cross-entropy on a GPU: one Triton kernel reads the logits once forward, one once backward, in their own type.

Nothing of their size is stored but their gradient; sums are in float32."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

# Axes: M items, C classes.

WIDEST_BLOCK = 4096


@triton.jit
def cross_entropy_kernel(logits, targets, losses, peaks, totals, classes, smoothing, BLOCK: tl.constexpr):
    """One item: its loss (1 − s) (lse − z_y) + s (lse − mean z), and log Σ exp in two parts."""
    row = tl.program_id(0).to(tl.int64)
    start_of_row = logits + row * classes
    peak = -float("inf")
    total = 0.0
    summed = 0.0
    for start in range(0, classes, BLOCK):
        column = start + tl.arange(0, BLOCK)
        z = tl.load(start_of_row + column, column < classes, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(z, 0))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(z - higher), 0)
        peak = higher
        summed += tl.sum(tl.where(column < classes, z, 0.0), 0)
    true = tl.load(start_of_row + tl.load(targets + row)).to(tl.float32)
    loss = tl.log(total) + (1.0 - smoothing) * (
        peak - true
    )  # large logits are subtracted before anything small is added
    if smoothing > 0.0:
        loss += smoothing * (peak - summed / classes)
    tl.store(losses + row, loss)
    tl.store(peaks + row, peak)
    tl.store(totals + row, total)


@triton.jit
def cross_entropy_backward_kernel(
    logits, targets, peaks, totals, scale, gradient, classes, smoothing, BLOCK: tl.constexpr
):
    """One block of one item: (softmax z − (1 − s) [c = y] − s / C) times the gradient of the sum."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    here = column < classes
    z = tl.load(logits + row * classes + column, here, other=-float("inf")).to(tl.float32)
    g = tl.exp(z - tl.load(peaks + row)) / tl.load(totals + row) - smoothing / classes
    g -= tl.where(column == tl.load(targets + row), 1.0 - smoothing, 0.0)
    tl.store(gradient + row * classes + column, g * tl.load(scale), here)


class SummedCrossEntropy(torch.autograd.Function):
    """Logits (M, C), targets (M,) -> the sum of the losses."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        """Σ losses, in float32."""
        items, classes = logits.shape
        losses, peaks, totals = torch.empty(3, items, dtype=torch.float32, device=logits.device)
        block = min(triton.next_power_of_2(classes), WIDEST_BLOCK)
        cross_entropy_kernel[(items,)](
            logits, targets, losses, peaks, totals, classes, smoothing, BLOCK=block, num_warps=8
        )
        ctx.save_for_backward(logits, targets, peaks, totals)
        ctx.smoothing, ctx.block = smoothing, block
        return losses.sum()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor, None, None]:
        """The gradient of the logits."""
        logits, targets, peaks, totals = ctx.saved_tensors
        items, classes = logits.shape
        gradient = torch.empty_like(logits)
        grid = items, triton.cdiv(classes, ctx.block)
        cross_entropy_backward_kernel[grid](
            logits, targets, peaks, totals, scale, gradient, classes, ctx.smoothing, BLOCK=ctx.block, num_warps=8
        )
        return gradient, None, None


def summed_cross_entropy(logits: Tensor, targets: Tensor, *, smoothing: float) -> Tensor:
    """The sum of the losses of items."""
    found: Tensor = SummedCrossEntropy.apply(logits.contiguous(), targets.contiguous(), smoothing)
    return found
