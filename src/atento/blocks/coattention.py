"""Co-attention of two sequences (Lu et al., 2016): each is pooled with weights that depend on the other.

`ParallelCoAttention` weighs both at once by their affinity, `AlternatingCoAttention` one after the other.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention, validate_kinds
from atento.attention.distributions.distributions import Distribution
from atento.attention.requirements import require_positive
from atento.attention.scores.product import Score
from atento.blocks.pooling import require_cross_sequence
from atento.errors import InputError
from atento.layers.masking import clean, require_items
from atento.layers.products import Linear

# Axes: B batch, T items of the first sequence, N items of the second, H hidden.


class CoAttentionOutput(NamedTuple):
    """Both sequences, pooled."""

    first: Tensor  # (B, first_size)
    second: Tensor  # (B, second_size)


class CoAttentionWeights(NamedTuple):
    """The attention weights of both sequences."""

    first: Tensor  # (B, T)
    second: Tensor  # (B, N)


class ParallelCoAttention(nn.Module):
    """Both sequences weighed at once by their affinity C = tanh(X W Y) (Lu et al., 2016, eq. 3–5):

    a_X = p(w · tanh(W_x X + C W_y Y)), a_Y = p(v · tanh(W_y Y + Cᵀ W_x X)). The affinity is any score whose query is
    the first sequence and whose key is the second; the paper's is `ActivatedGeneral`, without its bias.
    """

    def __init__(
        self, first_size: int, second_size: int, *, hidden_size: int, affinity: Score, distribution: Distribution
    ) -> None:
        super().__init__()
        require_positive("ParallelCoAttention", first_size=first_size, second_size=second_size, hidden_size=hidden_size)
        validate_kinds("scores", distribution.takes, found=f"ParallelCoAttention, {type(distribution).__name__}")
        if affinity.gives == "opposed":
            raise InputError(
                "ParallelCoAttention: affinity must give one matrix, and this score gives two.",
                found=type(affinity).__name__,
                fix="give a score of one matrix, e.g. ActivatedGeneral(first_size, second_size)",
            )
        self.affinity, self.distribution = affinity, distribution
        self.map_first = Linear(first_size, hidden_size, bias=False)
        self.map_second = Linear(second_size, hidden_size, bias=False)
        self.score_first = Linear(hidden_size, 1, bias=False)
        self.score_second = Linear(hidden_size, 1, bias=False)

    def forward(
        self, first: Tensor, second: Tensor, *, first_valid: Tensor | None = None, second_valid: Tensor | None = None
    ) -> CoAttentionOutput:
        """first (B, T, first_size), second (B, N, second_size), each with its own valid."""
        weights = self.weights(first, second, first_valid=first_valid, second_valid=second_valid)
        return CoAttentionOutput(
            (weights.first.unsqueeze(-2) @ clean(first, first_valid)).squeeze(-2),
            (weights.second.unsqueeze(-2) @ clean(second, second_valid)).squeeze(-2),
        )

    def weights(
        self, first: Tensor, second: Tensor, *, first_valid: Tensor | None = None, second_valid: Tensor | None = None
    ) -> CoAttentionWeights:
        """The weights of both sequences."""
        require_items("first", first, first_valid, width=self.map_first.in_features)
        require_items("second", second, second_valid, width=self.map_second.in_features)
        first, second = clean(first, first_valid), clean(second, second_valid)
        affinity = self.affinity(first, second)  # (B, T, N)
        from_first, from_second = self.map_first(first), self.map_second(second)  # zero at padding: no bias
        hidden_first = torch.tanh(from_first + affinity @ from_second)  # (B, T, H)
        hidden_second = torch.tanh(from_second + affinity.mT @ from_first)  # (B, N, H)
        return CoAttentionWeights(
            self.normalize(self.score_first(hidden_first), first_valid),
            self.normalize(self.score_second(hidden_second), second_valid),
        )

    def normalize(self, scores: Tensor, valid: Tensor | None) -> Tensor:
        """Weights (B, T) of scores (B, T, 1), zero at padding."""
        visible = torch.ones_like(scores, dtype=torch.bool) if valid is None else valid.unsqueeze(-1)
        weights: Tensor = self.distribution(scores.mT, visible.mT)
        return weights.squeeze(-2)


class AlternatingCoAttention(nn.Module):
    """One sequence weighed after the other, by three attentions (Lu et al., 2016, eq. 6, with `Additive` and softmax).

    `opening` pools the first sequence with a query of zeros, `across` the second with that as its query, and `closing`
    the first again with the result as its query. Their widths: opening and closing take queries of the second
    sequence's width and keys of the first's, across the other way round.
    """

    def __init__(
        self, first_size: int, second_size: int, *, opening: Attention, across: Attention, closing: Attention
    ) -> None:
        super().__init__()
        require_positive("AlternatingCoAttention", first_size=first_size, second_size=second_size)
        for attention in (opening, across, closing):
            require_cross_sequence("AlternatingCoAttention", attention)
        self.first_size, self.second_size = first_size, second_size
        self.opening, self.across, self.closing = opening, across, closing

    def forward(
        self, first: Tensor, second: Tensor, *, first_valid: Tensor | None = None, second_valid: Tensor | None = None
    ) -> CoAttentionOutput:
        """first (B, T, first_size), second (B, N, second_size), each with its own valid."""
        first_pooled = self.pool_first(first, first_valid)
        second_pooled = self.pool_second(first_pooled, second, second_valid)
        summed: Tensor = self.closing(second_pooled, first, first, valid=first_valid)
        return CoAttentionOutput(summed.squeeze(-2), second_pooled.squeeze(-2))

    def weights(
        self, first: Tensor, second: Tensor, *, first_valid: Tensor | None = None, second_valid: Tensor | None = None
    ) -> CoAttentionWeights:
        """The final weights of each sequence: of `closing` and of `across`."""
        first_pooled = self.pool_first(first, first_valid)
        second_pooled = self.pool_second(first_pooled, second, second_valid)
        return CoAttentionWeights(
            self.closing.weights(second_pooled, first, valid=first_valid).squeeze(-2),
            self.across.weights(first_pooled, second, valid=second_valid).squeeze(-2),
        )

    def pool_first(self, first: Tensor, valid: Tensor | None) -> Tensor:
        """The first sequence pooled with a query of zeros: (B, 1, first_size)."""
        require_items("first", first, valid, width=self.first_size)
        zeros = first.new_zeros(*first.shape[:-2], 1, self.second_size)
        return self.opening(zeros, first, first, valid=valid)

    def pool_second(self, first_pooled: Tensor, second: Tensor, valid: Tensor | None) -> Tensor:
        """The second sequence pooled with the first as its query: (B, 1, second_size)."""
        require_items("second", second, valid, width=self.second_size)
        return self.across(first_pooled, second, second, valid=valid)
