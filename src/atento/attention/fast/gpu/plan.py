"""Which compositions the template computes, and why it leaves the others to the formula. Triton is not imported here.

A part is recognised by its exact type: a subclass may compute something else."""

import torch
from torch import Tensor

from atento.attention.distributions.distributions import DeAttention, Distribution, Entmax, Sigmoid, Softmax, Sparsemax
from atento.attention.distributions.hard import Hard
from atento.attention.extents.extents import Causal, Everything, Extent, Intersection, PreparedKeys
from atento.attention.extents.local import AdaptiveSpan, Alibi, PredictiveLocal, RelativeBias, Window
from atento.attention.extents.sparse import BlockLocal, Fixed, Strided
from atento.attention.scores.learned import Additive
from atento.attention.scores.product import ActivatedGeneral, BiasedGeneral, Dot, General, ScaledDot, Score
from atento.attention.scores.similarity import Opposed, Similarity, cosine, minus_manhattan
from atento.layers.activations import TANH

# Axes: B batch, H heads, Q queries, K keys, D size.

WIDEST = 1024  # of queries, keys and values: a block of 16 must fit on the chip
PRODUCTS = (Dot, ScaledDot, General, BiasedGeneral, ActivatedGeneral)
DISTRIBUTIONS = (Softmax, Sigmoid, Sparsemax, Entmax)
PATTERNS, BIASES = (Strided, Fixed, BlockLocal), (Alibi, AdaptiveSpan, RelativeBias)
EXTENTS = (Everything, Causal, Window, *PATTERNS, *BIASES, PredictiveLocal)
FEW = 1 << 24  # tanh of additive scores below which the formula is faster
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def score_reason(score: Score) -> str | None:
    """Why the template has no plug for a score; None: it has one."""
    if isinstance(score, (Additive, ActivatedGeneral)) and score.activation not in (torch.tanh, TANH):
        return "the activation of the score is not tanh"
    if type(score) is Opposed:
        measured = type(score.distant) is Similarity and score.distant.measure is minus_manhattan
        if not measured or score.distant.log_sharpness is not None:
            return "the template has de-attention with a Manhattan distance of fixed sharpness"
        if type(score.similar) in (Additive, ActivatedGeneral):
            return "the template opposes distances to products alone"
        return score_reason(score.similar)
    if type(score) in (*PRODUCTS, Additive) or (type(score) is Similarity and score.measure is cosine):
        return None
    return f"the template has no plug for the score {type(score).__name__}"


def distribution_reason(distribution: Distribution) -> str | None:
    """Why the template has no plug for a distribution; None: it has one."""
    if type(distribution) in DISTRIBUTIONS:
        return None
    if type(distribution) is DeAttention:
        return None if distribution.rescale == "double" else "the template doubles the sigmoid of de-attention"
    if type(distribution) is Hard:
        estimated = distribution.gradient == "straight-through" and not distribution.expected
        if distribution.training and not estimated:
            return "the template draws keys with the straight-through gradient alone"
        return None
    return f"the template has no plug for the distribution {type(distribution).__name__}"


def extent_reason(extent: Extent) -> str | None:
    """Why the template has no plug for an extent; None: it has one."""
    if type(extent) is Intersection:
        found = extent_reason(extent.left) or extent_reason(extent.right)
        if count(extent, (PredictiveLocal,)):
            return found or "the template joins windows around predicted positions with no other extent"
        patterns, biases = (count(extent, kinds) for kinds in (PATTERNS, BIASES))
        return found or ("the template joins one pattern and one bias" if max(patterns, biases) > 1 else None)
    return None if type(extent) in EXTENTS else f"the template has no plug for the extent {type(extent).__name__}"


def count(extent: Extent, kinds: tuple[type[Extent], ...]) -> int:
    """How many parts of a combined extent are of these kinds."""
    if type(extent) is Intersection:
        return count(extent.left, kinds) + count(extent.right, kinds)
    return int(type(extent) in kinds)


def parts_reason(score: Score, distribution: Distribution, extent: Extent) -> str | None:
    """Why the template does not compute a composition, whatever its inputs; None: it does."""
    return (
        score_reason(score)
        or distribution_reason(distribution)
        or extent_reason(extent)
        or joint_reason(score, distribution, extent)
    )


def joint_reason(score: Score, distribution: Distribution, extent: Extent) -> str | None:
    """Why the template has plugs for each part, but not for these together; None: it has."""
    if type(distribution) is DeAttention and (extent.biased or type(extent) is PredictiveLocal):
        return "the template adds no bias to two scores, and has no windows around predicted positions for them"
    if type(extent) is PredictiveLocal and (type(score) is Additive or type(distribution) not in (Softmax, Sigmoid)):
        return "the template has windows around predicted positions for products with a softmax or a sigmoid"
    learned = count(extent, (AdaptiveSpan, RelativeBias)) or (
        type(distribution) is Entmax and distribution.raw is not None
    )
    if type(score) is Additive and (learned or type(distribution) is Hard):
        return "the template draws keys, and learns spans, tables and α, by products, not by additive scores"
    return None


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
    best = type(distribution) is Hard and not distribution.training
    if best and torch.is_grad_enabled() and needs_gradient(query, prepared):
        return "the gradient of the best key is estimated by the formula"
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
