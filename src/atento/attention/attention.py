"""Attention as a composition of score, distribution and extent: A(q, K, V) = Σ p(a(k_i, q)) v_i.

A composition without a meaning is refused when it is made, with the reason."""

from typing import Any

import torch
from torch import Tensor, nn

from atento.attention.distributions.distributions import Distribution, Softmax
from atento.attention.extents.extents import Causal, Everything, Extent, PreparedKeys, view_of
from atento.attention.fast.dispatch import ContextPlan, direct_context, fused_context, plan_context
from atento.attention.scores.product import Dot, Kind, ScaledDot, Score
from atento.errors import InputError
from atento.layers.masking import clean, require_keys
from atento.layers.torch_arguments import refuse_arguments
from atento.reprs import repr_html

# Axes: B batch (any number of leading axes), Q queries, K keys. The last axis is always features.

REASONS: dict[tuple[Kind, Kind], tuple[str, str]] = {  # (what a score gives, what a distribution takes): why not, fix
    ("kernel", "scores"): (
        "a kernel's φ(q) . φ(k) stands for exp(score) already, and can only be divided by its sum.",
        "take the distribution Proportional() (proportional)",
    ),
    ("kernel", "opposed"): (
        "de-attention needs a similarity of either sign, and a kernel's φ(q) . φ(k) is never negative.",
        "take the distribution Proportional() (proportional), or another score",
    ),
    ("scores", "kernel"): (
        "Proportional divides non-negative scores by their sum, and this score gives any number.",
        "take Softmax() (softmax), or a kernel score, Kernel(EluPlusOne()) (linear)",
    ),
    ("scores", "opposed"): (
        "de-attention needs two matrices: a similarity, and minus a distance.",
        "join two scores: Opposed(score, Similarity(minus_manhattan))",
    ),
    ("opposed", "scores"): (
        "this score gives two matrices, which only de-attention can combine.",
        "take the distribution DeAttention() (de-attention)",
    ),
    ("opposed", "kernel"): (
        "this score gives two matrices, which only de-attention can combine.",
        "take the distribution DeAttention() (de-attention)",
    ),
}


class Attention(nn.Module):
    """Attention with any score, any distribution and any extent.

    >>> from atento.attention import Additive, Causal, Sparsemax, Window
    >>> attention = Attention(Additive(64, 32, hidden_size=16), Sparsemax(), Causal() & Window(128))
    """

    def __init__(self, score: Score, distribution: Distribution, extent: Extent) -> None:
        super().__init__()
        validate_composition(score, distribution, extent)
        self.direct: tuple[float | None, bool] | None
        self.score, self.distribution, self.extent = score, distribution, extent

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "extent" or (name in ("score", "distribution") and "extent" in self._modules):
            known = type(self) is Attention  # a subclass may prepare its keys in another way
            self.direct = plain_product(self.score, self.distribution, self.extent) if known else None

    _repr_html_ = repr_html

    def with_extent(self, extent: Extent) -> "Attention":
        """The same score and distribution with another extent."""
        return Attention(self.score, self.distribution, extent)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, *, valid: Tensor | None = None, **unknown: object
    ) -> Tensor:
        """The context (B, Q, value_size) by the fastest path. valid (B, K): True for real keys; None: all are."""
        if unknown:
            refuse_arguments("Attention", unknown)
        context = direct_context(self.direct, query, key, value) if valid is None and self.direct is not None else None
        return self.read(query, self.prepare(key, value, valid=valid)) if context is None else context

    def prepare(self, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> PreparedKeys:
        """Compute once what does not depend on the query."""
        require_keys(key, value, valid)
        return PreparedKeys(self.score.prepare(clean(key, valid)), clean(value, valid), valid)

    def read(self, query: Tensor, prepared: PreparedKeys, *, query_at: Tensor | None = None) -> Tensor:
        """The context (B, Q, value_size) of queries at absolute positions; None: they start at position 0."""
        if self.direct is not None and prepared.valid is None and query_at is None:
            context = direct_context(self.direct, query, prepared.key, prepared.value)
            if context is not None:
                return context
        context = fused_context(self.score, self.distribution, self.extent, query, prepared, query_at=query_at)
        if context is None:  # no fast path computes this composition
            weights = self.weights_from(query, prepared, query_at=query_at)
            context = weights.to(prepared.value.dtype) @ prepared.value  # features of float16 are wider than it
        return context

    def plan(self, query: Tensor, key: Tensor, *, valid: Tensor | None = None) -> ContextPlan:
        """Which path computes the context of these inputs, and why; `print(attention.plan(query, key))` says it."""
        prepared = self.prepare(key, key, valid=valid)
        return plan_context(self.score, self.distribution, self.extent, query, prepared, query_at=None)

    def weights_from(self, query: Tensor, prepared: PreparedKeys, *, query_at: Tensor | None = None) -> Tensor:
        """The weights (B, Q, K) of queries over prepared keys, by the formula, whichever path computes the context."""
        view = view_of(self.extent, query, prepared, query_at=query_at)
        scores = view.add_bias(self.score.compare(query, prepared.key))
        return view.scale(self.distribution(scores, view.visible))

    def weights(self, query: Tensor, key: Tensor, *, valid: Tensor | None = None, rows: slice = slice(None)) -> Tensor:
        """The weights of the chosen rows of queries only; the context is still computed by the fast path."""
        query_at = torch.arange(query.size(-2), device=query.device)[rows]
        return self.weights_from(query[..., rows, :], self.prepare(key, key, valid=valid), query_at=query_at)


def plain_product(score: Score, distribution: Distribution, extent: Extent) -> tuple[float | None, bool] | None:
    """Scale and causality of a composition that torch's kernel computes as it is; None: of any other."""
    parts = type(score) in (Dot, ScaledDot), type(distribution) is Softmax, type(extent) in (Everything, Causal)
    return (1.0 if type(score) is Dot else None, type(extent) is Causal) if all(parts) else None


def validate_composition(score: Score, distribution: Distribution, extent: Extent) -> None:
    """Refuse a score, distribution and extent that do not fit together."""
    found = f"{type(score).__name__}, {type(distribution).__name__}"
    validate_kinds(score.gives, distribution.takes, found=found)
    if distribution.takes == "kernel" and extent.biased:
        raise InputError(
            "the bias of this extent is added to scores before an exponential, and Proportional has none.",
            found=f"{found}, {type(extent).__name__}",
            fix="take another extent, or Softmax() with another score",
        )


def validate_kinds(gives: Kind, takes: Kind, *, found: str) -> None:
    """The kind of scores that a score gives must be the kind that the distribution takes."""
    if gives != takes:
        problem, fix = REASONS[gives, takes]
        raise InputError(problem, found=found, fix=fix)
