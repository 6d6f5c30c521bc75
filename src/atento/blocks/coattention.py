"""Co-attention: two sequences, each summed up with an eye on the other."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention, require_fit
from atento.attention.distributions.distributions import Distribution
from atento.attention.requirements import require_positive
from atento.attention.scores.product import Score
from atento.blocks.pooling import require_for_strangers
from atento.errors import InputError
from atento.layers.masking import clean, require_items

# Axes: B batch, T items of the first sequence, N items of the second, H hidden.


class CoAttended(NamedTuple):
    """Both sequences, summed up."""

    first: Tensor  # (B, first_size)
    second: Tensor  # (B, second_size)


class CoWeights(NamedTuple):
    """How much of each item."""

    first: Tensor  # (B, T)
    second: Tensor  # (B, N)


class ParallelCoAttention(nn.Module):
    """Both at once, through their affinity C = tanh(X W Y) (Lu et al., 2016, eq. 3–5):

    a_X = p(w · tanh(W_x X + C W_y Y)), a_Y = p(v · tanh(W_y Y + Cᵀ W_x X)). The affinity is any score whose query is
    the first sequence and whose key is the second; the paper's is `ActivatedGeneral`, without its bias.
    """

    def __init__(
        self, first_size: int, second_size: int, *, hidden_size: int, affinity: Score, distribution: Distribution
    ) -> None:
        super().__init__()
        require_positive("ParallelCoAttention", first_size=first_size, second_size=second_size, hidden_size=hidden_size)
        require_fit("scores", distribution.takes, found=f"ParallelCoAttention, {type(distribution).__name__}")
        if affinity.gives == "opposed":
            raise InputError(
                "ParallelCoAttention: the affinity is one matrix, and this score gives two.",
                found=type(affinity).__name__,
                fix="give a score of one matrix, e.g. ActivatedGeneral(first_size, second_size)",
            )
        self.affinity, self.distribution = affinity, distribution
        self.map_first = nn.Linear(first_size, hidden_size, bias=False)
        self.map_second = nn.Linear(second_size, hidden_size, bias=False)
        self.judge_first = nn.Linear(hidden_size, 1, bias=False)
        self.judge_second = nn.Linear(hidden_size, 1, bias=False)

    def forward(
        self, first: Tensor, second: Tensor, *, first_valid: Tensor | None = None, second_valid: Tensor | None = None
    ) -> CoAttended:
        """first (B, T, first_size), second (B, N, second_size), each with its own valid."""
        weights = self.weights(first, second, first_valid=first_valid, second_valid=second_valid)
        return CoAttended(
            (weights.first.unsqueeze(-2) @ clean(first, first_valid)).squeeze(-2),
            (weights.second.unsqueeze(-2) @ clean(second, second_valid)).squeeze(-2),
        )

    def weights(
        self, first: Tensor, second: Tensor, *, first_valid: Tensor | None = None, second_valid: Tensor | None = None
    ) -> CoWeights:
        """The weights of both sides."""
        require_items("first", first, first_valid, width=self.map_first.in_features)
        require_items("second", second, second_valid, width=self.map_second.in_features)
        first, second = clean(first, first_valid), clean(second, second_valid)
        affinity = self.affinity(first, second)  # (B, T, N)
        from_first, from_second = self.map_first(first), self.map_second(second)  # zero at padding: no bias
        seen_first = torch.tanh(from_first + affinity @ from_second)  # (B, T, H)
        seen_second = torch.tanh(from_second + affinity.mT @ from_first)  # (B, N, H)
        return CoWeights(
            self.share(self.judge_first(seen_first), first_valid),
            self.share(self.judge_second(seen_second), second_valid),
        )

    def share(self, scores: Tensor, valid: Tensor | None) -> Tensor:
        """Scores (B, T, 1) to weights (B, T), none of it to padding."""
        visible = torch.ones_like(scores, dtype=torch.bool) if valid is None else valid.unsqueeze(-1)
        weights: Tensor = self.distribution(scores.mT, visible.mT)
        return weights.squeeze(-2)


class AlternatingCoAttention(nn.Module):
    """One after the other (Lu et al., 2016, eq. 6): the first sequence is summed up unasked, that asks the second, and
    the answer asks the first again. Each step is an attention; the paper's is `Additive` with softmax.

    opening and closing: queries of the second sequence's width over keys of the first; across: the other way about.
    """

    def __init__(
        self, first_size: int, second_size: int, *, opening: Attention, across: Attention, closing: Attention
    ) -> None:
        super().__init__()
        require_positive("AlternatingCoAttention", first_size=first_size, second_size=second_size)
        for attention in (opening, across, closing):
            require_for_strangers("AlternatingCoAttention", attention)
        self.first_size, self.second_size = first_size, second_size
        self.opening, self.across, self.closing = opening, across, closing

    def forward(
        self, first: Tensor, second: Tensor, *, first_valid: Tensor | None = None, second_valid: Tensor | None = None
    ) -> CoAttended:
        """first (B, T, first_size), second (B, N, second_size), each with its own valid."""
        opened = self.open_first(first, first_valid)
        answer = self.ask_second(opened, second, second_valid)
        summed: Tensor = self.closing(answer, first, first, valid=first_valid)
        return CoAttended(summed.squeeze(-2), answer.squeeze(-2))

    def weights(
        self, first: Tensor, second: Tensor, *, first_valid: Tensor | None = None, second_valid: Tensor | None = None
    ) -> CoWeights:
        """The weights of the last look at each side."""
        opened = self.open_first(first, first_valid)
        answer = self.ask_second(opened, second, second_valid)
        return CoWeights(
            self.closing.weights(answer, first, valid=first_valid).squeeze(-2),
            self.across.weights(opened, second, valid=second_valid).squeeze(-2),
        )

    def open_first(self, first: Tensor, valid: Tensor | None) -> Tensor:
        """The first sequence, asked with a query of zeros: (B, 1, first_size)."""
        require_items("first", first, valid, width=self.first_size)
        nothing = first.new_zeros(*first.shape[:-2], 1, self.second_size)
        opened: Tensor = self.opening(nothing, first, first, valid=valid)
        return opened

    def ask_second(self, opened: Tensor, second: Tensor, valid: Tensor | None) -> Tensor:
        """What the second sequence answers: (B, 1, second_size)."""
        require_items("second", second, valid, width=self.second_size)
        answer: Tensor = self.across(opened, second, second, valid=valid)
        return answer
