"""What a search gives, and the tokens it must know."""

from typing import NamedTuple

import torch
from torch import Tensor


class Marks(NamedTuple):
    """Token numbers with a meaning of their own."""

    start: int
    end: int
    forbidden: tuple[int, ...]  # never written: padding, the start mark, the unknown token


class Hypothesis(NamedTuple):
    """A written output and the sum of its tokens' log-probabilities, its end mark included."""

    tokens: tuple[int, ...]  # without start and end marks
    score: float


def log_probabilities(logits: Tensor, marks: Marks) -> Tensor:
    """Log-softmax (..., V) over the tokens that may be written."""
    barred = torch.zeros(logits.size(-1), dtype=torch.bool, device=logits.device)
    barred[list(marks.forbidden)] = True
    return logits.float().masked_fill(barred, -torch.inf).log_softmax(dim=-1)
