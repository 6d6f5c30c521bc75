"""Modules and tensors of a call in the form of the template: plugs, four axes, and what torch computes first."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from atento.attention.distributions.distributions import DeAttention, Distribution, Entmax, Sigmoid, Softmax, Sparsemax
from atento.attention.distributions.hard import Hard
from atento.attention.extents.extents import Causal, Extent, Intersection, PreparedKeys
from atento.attention.extents.local import AdaptiveSpan, Alibi, PredictiveLocal, RelativeBias, Window
from atento.attention.extents.sparse import BlockLocal, Fixed, Strided
from atento.attention.fast.gpu.plan import common_dtype, count
from atento.attention.requirements import require_heads
from atento.attention.scores.learned import Additive
from atento.attention.scores.product import ActivatedGeneral, BiasedGeneral, ScaledDot, Score
from atento.attention.scores.similarity import Opposed, Similarity, unit

if TYPE_CHECKING:
    from atento.attention.fast.gpu.extents import ExtentPlug

# Axes: B batch, H heads, Q queries, K keys, D size.

FOLDED = 16  # positions of a folded sequence, and such sequences, from which folding is worth its second kernel
PAIRS = 1 << 26  # distances of de-attention stored at a time


def template_context(
    score: Score,
    distribution: Distribution,
    extent: Extent,
    query: Tensor,
    prepared: PreparedKeys,
    query_at: Tensor | None,
) -> Tensor:
    """The context (L, Q, V) by the template, for a composition and inputs that it takes."""
    from atento.attention.fast.gpu import context, launch

    rows = PAIRS // max(1, prepared.key[..., 0].numel()) if type(distribution) is DeAttention else query.size(-2)
    if max(1, rows) < query.size(-2):
        at = torch.arange(query.size(-2), device=query.device) if query_at is None else query_at
        some = zip(query.split(max(1, rows), dim=-2), at.split(max(1, rows)), strict=True)
        parts = [template_context(score, distribution, extent, part, prepared, places) for part, places in some]
        return torch.cat(parts, dim=-2)
    dtype, leading = common_dtype(query, prepared), query.shape[:-2]
    prepared_score = prepare_score(score, query, prepared.key)
    lead = leading
    if not lead == prepared.value.shape[:-2] == prepared.key.shape[:-2]:
        lead = torch.broadcast_shapes(lead, prepared.value.shape[:-2], prepared.key.shape[:-2])
    raw = four_axes(query, lead)
    query, key, value = (
        four_axes(part.to(dtype), lead) for part in (prepared_score.query, prepared_score.key, prepared.value)
    )
    valid = None if prepared.valid is None else four_axes(prepared.valid.unsqueeze(-1), lead).squeeze(-1)
    heads = query.size(1)
    orders = None
    if type(distribution) is Entmax and (distribution.raw is not None or distribution.fixed not in (1.5, 2.0)):
        require_heads("Entmax", query, distribution.heads)
        orders = distribution.order().to(query.device, torch.float32).reshape(-1).expand(heads).contiguous()
    first = None
    if extent.counts_real and valid is not None:
        first = valid.to(torch.uint8).argmax(dim=-1).to(torch.int32).contiguous()
    plug, table = extent_plug(extent, query)
    composition = launch.composition_of(prepared_score.kind, distribution_plug(distribution, query), plug)
    if table is not None and type(extent) is not Intersection:
        require_heads(type(extent).__name__, query, extent.heads)  # type: ignore[arg-type]
    stride = folding_stride(score, distribution, extent, query, key)
    if stride and valid is None and query_at is None:
        from atento.attention.fast.gpu.strided import strided_context

        causal, scale = count(extent, (Causal,)) > 0, prepared_score.scale
        found = strided_context(query, key, value, stride, causal=causal, scale=scale)
        return found.reshape(*lead, *found.shape[-2:])
    fields: dict[str, Any] = {
        "valid": valid,
        "positions": None if query_at is None else query_at.contiguous(),
        "first": first,
        "scale": prepared_score.scale,
        "sharpness": prepared_score.sharpness,
    }
    if type(distribution) is Hard and distribution.training:
        fields["uniform"] = torch.rand(query.shape[:3], device=query.device)
        fields["chosen"] = torch.empty(query.shape[:3], dtype=torch.int32, device=query.device)
    centres, order = None, None
    if isinstance(extent, PredictiveLocal):
        query, centres, order = by_position(extent, raw, query, valid, key.size(2))
        if valid is not None:
            counted = valid.cumsum(dim=-1, dtype=torch.int32)
            fields |= {"places": counted - 1, "slack": valid.size(-1) - counted[..., -1].contiguous()}
    far = [
        None if part is None else four_axes(part, lead) for part in (prepared_score.far_query, prepared_score.far_key)
    ]
    tensors = query, key, value, prepared_score.weight, prepared_score.offset, table, orders, centres, *far
    found = context.template(composition, fields, tensors)
    if order is not None:
        found = torch.empty_like(found).scatter(2, order.expand_as(found), found)
    return found.reshape(*lead, *found.shape[-2:])


def folding_stride(score: Score, distribution: Distribution, extent: Extent, query: Tensor, key: Tensor) -> int:
    """The stride of an extent whose far keys are worth folding; 0: there is none."""
    parts = [extent.left, extent.right] if isinstance(extent, Intersection) else [extent]
    strides = [part.stride for part in parts if type(part) is Strided]
    plain = all(type(part) in (Strided, Causal) for part in parts) and len(strides) == 1
    if not plain or type(score) is ActivatedGeneral or type(distribution) is not Softmax:
        return 0
    length, stride = key.size(2), strides[0]
    worth_it = query.size(2) == length and length % stride == 0 and min(stride, length // stride) >= FOLDED
    return stride if worth_it else 0


def by_position(
    extent: PredictiveLocal, raw: Tensor, query: Tensor, valid: Tensor | None, keys: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries and the positions they predict, in the order of the positions, and that order (B, H, Q, 1).

    Queries of a block of the template then see nearly the same keys.
    """
    real = torch.ones(1, keys, dtype=torch.bool, device=query.device) if valid is None else valid
    with torch.autocast(query.device.type, enabled=False):
        centres = extent.centre(raw.to(extent.collapse.weight.dtype), real).expand(query.shape[:3])
    order = centres.detach().argsort(dim=-1).unsqueeze(-1)
    taken = query.gather(2, order.expand_as(query))
    return taken, centres.unsqueeze(-1).gather(2, order).squeeze(-1).float().contiguous(), order


class PreparedScore(NamedTuple):
    """A score in the form of the template: what is compared, and how."""

    kind: str
    query: Tensor
    key: Tensor
    scale: float = 1.0
    weight: Tensor | None = None
    offset: Tensor | None = None
    far_query: Tensor | None = None
    far_key: Tensor | None = None
    sharpness: float = 1.0


def prepare_score(score: Score, query: Tensor, key: Tensor) -> PreparedScore:
    """Everything of a score that is not a sum over pairs, by torch."""
    if isinstance(score, Opposed):
        width = query.size(-1)
        similar = prepare_score(score.similar, query, key[..., : key.size(-1) - width])
        far_key = key[..., -width:]
        return similar._replace(kind="opposed", far_query=query, far_key=far_key, sharpness=score.distant.fixed)
    if isinstance(score, Additive):
        return PreparedScore("additive", score.project_query(query), key, weight=score.collapse.weight.squeeze(0))
    if isinstance(score, ActivatedGeneral):
        return PreparedScore("squashed", query, key, offset=score.bias.float())
    if isinstance(score, BiasedGeneral):
        return PreparedScore("product", score.map_query(query), key)
    if isinstance(score, Similarity):
        return PreparedScore("product", score.sharpness() * unit(query), unit(key))
    return PreparedScore("product", query, key, 1 / math.sqrt(query.size(-1)) if type(score) is ScaledDot else 1.0)


def distribution_plug(distribution: Distribution, query: Tensor) -> Any:
    """The plug of a distribution."""
    from atento.attention.fast.gpu import distributions

    if type(distribution) is Sigmoid:
        return distributions.SIGMOID if query.dtype == torch.float32 else distributions.SIGMOID_BY_TANH
    if type(distribution) is Entmax and distribution.raw is None:
        return {1.5: distributions.ENTMAX15, 2.0: distributions.SPARSEMAX}.get(distribution.fixed, distributions.ENTMAX)
    if type(distribution) is DeAttention:
        short = query.dtype != torch.float32
        return distributions.DE_ATTENTION_BY_TANH if short else distributions.DE_ATTENTION
    if type(distribution) is Hard:
        return distributions.DRAWN if distribution.training else distributions.ARGMAX
    known = {Softmax: distributions.SOFTMAX, Sparsemax: distributions.SPARSEMAX}
    return known.get(type(distribution), distributions.ENTMAX)


def extent_plug(extent: Extent, query: Tensor) -> "tuple[ExtentPlug, Tensor | None]":
    """The plug of an extent, and the numbers of its bias (H, 2)."""
    from atento.attention.fast.gpu import extents as plugs

    if type(extent) is Intersection:
        (left, of_left), (right, of_right) = (extent_plug(part, query) for part in (extent.left, extent.right))
        return left.join(right), of_left if of_right is None else of_right
    if isinstance(extent, Window):
        return plugs.ExtentPlug(extent.reach, extent.reach), None
    if isinstance(extent, Strided):
        return plugs.ExtentPlug(pattern=plugs.strided, first_size=extent.stride), None
    if isinstance(extent, Fixed):
        return plugs.ExtentPlug(pattern=plugs.fixed, first_size=extent.block, second_size=extent.summary), None
    if isinstance(extent, BlockLocal):
        before, after = ((blocks + 1) * extent.block - 1 for blocks in (extent.before, extent.after))
        blocks = extent.before * 65536 + extent.after
        return plugs.ExtentPlug(before, after, plugs.block_local, extent.block, blocks), None
    if isinstance(extent, Alibi):
        numbers = extent.slopes.view(-1, 1).float().expand(-1, 2)
        return plugs.ExtentPlug(bias=plugs.linear_bias), numbers.expand(query.size(1), 2).contiguous()
    if isinstance(extent, AdaptiveSpan):
        span = extent.span.view(-1, 1).float()
        numbers = torch.cat([span, torch.full_like(span, extent.ramp)], dim=-1)
        return plugs.ExtentPlug(bias=plugs.soft_span, span=True), numbers.expand(query.size(1), 2).contiguous()
    if isinstance(extent, RelativeBias):
        reach = torch.full((query.size(1), 1), float(extent.reach), device=query.device)
        table = torch.cat([reach, extent.table.float().mT.expand(query.size(1), -1)], dim=-1)
        return plugs.ExtentPlug(bias=plugs.relative_bias, relative=extent.reach), table
    if isinstance(extent, PredictiveLocal):
        return plugs.ExtentPlug(reach=extent.reach), None
    return plugs.ExtentPlug(after=0) if isinstance(extent, Causal) else plugs.ExtentPlug(), None


def four_axes(part: Tensor, lead: torch.Size) -> Tensor:
    """A tensor (L, T, D) as (B, H, T, D), features side by side; broadcast axes are not copied."""
    if part.dim() == 4 and part.shape[:2] == lead:
        return part if part.stride(-1) == 1 else part.contiguous()
    part = part.expand(*lead, *part.shape[-2:])
    if len(lead) > 2:
        part = part.flatten(0, -4)
    while part.dim() < 4:
        part = part.unsqueeze(1 if part.dim() == 3 else 0)  # one head
    return part if part.stride(-1) == 1 else part.contiguous()
