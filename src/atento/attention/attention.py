"""The composition: A(q, K, V) = Σ p(a(k_i, q)) v_i."""

import torch
from torch import Tensor, nn

from atento.attention.dispatch import fused_context
from atento.attention.distributions import Distribution
from atento.attention.extents import Extent
from atento.attention.meaning import require_meaning
from atento.attention.prepared import Prepared, look
from atento.attention.scores import Score
from atento.layers.padding import clean
from atento.layers.shapes import require_keys

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
