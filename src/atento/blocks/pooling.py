"""Pooling: a whole sequence in one vector."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.requirements import require_positive
from atento.blocks.multi_dimensional import MultiDimensional
from atento.errors import InputError
from atento.layers.masking import clean, masked_mean, require_items

# Axes: B batch (any number of leading axes), T time, D size.


class Pooling(nn.Module, ABC):
    """values (B, T, D), valid (B, T) -> (B, D). A row with no item gives zeros."""

    def forward(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """Sum the real items up; None: all are."""
        require_items("values", values, valid)
        return self.pool(clean(values, valid), valid)

    @abstractmethod
    def pool(self, values: Tensor, valid: Tensor | None) -> Tensor:
        """The formula; what is padded is zero already."""


class MeanPooling(Pooling):
    """The mean of the items."""

    def pool(self, values: Tensor, valid: Tensor | None) -> Tensor:
        """Σ x_t / n."""
        return values.mean(dim=-2) if valid is None else masked_mean(values, valid)


class MaxPooling(Pooling):
    """The largest value of each feature."""

    def pool(self, values: Tensor, valid: Tensor | None) -> Tensor:
        """max_t x_t, feature by feature."""
        if valid is None:
            return values.amax(dim=-2)
        lowest = torch.finfo(values.dtype).min
        largest = values.masked_fill(~valid.unsqueeze(-1), lowest).amax(dim=-2)
        return largest.masked_fill(~valid.any(dim=-1, keepdim=True), 0.0)


class LastPooling(Pooling):
    """The last item, as a recurrent encoder sums up."""

    def pool(self, values: Tensor, valid: Tensor | None) -> Tensor:
        """x_n."""
        if valid is None:
            return values[..., -1, :]
        rank = torch.arange(1, values.size(-2) + 1, device=values.device)
        last = (rank * valid).argmax(dim=-1)  # 0 in a row with no item, which is zero there
        return values.take_along_dim(last[..., None, None], dim=-2).squeeze(-2)


class AttentionPooling(Pooling):
    """One learned query asks the sequence (Yang et al., 2016, eq. 5–7): Σ p(a(x_t, u)) x_t. `size` is the query's."""

    def __init__(self, size: int, attention: Attention | MultiDimensional) -> None:
        super().__init__()
        require_positive("AttentionPooling", size=size)
        require_for_strangers("AttentionPooling", attention)
        self.attention = attention
        self.query = nn.Parameter(size**-0.5 * torch.randn(size))

    def pool(self, values: Tensor, valid: Tensor | None) -> Tensor:
        """The context of the one query."""
        context: Tensor = self.attention(self.asked(values), values, values, valid=valid)
        return context.squeeze(-2)

    def weights(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """How much of each item (B, T); with multi-dimensional attention of each feature of each item (B, D, T)."""
        require_items("values", values, valid)
        return self.attention.weights(self.asked(values), values, valid=valid).squeeze(-2)

    def asked(self, values: Tensor) -> Tensor:
        """The query, once for each row: (B, 1, size)."""
        return self.query.expand(*values.shape[:-2], 1, -1)


def require_for_strangers(part: str, attention: Attention | MultiDimensional) -> None:
    """A query that is no item of the sequence has no place in it for an extent to start from."""
    if not attention.extent.between:
        raise InputError(
            f"{part}: this extent has a meaning within one sequence only, and the query stands outside.",
            found=repr(attention.extent),
            fix="use Everything(), or an extent that has a meaning from one sequence to another",
        )
