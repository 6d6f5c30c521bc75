"""Second derivatives where a backward pass is written by hand: by a formula, whose gradients have a graph."""

from collections.abc import Callable

import torch
from torch import Tensor


def by_formula(
    formula: Callable[..., tuple[Tensor, ...]], parts: tuple[Tensor, ...], upstream: tuple[Tensor, ...]
) -> tuple[Tensor | None, ...]:
    """The gradients of `parts`, with a graph of their own: for a second derivative."""
    with torch.enable_grad():
        wanted = [part for part in parts if part.requires_grad]
        gradients = iter(torch.autograd.grad(formula(*parts), wanted, upstream, create_graph=True, allow_unused=True))
        return tuple(next(gradients) if part.requires_grad else None for part in parts)
