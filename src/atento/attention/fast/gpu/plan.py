"""Which compositions the template computes, and why it leaves the others to the formula. Triton is not imported here.

A part is recognised by its exact type: a subclass may compute something else."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from atento.attention.distributions.distributions import Distribution, Entmax, Sigmoid, Softmax, Sparsemax
from atento.attention.distributions.hard import Hard
from atento.attention.extents.extents import Causal, Everything, Extent, Intersection, PreparedKeys
from atento.attention.extents.local import AdaptiveSpan, Alibi, Window
from atento.attention.extents.sparse import BlockLocal, Fixed, Strided
from atento.attention.requirements import require_heads
from atento.attention.scores.learned import Additive
from atento.attention.scores.product import ActivatedGeneral, BiasedGeneral, Dot, General, ScaledDot, Score
from atento.attention.scores.similarity import Similarity, cosine, unit
from atento.layers.activations import TANH

if TYPE_CHECKING:
    from atento.attention.fast.gpu.extents import ExtentPlug

# Axes: B batch, H heads, Q queries, K keys, D size.

WIDEST = 1024  # of queries, keys and values: a block of 16 must fit on the chip
PRODUCTS = (Dot, ScaledDot, General, BiasedGeneral, ActivatedGeneral)
DISTRIBUTIONS = (Softmax, Sigmoid, Sparsemax, Entmax)
EXTENTS = (Everything, Causal, Window, Strided, Fixed, BlockLocal, Alibi, AdaptiveSpan)
FEW = 1 << 24  # tanh of additive scores below which the formula is faster
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def score_reason(score: Score) -> str | None:
    """Why the template has no plug for a score; None: it has one."""
    if isinstance(score, (Additive, ActivatedGeneral)) and score.activation not in (torch.tanh, TANH):
        return "the activation of the score is not tanh"
    if type(score) in (*PRODUCTS, Additive) or (type(score) is Similarity and score.measure is cosine):
        return None
    return f"the template has no plug for the score {type(score).__name__}"


def distribution_reason(distribution: Distribution) -> str | None:
    """Why the template has no plug for a distribution; None: it has one."""
    if type(distribution) in DISTRIBUTIONS:
        return None
    if type(distribution) is Hard:
        return "a hard choice is drawn by the formula in training" if distribution.training else None
    return f"the template has no plug for the distribution {type(distribution).__name__}"


def extent_reason(extent: Extent) -> str | None:
    """Why the template has no plug for an extent; None: it has one."""
    if type(extent) is Intersection:
        found = extent_reason(extent.left) or extent_reason(extent.right)
        patterns, biases = (count(extent, kinds) for kinds in ((Strided, Fixed, BlockLocal), (Alibi, AdaptiveSpan)))
        return found or ("the template joins one pattern and one bias" if max(patterns, biases) > 1 else None)
    return None if type(extent) in EXTENTS else f"the template has no plug for the extent {type(extent).__name__}"


def count(extent: Extent, kinds: tuple[type[Extent], ...]) -> int:
    """How many parts of a combined extent are of these kinds."""
    if type(extent) is Intersection:
        return count(extent.left, kinds) + count(extent.right, kinds)
    return int(type(extent) in kinds)


def parts_reason(score: Score, distribution: Distribution, extent: Extent) -> str | None:
    """Why the template does not compute a composition, whatever its inputs; None: it does."""
    return score_reason(score) or distribution_reason(distribution) or extent_reason(extent)


def names_without_plug() -> list[str]:
    """The names of scores, distributions and extents that the template leaves to other paths."""
    from atento.attention import presets

    sizes = presets.Sizes(query=8, key=8, heads=2)
    reasons = {
        **{name: score_reason(part.make(sizes)) for name, part in presets.SCORES.items()},
        **{name: distribution_reason(part.make(sizes)) for name, part in presets.DISTRIBUTIONS.items()},
        **{name: extent_reason(part.make(sizes)) for name, part in presets.EXTENTS.items()},
    }
    return [name for name, reason in reasons.items() if reason is not None]


def inputs_reason(
    distribution: Distribution, query: Tensor, prepared: PreparedKeys, query_at: Tensor | None
) -> str | None:
    """Why the template does not take these inputs; None: it does."""
    if torch.compiler.is_compiling():
        return "the call is being recorded, and the formula is fused by the compiler"
    dtype = common_dtype(query, prepared)
    if dtype not in DTYPES:
        return f"the template computes in short floats and float32, not in {dtype}"
    widest = max(query.size(-1), prepared.key.size(-1), prepared.value.size(-1))
    if widest > WIDEST:
        return f"the template takes widths up to {WIDEST}, and one of these is {widest}"
    if query_at is not None and query_at.dim() != 1:
        return "the positions of the queries differ from row to row"
    if type(distribution) is Hard and torch.is_grad_enabled() and needs_gradient(query, prepared):
        return "the gradient of a hard choice is estimated by the formula"
    return None if query.numel() and prepared.value.numel() else "there is nothing to compute"


def decline_reason(
    score: Score,
    distribution: Distribution,
    extent: Extent,
    query: Tensor,
    prepared: PreparedKeys,
    query_at: Tensor | None,
) -> str | None:
    """Why the template does not compute this call; None: it does."""
    reason = parts_reason(score, distribution, extent) or inputs_reason(distribution, query, prepared, query_at)
    if reason is not None:
        return reason
    if type(score) is Additive and query[..., 0].numel() * prepared.key.size(-2) * prepared.key.size(-1) < FEW:
        return "so few pairs of query and key are done before the template has started"
    if (
        type(score) in (Dot, ScaledDot)
        and type(distribution) is Softmax
        and common_dtype(query, prepared) == torch.float32
    ):
        return "torch is faster in float32"
    return None


def needs_gradient(query: Tensor, prepared: PreparedKeys) -> bool:
    """Whether any of the inputs needs a gradient."""
    return query.requires_grad or prepared.key.requires_grad or prepared.value.requires_grad


def common_dtype(query: Tensor, prepared: PreparedKeys) -> torch.dtype:
    """The dtype in which matrix products of these would run, under autocast too."""
    if torch.is_autocast_enabled(query.device.type):
        return torch.get_autocast_dtype(query.device.type)
    return torch.promote_types(torch.promote_types(query.dtype, prepared.key.dtype), prepared.value.dtype)


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

    dtype, leading = common_dtype(query, prepared), query.shape[:-2]
    prepared_score = prepare_score(score, query, prepared.key)
    lead = leading
    if not lead == prepared.value.shape[:-2] == prepared.key.shape[:-2]:
        lead = torch.broadcast_shapes(lead, prepared.value.shape[:-2], prepared.key.shape[:-2])
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
    fields = {
        "valid": valid,
        "positions": None if query_at is None else query_at.contiguous(),
        "first": first,
        "scale": prepared_score.scale,
    }
    tensors = query, key, value, prepared_score.weight, prepared_score.offset, table, orders
    found = context.template(composition, fields, tensors)
    return found.reshape(*lead, *found.shape[-2:])


class PreparedScore(NamedTuple):
    """A score in the form of the template: what is compared, and how."""

    kind: str
    query: Tensor
    key: Tensor
    scale: float = 1.0
    weight: Tensor | None = None
    offset: Tensor | None = None


def prepare_score(score: Score, query: Tensor, key: Tensor) -> PreparedScore:
    """Everything of a score that is not a sum over pairs, by torch."""
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
    known = {Softmax: distributions.SOFTMAX, Sparsemax: distributions.SPARSEMAX, Hard: distributions.ARGMAX}
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
