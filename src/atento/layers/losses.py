"""Losses. Each gives a sum and a count, so that micro-batches of any size add up to one batch exactly."""

from typing import NamedTuple

from torch import Tensor
from torch.nn import functional


class Loss(NamedTuple):
    """A total and the number of items in it; `mean` is what training follows."""

    total: Tensor
    items: int

    @property
    def mean(self) -> Tensor:
        """The loss of one item."""
        return self.total / max(self.items, 1)


def token_cross_entropy(logits: Tensor, targets: Tensor, *, smoothing: float = 0.0) -> Loss:
    """Cross-entropy of real tokens only: logits (M, V), targets (M,). Smoothing spreads a share over all classes."""
    total = functional.cross_entropy(logits.float(), targets, reduction="sum", label_smoothing=smoothing)
    return Loss(total, targets.numel())
