"""Multi-dimensional attention (Shen et al., 2018): a weight for each feature of an item instead of one for the item."""

import torch
from torch import Tensor, nn

from atento.attention.attention import validate_kinds
from atento.attention.distributions.distributions import Distribution
from atento.attention.extents.extents import Extent, PreparedKeys, View, view_of
from atento.attention.requirements import require_positive
from atento.layers.activations import ActivationFn, expansion
from atento.layers.masking import clean, require_items, require_same_items
from atento.layers.products import Linear

# Axes: B batch (any number of leading axes), Q queries, K keys, H hidden, D value size.


class MultiDimensionalAttention(nn.Module):
    """Attention with scores for each feature, W act(W₁ k + W₂ q + b₁) + b  (Shen et al., 2018, sec. 3.1).

    query (B, Q, query_size), key (B, K, key_size), value (B, K, D) -> (B, Q, D). It is called as an `Attention` is.
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
        activation: ActivationFn = torch.tanh,
    ) -> None:
        super().__init__()
        require_positive("MultiDimensionalAttention", query_size=query_size, key_size=key_size, value_size=value_size)
        require_positive("MultiDimensionalAttention", hidden_size=hidden_size)
        validate_kinds("scores", distribution.takes, found=f"MultiDimensionalAttention, {type(distribution).__name__}")
        self.distribution, self.extent, self.activation = distribution, extent, activation
        width = hidden_size * expansion(activation)
        self.project_query = Linear(query_size, width)
        self.project_key = Linear(key_size, width, bias=False)
        self.to_scores = Linear(hidden_size, value_size)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The context of each query; valid (B, K)."""
        return self.read(query, self.prepare(key, value, valid=valid))

    def prepare(self, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> PreparedKeys:
        """The keys and values as all queries need them, computed once."""
        require_items("key", key, valid, width=self.project_key.in_features)
        require_items("value", value, valid, width=self.to_scores.out_features)
        require_same_items(key, value)
        return PreparedKeys(self.project_key(clean(key, valid)), clean(value, valid), valid)

    def read(self, query: Tensor, prepared: PreparedKeys, *, query_at: Tensor | None = None) -> Tensor:
        """Σ_k w_kd v_kd, feature by feature: (B, Q, D)."""
        weights = self.weights_from(query, prepared, query_at=query_at)
        return torch.einsum("...dqk,...kd->...qd", weights, prepared.value)

    def weights_from(self, query: Tensor, prepared: PreparedKeys, *, query_at: Tensor | None = None) -> Tensor:
        """The weights (B, D, Q, K) of prepared keys, a distribution for each feature."""
        require_items("query", query, None, width=self.project_query.in_features)
        projected = self.project_query(query).unsqueeze(-2)  # (B, Q, 1, H)
        scores = self.to_scores(self.activation(projected + prepared.key.unsqueeze(-3))).movedim(-1, -3)
        view = broadcast_over_features(view_of(self.extent, query, prepared, query_at=query_at))
        return view.scale(self.distribution(view.add_bias(scores), view.visible))

    def weights(self, query: Tensor, key: Tensor, *, valid: Tensor | None = None, rows: slice = slice(None)) -> Tensor:
        """The weights (B, D, rows, K) of some queries."""
        value = key.new_zeros(*key.shape[:-1], self.to_scores.out_features)
        query_at = torch.arange(query.size(-2), device=query.device)[rows]
        return self.weights_from(query[..., rows, :], self.prepare(key, value, valid=valid), query_at=query_at)


def broadcast_over_features(view: View) -> View:
    """A view of (..., Q, K) as one of (..., 1, Q, K)."""
    bias = None if view.bias is None else view.bias.unsqueeze(-3)
    factor = None if view.factor is None else view.factor.unsqueeze(-3)
    return View(view.visible.unsqueeze(-3), bias, factor)
