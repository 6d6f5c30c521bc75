"""Which compositions can be computed without their matrix of weights: the same numbers, faster."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from atento.attention.distributions import Distribution, Proportional, Softmax
from atento.attention.extents import Causal, Everything, Extent, View
from atento.attention.kernel_scores import Kernel
from atento.attention.linear import linear_context, saves
from atento.attention.prepared import Prepared, look
from atento.attention.scores import Dot, ScaledDot, Score, require_same_width
from atento.attention.sparse import Grouped, pieces_of, sparse_context

LONG = 512  # keys from which cuDNN's plans are worth their time


def fused_context(
    score: Score,
    distribution: Distribution,
    extent: Extent,
    query: Tensor,
    prepared: Prepared,
    *,
    query_at: Tensor | None,
) -> Tensor | None:
    """By a kernel's features, by torch's own product, by pieces of a sparse extent; None: by the formula itself."""
    causal, product = type(extent) is Causal, type(score) in (Dot, ScaledDot) and type(distribution) is Softmax
    whole = query_at is None and query.size(-2) == prepared.value.size(-2)
    plain = type(extent) is Everything or (causal and whole)
    if plain and type(distribution) is Proportional and isinstance(score, Kernel) and saves(query, prepared):
        return linear_context(score, query, prepared, causal=causal)
    if plain and product and prepared.valid is None:
        return product_attention(score, query, prepared, is_causal=causal)
    pieces = () if plain or query_at is not None else pieces_of(score, extent, query, prepared)
    if len(pieces) == 1 and product:
        grouped = Grouped(pieces[0], query, prepared)
        if grouped.view.factor is None:
            return grouped.merge(masked_product(score, grouped.query, grouped.prepared, grouped.view))
    if pieces:
        return sparse_context(score, distribution, pieces, query, prepared)
    view = look(extent, query, prepared, query_at=query_at) if product else None
    return None if view is None or view.factor is not None else masked_product(score, query, prepared, view)


def masked_product(score: Score, query: Tensor, prepared: Prepared, view: View) -> Tensor:
    """Torch's kernel with what an extent shows as its mask."""
    seen = view.visible.any(dim=-1, keepdim=True)
    mask = view.visible | ~seen  # a row that sees nothing is opened here and zeroed below: no NaN, no gradient
    if view.bias is not None:
        mask = view.bias.to(query.dtype).masked_fill(~mask, -torch.inf)
    return product_attention(score, query, prepared, mask=mask).masked_fill(~seen, 0.0)


def kernels_for(key: Tensor) -> AbstractContextManager[object]:
    """On a GPU cuDNN plans anew for every shape, which short sequences of all lengths never pay back."""
    if key.device.type != "cuda" or key.size(-2) >= LONG:
        return nullcontext()
    return sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])


def product_attention(
    score: Score, query: Tensor, prepared: Prepared, *, mask: Tensor | None = None, is_causal: bool = False
) -> Tensor:
    """SDPA, given the two leading axes that its fast kernels want: batch and heads."""
    require_same_width(query, prepared.key)
    leading = query.shape[:-2]
    query, key, value = (two_axes(part, leading) for part in (query, prepared.key, prepared.value))
    with kernels_for(key):
        context = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=None if mask is None else two_axes(mask, leading),
            is_causal=is_causal,
            scale=1.0 if type(score) is Dot else None,  # None: torch's own 1/√d
        )
    return context.view(*leading, *context.shape[-2:])


def two_axes(part: Tensor, leading: torch.Size) -> Tensor:
    """Queries, keys, values or a mask with leading axes (batch, heads): one of one is put in, many are made one."""
    if len(leading) == 1 and part.dim() == 3:
        return part.unsqueeze(1)
    if len(leading) > 2 and part.dim() > 3:
        return part.expand(*leading[:-1], *part.shape[-3:]).flatten(0, -4)
    return part
