"""Dispatch: the fastest path to the context of a composition, with the same result as its formula.

The paths are torch's scaled_dot_product_attention, linear attention of kernel scores, one Triton template on a GPU, and
sparse extents by groups."""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from atento.attention.distributions.distributions import Distribution, Proportional, Softmax, divide_safely
from atento.attention.extents.extents import Causal, Everything, Extent, GroupPair, PreparedKeys, View, view_of
from atento.attention.extents.groups import Blocks
from atento.attention.fast.gpu.composing import template_context
from atento.attention.fast.gpu.plan import decline_reason
from atento.attention.fast.sparse import Grouped, sparse_context, sparse_cover
from atento.attention.scores.kernel import Kernel
from atento.attention.scores.product import Dot, ScaledDot, Score, require_same_width
from atento.layers.masking import clean, is_known

# Axes: L leading axes, Q queries, K keys, F features, V value_size; causal: C chunks of c positions.

CHUNK = 128  # positions of causal linear attention whose matrix is computed; longer ones cost more products
EVERY_KERNEL = nullcontext()
Path = Literal["sdpa", "sdpa with a mask", "linear", "template", "groups", "formula"]
CUDNN_KEYS = 512  # keys from which the plans of cuDNN are worth their time


class ContextPlan(NamedTuple):
    """Which path computes the context of a call, and why."""

    path: Path
    why: str
    cover: tuple[GroupPair, ...] = ()  # of the path `groups`
    view: View | None = None  # of the path `sdpa with a mask`

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


def plan_context(
    score: Score,
    distribution: Distribution,
    extent: Extent,
    query: Tensor,
    prepared: PreparedKeys,
    *,
    query_at: Tensor | None,
) -> ContextPlan:
    """The fastest path that gives the result of the formula."""
    causal, product = type(extent) is Causal, type(score) in (Dot, ScaledDot) and type(distribution) is Softmax
    plain = type(extent) is Everything or (causal and query_at is None and are_equally_many(query, prepared.value))
    if plain and type(distribution) is Proportional and isinstance(score, Kernel):
        if linear_is_cheaper(query, prepared, causal=causal):
            return ContextPlan("linear", "φ(q) (φ(k)ᵀ v) is less work than (φ(q) φ(k)ᵀ) v")
        return ContextPlan("formula", "there are too few queries and keys for linear attention to be less work")
    if plain and product and prepared.valid is None:
        return ContextPlan("sdpa", "torch has kernels for a softmax of products over all keys or all earlier ones")
    reason: str | None = f"the template runs on a GPU, and the query is on the {query.device.type}"
    if query.is_cuda:
        reason = decline_reason(score, distribution, extent, query, prepared, query_at)
    if reason is None:
        return ContextPlan("template", "one Triton kernel computes scores, weights and context without storing weights")
    cover = () if plain or query_at is not None else sparse_cover(score, extent, query, prepared)
    if cover:
        return ContextPlan("groups", f"most keys are hidden, and groups of near ones are cut out; {reason}", cover)
    view = view_of(extent, query, prepared, query_at=query_at) if product else None
    if view is not None and view.factor is None:
        return ContextPlan("sdpa with a mask", f"torch has kernels for a softmax of products; {reason}", view=view)
    return ContextPlan("formula", f"weights are computed, then multiplied with the values; {reason}")


def fused_context(
    score: Score,
    distribution: Distribution,
    extent: Extent,
    query: Tensor,
    prepared: PreparedKeys,
    *,
    query_at: Tensor | None,
) -> Tensor | None:
    """The context by the planned path; None: it must be computed by the formula."""
    plan = plan_context(score, distribution, extent, query, prepared, query_at=query_at)
    if plan.path == "linear" and isinstance(score, Kernel):
        return linear_context(score, query, prepared, causal=type(extent) is Causal)
    if plan.path == "sdpa":
        return product_attention(score, query, prepared, is_causal=type(extent) is Causal)
    if plan.path == "template":
        return template_context(score, distribution, extent, query, prepared, query_at)
    if plan.path == "groups":
        if len(plan.cover) == 1 and type(score) in (Dot, ScaledDot) and type(distribution) is Softmax:
            grouped = Grouped(plan.cover[0], query, prepared)
            if grouped.view.factor is None:
                return grouped.merge(masked_product(score, grouped.query, grouped.prepared, grouped.view))
        return sparse_context(score, distribution, plan.cover, query, prepared)
    return None if plan.view is None else masked_product(score, query, prepared, plan.view)


def direct_context(plain: tuple[float | None, bool], query: Tensor, key: Tensor, value: Tensor) -> Tensor | None:
    """The context of a plain product with a batch and a head axis; None: its inputs need a closer look.

    It is a short way to torch's kernel, as every microsecond counts for a short sequence on a GPU.
    """
    scale, causal = plain
    if not type(query) is type(key) is type(value) is Tensor or torch.compiler.is_compiling():
        return None
    shape = query.shape
    if len(shape) != 4 or key.shape != value.shape or shape[3] != key.shape[3] or shape[:2] != key.shape[:2]:
        return None
    if (causal and shape[2] != key.shape[2]) or not key.shape[2]:
        return None
    with kernels_for(key):
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=None, is_causal=causal, scale=scale)


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
    key = key.to(features.dtype)
    value = functional.pad(prepared.value.to(key.dtype), (0, 1), value=1.0)  # a one beside each value sums the kernel
    summed = causal_sums(features, key, value) if causal else features @ (key.mT @ value)
    return divide_safely(summed[..., :-1], summed[..., -1:]).to(prepared.value.dtype)


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


class WithoutCudnn:
    """A block in which torch takes no kernel of cuDNN, which plans anew for every shape."""

    def __enter__(self) -> None:
        self.was_enabled: bool = torch.backends.cuda.cudnn_sdp_enabled()  # type: ignore[no-untyped-call]
        torch.backends.cuda.enable_cudnn_sdp(False)

    def __exit__(self, *error: object) -> None:
        torch.backends.cuda.enable_cudnn_sdp(self.was_enabled)


def kernels_for(key: Tensor) -> AbstractContextManager[None]:
    """The kernels to choose from: not cuDNN for short keys on a GPU."""
    if not key.is_cuda or torch.compiler.is_compiling() or key.size(-2) >= CUDNN_KEYS:
        return EVERY_KERNEL
    return WithoutCudnn()


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
