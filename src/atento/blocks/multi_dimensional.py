"""Multi-dimensional attention: a weight for each feature of an item, not one for the item."""

import torch
from torch import Tensor, nn

from atento.attention.attention import require_fit
from atento.attention.distributions.distributions import Distribution
from atento.attention.extents.extents import Extent, Prepared, View, look
from atento.attention.requirements import require_positive
from atento.attention.scores.product import Bend, wider
from atento.layers.masking import clean, require_items, require_pairs

# Axes: B batch (any number of leading axes), Q queries, K keys, H hidden, D value size.


class MultiDimensional(nn.Module):
    """A score for each feature, W act(W₁ k + W₂ q + b₁) + b, and so weights of its own (Shen et al., 2018, sec. 3.1).

    query (B, Q, query_size), key (B, K, key_size), value (B, K, D) -> (B, Q, D). It is asked as an `Attention` is.
    """

    def __init__(
        self,
        query_size: int,
        key_size: int,
        value_size: int,
        *,
        hidden_size: int,
        distribution: Distribution,
        extent: Extent,
        activation: Bend = torch.tanh,
    ) -> None:
        super().__init__()
        require_positive("MultiDimensional", query_size=query_size, key_size=key_size, value_size=value_size)
        require_positive("MultiDimensional", hidden_size=hidden_size)
        require_fit("scores", distribution.takes, found=f"MultiDimensional, {type(distribution).__name__}")
        self.distribution, self.extent, self.activation = distribution, extent, activation
        width = hidden_size * wider(activation)
        self.project_query = nn.Linear(query_size, width)
        self.project_key = nn.Linear(key_size, width, bias=False)
        self.judge = nn.Linear(hidden_size, value_size)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The context of each query; valid (B, K)."""
        return self.read(query, self.prepare(key, value, valid=valid))

    def prepare(self, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> Prepared:
        """Do once what no query changes."""
        require_items("key", key, valid, width=self.project_key.in_features)
        require_items("value", value, valid, width=self.judge.out_features)
        require_pairs(key, value)
        return Prepared(self.project_key(clean(key, valid)), clean(value, valid), valid)

    def read(self, query: Tensor, prepared: Prepared, *, query_at: Tensor | None = None) -> Tensor:
        """Σ_k w_kd v_kd, feature by feature: (B, Q, D)."""
        shares = self.share(query, prepared, query_at=query_at)
        return torch.einsum("...dqk,...kd->...qd", shares, prepared.value)

    def share(self, query: Tensor, prepared: Prepared, *, query_at: Tensor | None = None) -> Tensor:
        """The weights (B, D, Q, K): each feature shares its own out among the keys."""
        require_items("query", query, None, width=self.project_query.in_features)
        asked = self.project_query(query).unsqueeze(-2)  # (B, Q, 1, H)
        scores = self.judge(self.activation(asked + prepared.key.unsqueeze(-3))).movedim(-1, -3)
        view = alike_for_all_features(look(self.extent, query, prepared, query_at=query_at))
        return view.shade(self.distribution(view.tilt(scores), view.visible))

    def weights(self, query: Tensor, key: Tensor, *, valid: Tensor | None = None, rows: slice = slice(None)) -> Tensor:
        """The weights (B, D, rows, K) of the asked rows only."""
        value = key.new_zeros(*key.shape[:-1], self.judge.out_features)
        query_at = torch.arange(query.size(-2), device=query.device)[rows]
        return self.share(query[..., rows, :], self.prepare(key, value, valid=valid), query_at=query_at)


def alike_for_all_features(view: View) -> View:
    """A view of (..., Q, K) as one of (..., 1, Q, K)."""
    bias = None if view.bias is None else view.bias.unsqueeze(-3)
    factor = None if view.factor is None else view.factor.unsqueeze(-3)
    return View(view.visible.unsqueeze(-3), bias, factor)
