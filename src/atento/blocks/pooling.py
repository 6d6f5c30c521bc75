"""Pooling of a sequence to one vector: mean, maximum, last item, or attention with a learned query."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.requirements import require_positive
from atento.blocks.multi_dimensional import MultiDimensionalAttention
from atento.errors import InputError
from atento.layers.masking import clean, masked_max, masked_mean, require_items

# Axes: B batch (any number of leading axes), T time, D size.


class Pooling(nn.Module, ABC):
    """Base of all poolings: values (B, T, D), valid (B, T) -> (B, D). A row with no valid item gives zeros."""

    def forward(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The pooled valid items; valid None: all are."""
        require_items("values", values, valid)
        return self.pool(clean(values, valid), valid)

    @abstractmethod
    def pool(self, values: Tensor, valid: Tensor | None) -> Tensor:
        """The formula, of values that are zero at padding."""


class MeanPooling(Pooling):
    """The mean of the items."""

    def pool(self, values: Tensor, valid: Tensor | None) -> Tensor:
        """Σ x_t / n."""
        return values.mean(dim=-2) if valid is None else masked_mean(values, valid)


class MaxPooling(Pooling):
    """The largest value of each feature."""

    def pool(self, values: Tensor, valid: Tensor | None) -> Tensor:
        """max_t x_t, feature by feature."""
        return values.amax(dim=-2) if valid is None else masked_max(values, valid)


class LastPooling(Pooling):
    """The last item."""

    def pool(self, values: Tensor, valid: Tensor | None) -> Tensor:
        """x_n."""
        if valid is None:
            return values[..., -1, :]
        rank = torch.arange(1, values.size(-2) + 1, device=values.device)
        last = (rank * valid).argmax(dim=-1)  # 0 in a row with no item, which is zero there
        return values.take_along_dim(last[..., None, None], dim=-2).squeeze(-2)


class AttentionPooling(Pooling):
    """Attention with a learned query u of width `size`: Σ p(a(x_t, u)) x_t  (Yang et al., 2016, eq. 5–7)."""

    def __init__(self, size: int, attention: Attention | MultiDimensionalAttention) -> None:
        super().__init__()
        require_positive("AttentionPooling", size=size)
        require_cross_sequence("AttentionPooling", attention)
        self.attention = attention
        self.query = nn.Parameter(size**-0.5 * torch.randn(size))

    def pool(self, values: Tensor, valid: Tensor | None) -> Tensor:
        """The context of the learned query."""
        context: Tensor = self.attention(self.expanded_query(values), values, values, valid=valid)
        return context.squeeze(-2)

    def weights(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The weights of the items (B, T); with multi-dimensional attention, of each feature (B, D, T)."""
        require_items("values", values, valid)
        return self.attention.weights(self.expanded_query(values), values, valid=valid).squeeze(-2)

    def expanded_query(self, values: Tensor) -> Tensor:
        """The learned query for each row: (B, 1, size)."""
        return self.query.expand(*values.shape[:-2], 1, -1)


def require_cross_sequence(part: str, attention: Attention | MultiDimensionalAttention) -> None:
    """Raise unless the extent has a meaning for a query that is not an item of the sequence."""
    if not attention.extent.crosses_sequences:
        raise InputError(
            f"{part}: this extent has a meaning within one sequence only, and the query is not part of it.",
            found=repr(attention.extent),
            fix="use Everything(), or an extent that has a meaning from one sequence to another",
        )
