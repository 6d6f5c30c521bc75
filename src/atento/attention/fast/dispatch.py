"""Dispatch: the fastest path to the context of a composition, with the same result as its formula.

The paths are torch's scaled_dot_product_attention, linear attention of kernel scores, and sparse extents by groups."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from atento.attention.distributions.distributions import Distribution, Proportional, Softmax, divide_safely
from atento.attention.extents.extents import Causal, Everything, Extent, PreparedKeys, View, view_of
from atento.attention.extents.groups import Blocks
from atento.attention.fast.sparse import Grouped, sparse_context, sparse_cover
from atento.attention.scores.kernel import Kernel
from atento.attention.scores.product import Dot, ScaledDot, Score, require_same_width
from atento.layers.masking import clean, is_known

# Axes: L leading axes, Q queries, K keys, F features, V value_size; causal: C chunks of c positions.

CHUNK = 128  # positions of causal linear attention whose matrix is computed; longer ones cost more products
CUDNN_KEYS = 512  # keys from which the plans of cuDNN are worth their time


def fused_context(
    score: Score,
    distribution: Distribution,
    extent: Extent,
    query: Tensor,
    prepared: PreparedKeys,
    *,
    query_at: Tensor | None,
) -> Tensor | None:
    """The context by linear attention, by torch's kernels or by groups; None: it must be computed by the formula."""
    causal, product = type(extent) is Causal, type(score) in (Dot, ScaledDot) and type(distribution) is Softmax
    plain = type(extent) is Everything or (causal and query_at is None and are_equally_many(query, prepared.value))
    if (
        plain
        and type(distribution) is Proportional
        and isinstance(score, Kernel)
        and linear_is_cheaper(query, prepared, causal=causal)
    ):
        return linear_context(score, query, prepared, causal=causal)
    if plain and product and prepared.valid is None:
        return product_attention(score, query, prepared, is_causal=causal)
    cover = () if plain or query_at is not None else sparse_cover(score, extent, query, prepared)
    if len(cover) == 1 and product:
        grouped = Grouped(cover[0], query, prepared)
        if grouped.view.factor is None:
            return grouped.merge(masked_product(score, grouped.query, grouped.prepared, grouped.view))
    if cover:
        return sparse_context(score, distribution, cover, query, prepared)
    view = view_of(extent, query, prepared, query_at=query_at) if product else None
    return None if view is None or view.factor is not None else masked_product(score, query, prepared, view)


def are_equally_many(query: Tensor, value: Tensor) -> bool:
    """Whether there are as many queries as values; of lengths that an exported program leaves open: always."""
    queries, keys = query.size(-2), value.size(-2)
    return queries is keys or (is_known(queries, keys) and queries == keys)


def linear_is_cheaper(query: Tensor, prepared: PreparedKeys, *, causal: bool) -> bool:
    """Whether φ(q) (φ(k)ᵀ v) is less work than (φ(q) φ(k)ᵀ) v; of open lengths, unless chunks would be cut of them."""
    queries, (keys, width), features = query.size(-2), prepared.value.shape[-2:], prepared.key.size(-1)
    if not is_known(queries, keys):
        return not causal
    return (queries + keys) * features * width < queries * keys * (features + width)


def linear_context(score: Kernel, query: Tensor, prepared: PreparedKeys, *, causal: bool) -> Tensor:
    """The context (L, Q, V) of linear attention; zeros if all kernel values are 0. Causal: query t sees keys 0 ... t.

    Σ_i φ(q)·φ(k_i) v_i / Σ_i φ(q)·φ(k_i) = φ(q) (Σ_i φ(k_i) v_iᵀ) / φ(q)·(Σ_i φ(k_i))
    (Katharopoulos et al., 2020, eq. 5).
    """
    features, key = score.query_features(query), clean(prepared.key, prepared.valid)  # (L, Q, F), (L, K, F)
    value = functional.pad(prepared.value, (0, 1), value=1.0)  # a one beside each value sums the kernel values
    summed = causal_sums(features, key, value) if causal else features @ (key.mT @ value)
    return divide_safely(summed[..., :-1], summed[..., -1:])


def causal_sums(features: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Σ_{i ≤ t} φ(q_t)·φ(k_i) v_i: the matrix within a chunk, a running sum of φ(k) vᵀ over the chunks before it."""
    blocks = Blocks.over(key.size(-2), CHUNK)
    features, key, value = blocks.cut(features), blocks.cut(key), blocks.cut(value)  # (L, C, c, *)
    own = (features @ key.mT).tril() @ value
    before = (key.mT @ value)[..., :-1, :, :].cumsum(dim=-3)  # (L, C − 1, F, V)
    earlier = features[..., 1:, :, :] @ before
    return blocks.uncut(torch.cat([own[..., :1, :, :], own[..., 1:, :, :] + earlier], dim=-3))[..., : blocks.length, :]


def masked_product(score: Score, query: Tensor, prepared: PreparedKeys, view: View) -> Tensor:
    """Scaled dot-product attention with a view as its mask."""
    seen = view.visible.any(dim=-1, keepdim=True)
    mask = view.visible | ~seen  # a row without visible keys is opened here and zeroed below: no NaN, no gradient
    if view.bias is not None:
        mask = view.bias.to(query.dtype).masked_fill(~mask, -torch.inf)
    return product_attention(score, query, prepared, mask=mask).masked_fill(~seen, 0.0)


def kernels_for(key: Tensor) -> AbstractContextManager[object]:
    """The kernels to choose from: not cuDNN for short keys on a GPU, as it plans anew for every shape."""
    if key.device.type != "cuda" or torch.compiler.is_exporting() or key.size(-2) >= CUDNN_KEYS:
        return nullcontext()
    return sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])


def product_attention(
    score: Score, query: Tensor, prepared: PreparedKeys, *, mask: Tensor | None = None, is_causal: bool = False
) -> Tensor:
    """Torch's scaled_dot_product_attention, with the two leading axes that its fast kernels need: batch and heads."""
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
    """A tensor with two leading axes: a head axis is added to one, more than two are flattened into the first."""
    if len(leading) == 1 and part.dim() == 3:
        return part.unsqueeze(1)
    if len(leading) > 2 and part.dim() > 3:
        return part.expand(*leading[:-1], *part.shape[-3:]).flatten(0, -4)
    return part
