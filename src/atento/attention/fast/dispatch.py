"""Which compositions can be computed without their matrix of weights: the same numbers, faster.

Linear attention: kernel scores shared in proportion, without the matrix of queries and keys.
Σ_i φ(q)·φ(k_i) v_i / Σ_i φ(q)·φ(k_i) = φ(q) (Σ_i φ(k_i) v_iᵀ) / φ(q)·(Σ_i φ(k_i))  (Katharopoulos et al., 2020, eq. 5).
"""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from atento.attention.distributions.distributions import Distribution, Proportional, Softmax, in_proportion
from atento.attention.extents.extents import Causal, Everything, Extent, Prepared, View, look
from atento.attention.extents.groups import Blocks
from atento.attention.fast.sparse import Grouped, pieces_of, sparse_context
from atento.attention.scores.kernel import Kernel
from atento.attention.scores.product import Dot, ScaledDot, Score, require_same_width
from atento.layers.masking import clean

# Axes: L leading axes, Q queries, K keys, F features, V value_size; causal: C chunks of c positions.

CHUNK = 128  # positions whose matrix is written out; more cost products, fewer cost sums


def saves(query: Tensor, prepared: Prepared) -> bool:
    """Whether two products by way of the features are less work than two by way of the matrix."""
    queries, (keys, width), features = query.size(-2), prepared.value.shape[-2:], prepared.key.size(-1)
    return (queries + keys) * features * width < queries * keys * (features + width)


def linear_context(score: Kernel, query: Tensor, prepared: Prepared, *, causal: bool) -> Tensor:
    """The context (L, Q, V); a query to which no key answers gets zeros. Causal: query t reads keys 0 ... t."""
    asked, key = score.ask(query), clean(prepared.key, prepared.valid)  # (L, Q, F), (L, K, F)
    value = functional.pad(prepared.value, (0, 1), value=1.0)  # a one beside each value counts the shares
    summed = past(asked, key, value) if causal else asked @ (key.mT @ value)
    return in_proportion(summed[..., :-1], summed[..., -1:])


def past(asked: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Σ_{i ≤ t} φ(q_t)·φ(k_i) v_i: the matrix within a chunk, a running sum of φ(k) vᵀ over the chunks before it."""
    blocks = Blocks.over(key.size(-2), CHUNK)
    asked, key, value = blocks.cut(asked), blocks.cut(key), blocks.cut(value)  # (L, C, c, *)
    own = (asked @ key.mT).tril() @ value
    before = (key.mT @ value)[..., :-1, :, :].cumsum(dim=-3)  # (L, C − 1, F, V)
    earlier = asked[..., 1:, :, :] @ before
    return blocks.mend(torch.cat([own[..., :1, :, :], own[..., 1:, :, :] + earlier], dim=-3))[..., : blocks.length, :]


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
