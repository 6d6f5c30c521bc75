"""The composition: A(q, K, V) = Σ p(a(k_i, q)) v_i.

Which compositions mean something. One that does not is refused when it is made, with the reason.
"""

import torch
from torch import Tensor, nn

from atento.attention.distributions.distributions import Distribution
from atento.attention.extents.extents import Extent, Prepared, look
from atento.attention.fast.dispatch import fused_context
from atento.attention.scores.product import Kind, Score
from atento.errors import InputError
from atento.layers.masking import clean, require_keys

REASONS: dict[tuple[Kind, Kind], tuple[str, str]] = {  # (what a score gives, what a distribution takes): why not, fix
    ("kernel", "scores"): (
        "a kernel's φ(q) . φ(k) stands for exp(score) already and is divided by its sum; nothing else goes on top.",
        "take the distribution Proportional() (proportional)",
    ),
    ("kernel", "opposed"): (
        "de-attention weighs a similarity of either sign, and a kernel's φ(q) . φ(k) is never negative.",
        "take the distribution Proportional() (proportional), or another score",
    ),
    ("scores", "kernel"): (
        "proportions are shares of numbers that are never negative, and this score gives any number.",
        "take Softmax() (softmax), or a kernel score, Kernel(EluPlusOne()) (linear)",
    ),
    ("scores", "opposed"): (
        "de-attention needs two matrices: how alike query and key are, and how far apart.",
        "join two scores: Opposed(score, Similarity(minus_manhattan))",
    ),
    ("opposed", "scores"): (
        "this score gives two matrices, and only de-attention makes one of them.",
        "take the distribution DeAttention() (de-attention)",
    ),
    ("opposed", "kernel"): (
        "this score gives two matrices, and only de-attention makes one of them.",
        "take the distribution DeAttention() (de-attention)",
    ),
}


def require_meaning(score: Score, distribution: Distribution, extent: Extent) -> None:
    """The parts of an attention must go together."""
    found = f"{type(score).__name__}, {type(distribution).__name__}"
    require_fit(score.gives, distribution.takes, found=found)
    if distribution.takes == "kernel" and extent.biased:
        raise InputError(
            "a bias is added to scores before an exponential, and proportions have none.",
            found=f"{found}, {type(extent).__name__}",
            fix="take another extent, or a softmax of scores",
        )


def require_fit(gives: Kind, takes: Kind, *, found: str) -> None:
    """What a score gives must be what the distribution takes."""
    if gives != takes:
        problem, fix = REASONS[gives, takes]
        raise InputError(problem, found=found, fix=fix)


# Axes: B batch (any number of leading axes), Q queries, K keys. The last axis is always features.


class Attention(nn.Module):
    """score × distribution × extent: how keys compare, share weight, come into view.

    >>> from atento.attention import Additive, Causal, Sparsemax, Window
    >>> attention = Attention(Additive(64, 32, hidden_size=16), Sparsemax(), Causal() & Window(128))
    """

    def __init__(self, score: Score, distribution: Distribution, extent: Extent) -> None:
        super().__init__()
        require_meaning(score, distribution, extent)
        self.score, self.distribution, self.extent = score, distribution, extent

    def through(self, extent: Extent) -> "Attention":
        """The same score and distribution, looking through another extent."""
        return Attention(self.score, self.distribution, extent)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The context of each query, by the fastest path there is. valid (B, K): True for real keys; None: all are."""
        return self.read(query, self.prepare(key, value, valid=valid))

    def prepare(self, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> Prepared:
        """Do once what no query changes."""
        require_keys(key, value, valid)
        return Prepared(self.score.prepare(clean(key, valid)), clean(value, valid), valid)

    def read(self, query: Tensor, prepared: Prepared, *, query_at: Tensor | None = None) -> Tensor:
        """The context (B, Q, value_size) of queries at absolute positions; None: the queries start at position 0."""
        context = fused_context(self.score, self.distribution, self.extent, query, prepared, query_at=query_at)
        if context is None:  # no kernel knows this composition: the formula itself
            context = self.share(query, prepared, query_at=query_at) @ prepared.value
        return context

    def share(self, query: Tensor, prepared: Prepared, *, query_at: Tensor | None = None) -> Tensor:
        """The weights (B, Q, K), by the formula, whatever path computes the context."""
        view = look(self.extent, query, prepared, query_at=query_at)
        scores = view.tilt(self.score.compare(query, prepared.key))
        return view.shade(self.distribution(scores, view.visible))

    def weights(self, query: Tensor, key: Tensor, *, valid: Tensor | None = None, rows: slice = slice(None)) -> Tensor:
        """The weights of the asked rows only; the fast path stays on for everything else."""
        query_at = torch.arange(query.size(-2), device=query.device)[rows]
        return self.share(query[..., rows, :], self.prepare(key, key, valid=valid), query_at=query_at)
