"""What an optimiser does, step by step: how large the gradients are, and how far each step moves the weights."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

LOWEST, HIGHEST, BINS = -12.0, 4.0, 64  # of log10 |x|


class Spread(NamedTuple):
    """The sizes |x| of many numbers."""

    counts: list[int]  # how many have a log10 |x| in each of BINS equal bins; what lies outside is in the first or last
    zeros: int
    median: float
    norm: float


class Observed(NamedTuple):
    """One step."""

    step: int  # the first is 1
    gradients: Spread
    updates: Spread  # new weights less old ones


class Recorder:
    """Watches a module's weights.

    >>> from torch import nn, optim
    >>> module = nn.Linear(3, 2)
    >>> optimiser, recorder = optim.Adam(module.parameters()), Recorder(module)
    >>> module(torch.ones(1, 3)).sum().backward()
    >>> with recorder.watch():
    ...     optimiser.step()
    >>> [seen.step for seen in recorder.seen]
    [1]
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.seen: list[Observed] = []

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Around the optimiser's step: the gradients before it, then what it changed."""
        weights = [weight for weight in self.module.parameters() if weight.requires_grad]
        gradients = spread(weight.grad for weight in weights if weight.grad is not None)
        before = [weight.detach().clone() for weight in weights]
        yield
        updates = spread(weight.detach() - old for weight, old in zip(weights, before, strict=True))
        self.seen.append(Observed(len(self.seen) + 1, gradients, updates))


@torch.no_grad()
def spread(parts: Iterable[Tensor]) -> Spread:
    """All numbers of all tensors as one."""
    sizes = torch.cat([part.flatten().abs() for part in parts] or [torch.zeros(0)]).double()
    some = sizes[sizes > 0]
    place = (some.log10() - LOWEST) / (HIGHEST - LOWEST) * BINS
    counts = place.long().clamp(0, BINS - 1).bincount(minlength=BINS)
    median = sizes.median().item() if len(sizes) else 0.0
    return Spread(counts.tolist(), len(sizes) - len(some), median, sizes.norm().item())


def edges() -> list[float]:
    """The borders of the bins, in log10 |x|: one more than there are bins."""
    return [LOWEST + (HIGHEST - LOWEST) * border / BINS for border in range(BINS + 1)]
