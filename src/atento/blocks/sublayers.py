"""One node of a packed Transformer: from the output of one sublayer to the products of the next, forward and backward.

A node adds the change of a sublayer to the residual stream, normalizes, and projects to queries, keys and values, or
passes through the feed-forward network, whose output is the change that the next node adds. As one node it stores
little, copies nothing, and costs a GPU's host one call. All is position by position: rows are packed."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.layers.dropout import random_bits, zero_dropped
from atento.layers.products import product, product_to_inputs, product_to_weight

# Axes: M rows, D size, F features inside the feed-forward network.


class Node(NamedTuple):
    """What a node does beside its products."""

    post: bool  # whether the residual stream itself is normalized
    feeds: bool  # whether it ends with the feed-forward network, else with a projection
    eps: float  # of the norm
    drop: float  # of the change
    inner_drop: float  # inside the feed-forward network
    seed: Tensor | None  # (1,) of the dropout on a GPU; None: on a CPU
    draw: int  # the number of this node's first draw from it


def add_norm(
    residual: Tensor, change: Tensor | None, norm: tuple[Tensor, Tensor] | None, node: Node, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """Residual + dropout(change), its normalization in this dtype, mean and 1/σ of each row, bits of the dropout."""
    if node.seed is not None:
        from atento.blocks import sublayer_kernels as kernels

        triple = None if norm is None else (*norm, node.eps)
        return *kernels.add_norm(
            residual, change, triple, drop=node.drop, seed=node.seed, draw=node.draw, dtype=dtype
        ), None
    bits = None
    if change is not None:
        if node.drop:
            bits = random_bits(change)
            change = zero_dropped(change, bits, node.drop)
        residual = torch.add(residual, change, alpha=1 / (1 - node.drop))
    if norm is None:
        return residual, residual.to(dtype), None, None, bits
    entered, mean, rstd = torch.native_layer_norm(residual, (residual.size(-1),), *norm, node.eps)
    return residual, entered.to(dtype), mean, rstd, bits


def add_norm_backward(
    summed: Tensor,
    from_residual: Tensor | None,
    from_entered: Tensor | None,
    norm: tuple[Tensor, Tensor] | None,
    mean: Tensor | None,
    rstd: Tensor | None,
    bits: Tensor | None,
    node: Node,
    *,
    add: bool,
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of the sum, of the change, and of the norm's gain and shift."""
    if node.seed is not None:
        from atento.blocks import sublayer_kernels as kernels

        gain = None if norm is None else norm[0]
        return kernels.add_norm_backward(
            summed,
            from_residual,
            from_entered,
            gain,
            mean,
            rstd,
            add=add,
            drop=node.drop,
            seed=node.seed,
            draw=node.draw,
            dtype=dtype,
        )
    to_gain = to_shift = None
    gradient = from_entered
    if norm is not None and from_entered is not None:
        gradient, to_gain, to_shift = torch.ops.aten.native_layer_norm_backward(
            from_entered.to(summed.dtype), summed, (summed.size(-1),), mean, rstd, *norm, [True, True, True]
        )
    if from_residual is not None:
        gradient = (
            from_residual if gradient is None else gradient.add_(from_residual) if norm else gradient + from_residual
        )
    if gradient is None:
        gradient = torch.zeros_like(summed)
    if not add:
        return gradient, None, to_gain, to_shift
    change = gradient if bits is None else zero_dropped(gradient, bits, node.drop).mul_(1 / (1 - node.drop))
    return gradient, change.to(dtype), to_gain, to_shift


def relu_drop(hidden: Tensor, node: Node) -> Tensor:
    """dropout(max(x, 0)), of a tensor that nobody else needs."""
    if node.seed is not None:
        from atento.blocks import sublayer_kernels as kernels

        return kernels.relu_drop(hidden, drop=node.inner_drop, seed=node.seed, draw=node.draw + 1)
    hidden.clamp_min_(0.0)
    if node.inner_drop:
        hidden = zero_dropped(hidden, random_bits(hidden), node.inner_drop).mul_(1 / (1 - node.inner_drop))
    return hidden


def relu_drop_backward(hidden: Tensor, gradient: Tensor, node: Node) -> Tensor:
    """The gradient before `relu_drop`, from its output: where that is above 0 the derivative is 1 / (1 − p)."""
    if hidden.is_cuda:
        from atento.blocks import sublayer_kernels as kernels

        return kernels.relu_drop_backward(hidden, gradient, drop=node.inner_drop)
    gradient = torch.ops.aten.threshold_backward(gradient, hidden, 0.0)
    return gradient.mul_(1 / (1 - node.inner_drop)) if node.inner_drop else gradient


class NodeFunction(torch.autograd.Function):
    """residual (M, D), and a change (M, D), or a context (M, D) with its output projection -> residual (M, D), output.

    `weights` are pairs of weight and bias: of the projections, which are computed as one product, or of the two layers
    of the feed-forward network; none: the output is what the norm gives.
    """

    @staticmethod
    def forward(
        ctx: Any,
        node: Node,
        dtype: torch.dtype,
        residual: Tensor,
        change: Tensor | None,
        context: Tensor | None,
        combine: Tensor | None,
        combine_bias: Tensor | None,
        gain: Tensor | None,
        shift: Tensor | None,
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """The residual stream after this change, and the queries, keys and values or the next change."""
        own = in_dtype(weights, dtype, join=not node.feeds)
        if context is not None and combine is not None and combine_bias is not None:
            combine, combine_bias = in_dtype((combine, combine_bias), dtype, join=False)
            change = product(context, combine, combine_bias)
        norm = None if gain is None or shift is None else (gain, shift)
        summed, entered, mean, rstd, bits = add_norm(residual, change, norm, node, dtype)
        output, hidden = entered, None
        if own:
            output = product(entered, own[0], own[1])
        if node.feeds:
            hidden = relu_drop(output, node)
            output = product(hidden, own[2], own[3])
        ctx.node, ctx.dtype, ctx.adds = node, dtype, change is not None
        ctx.sizes = [one.size(0) for one in weights[::2]]
        ctx.save_for_backward(summed, entered, mean, rstd, bits, hidden, context, combine, gain, shift, *own[::2])
        return (entered.to(residual.dtype) if node.post and norm else summed), output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, from_residual: Tensor, from_output: Tensor) -> tuple[Any, ...]:
        """The gradients of all that entered."""
        summed, entered, mean, rstd, bits, hidden, context, combine, gain, shift, *own = ctx.saved_tensors
        node, dtype, full = ctx.node, ctx.dtype, summed.dtype
        gradients: list[Tensor] = []
        from_entered = from_output
        if node.feeds:
            inner = relu_drop_backward(hidden, product_to_inputs(from_output, own[1]), node)
            gradients = [
                product_to_weight(inner, entered, dtype=full),
                inner.sum(dim=0, dtype=full),
                product_to_weight(from_output, hidden, dtype=full),
                from_output.sum(dim=0, dtype=full),
            ]
            from_entered = product_to_inputs(inner, own[0])
        elif own:
            matrices = torch.split(product_to_weight(from_output, entered, dtype=full), ctx.sizes)
            biases = torch.split(from_output.sum(dim=0, dtype=full), ctx.sizes)
            gradients = [one for pair in zip(matrices, biases, strict=True) for one in pair]
            from_entered = product_to_inputs(from_output, own[0])
        norm = None if gain is None else (gain, shift)
        if node.post and norm is not None:  # the residual stream itself went through the norm
            from_entered, from_residual = from_entered.to(full) + from_residual, None  # type: ignore[assignment]
        to_residual, to_change, to_gain, to_shift = add_norm_backward(
            summed, from_residual, from_entered, norm, mean, rstd, bits, node, add=ctx.adds, dtype=dtype
        )
        to_context = to_combine = to_bias = None
        if context is not None and to_change is not None:
            to_context = product_to_inputs(to_change, combine)
            to_combine = product_to_weight(to_change, context, dtype=full)
            to_bias = to_change.sum(dim=0, dtype=full)
            to_change = None
        return None, None, to_residual, to_change, to_context, to_combine, to_bias, to_gain, to_shift, *gradients


def in_dtype(weights: tuple[Tensor, ...], dtype: torch.dtype, *, join: bool) -> list[Tensor]:
    """Weights and biases in this dtype; where they are joined, one matrix and one bias."""
    if not weights:
        return []
    join = join and len(weights) > 2
    if weights[0].dtype == dtype:
        return [torch.cat(weights[::2]), torch.cat(weights[1::2])] if join else [*weights]
    if not join:
        found = [torch.empty_like(one, dtype=dtype) for one in weights]
        torch._foreach_copy_(found, list(weights))  # one launch
        return found
    sizes = [one.size(0) for one in weights[::2]]
    matrix = torch.empty(sum(sizes), weights[0].size(1), dtype=dtype, device=weights[0].device)
    bias = torch.empty(sum(sizes), dtype=dtype, device=weights[0].device)
    torch._foreach_copy_([*torch.split(matrix, sizes), *torch.split(bias, sizes)], [*weights[::2], *weights[1::2]])
    return [matrix, bias]
