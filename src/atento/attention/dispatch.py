"""Which compositions a fused kernel computes: the same numbers, faster."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from atento.attention.distributions import Distribution, Softmax
from atento.attention.extents import Causal, Everything, Extent
from atento.attention.prepared import Prepared, look
from atento.attention.scores import Dot, ScaledDot, Score, require_same_width

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
    """Torch's scaled dot-product attention where the composition is one; None where no kernel knows it."""
    if type(score) not in (Dot, ScaledDot) or type(distribution) is not Softmax:
        return None
    require_same_width(query, prepared.key)
    scale = 1.0 if type(score) is Dot else None  # None: torch's own 1/√d
    unpadded = prepared.valid is None
    if unpadded and type(extent) is Everything:
        return product_attention(query, prepared, scale=scale)
    whole = query_at is None and query.size(-2) == prepared.value.size(-2)
    if unpadded and whole and type(extent) is Causal:
        return product_attention(query, prepared, scale=scale, is_causal=True)
    view = look(extent, query, prepared, query_at=query_at)
    if view.factor is not None:
        return None
    seen = view.visible.any(dim=-1, keepdim=True)
    mask = view.visible | ~seen  # a row that sees nothing is opened here and zeroed below: no NaN, no gradient
    if view.bias is not None:
        mask = view.bias.to(query.dtype).masked_fill(~mask, -torch.inf)
    return product_attention(query, prepared, scale=scale, attn_mask=mask).masked_fill(~seen, 0.0)


def kernels_for(key: Tensor) -> AbstractContextManager[object]:
    """On a GPU cuDNN plans anew for every shape, which short sequences of all lengths never pay back."""
    if key.device.type != "cuda" or key.size(-2) >= LONG:
        return nullcontext()
    return sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])


def product_attention(
    query: Tensor,
    prepared: Prepared,
    *,
    scale: float | None,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
) -> Tensor:
    """SDPA, given the axis of heads that its fast kernels want."""
    key, value = prepared.key, prepared.value
    flat = query.dim() == 3
    if flat:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        attn_mask = attn_mask.unsqueeze(1) if attn_mask is not None and attn_mask.dim() == 3 else attn_mask
    with kernels_for(key):
        context = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=attn_mask, is_causal=is_causal, scale=scale
        )
    return context.squeeze(1) if flat else context
