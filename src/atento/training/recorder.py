"""A recorder of optimizer steps: histograms of the magnitudes of gradients and of updates."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

LOWEST, HIGHEST, BINS = -12.0, 4.0, 64  # of the histogram of log10 |x|


class Magnitudes(NamedTuple):
    """The magnitudes |x| of many numbers."""

    counts: list[int]  # of log10 |x| in each of BINS equal bins; what lies outside is in the first or last
    zeros: int
    median: float
    norm: float


class OptimizerStep(NamedTuple):
    """The magnitudes of one step."""

    step: int  # the first is 1
    gradients: Magnitudes
    updates: Magnitudes  # new weights minus old ones


class Recorder:
    """Records the gradients and updates of a module's weights.

    >>> from torch import nn, optim
    >>> module = nn.Linear(3, 2)
    >>> optimizer, recorder = optim.Adam(module.parameters()), Recorder(module)
    >>> module(torch.ones(1, 3)).sum().backward()
    >>> with recorder.record():
    ...     optimizer.step()
    >>> [step.step for step in recorder.steps]
    [1]
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.steps: list[OptimizerStep] = []

    @contextmanager
    def record(self) -> Iterator[None]:
        """Record the gradients before the optimizer's step within it, and the updates after."""
        weights = [weight for weight in self.module.parameters() if weight.requires_grad]
        gradients = magnitudes(weight.grad for weight in weights if weight.grad is not None)
        before = [weight.detach().clone() for weight in weights]
        yield
        updates = magnitudes(weight.detach() - old for weight, old in zip(weights, before, strict=True))
        self.steps.append(OptimizerStep(len(self.steps) + 1, gradients, updates))


@torch.no_grad()
def magnitudes(parts: Iterable[Tensor]) -> Magnitudes:
    """The magnitudes of all numbers of some tensors."""
    sizes = torch.cat([part.flatten().abs() for part in parts] or [torch.zeros(0)]).double()
    some = sizes[sizes > 0]
    place = (some.log10() - LOWEST) / (HIGHEST - LOWEST) * BINS
    counts = place.long().clamp(0, BINS - 1).bincount(minlength=BINS)
    median = sizes.median().item() if len(sizes) else 0.0
    return Magnitudes(counts.tolist(), len(sizes) - len(some), median, sizes.norm().item())


def bin_edges() -> list[float]:
    """The BINS + 1 edges of the bins, in log10 |x|."""
    return [LOWEST + (HIGHEST - LOWEST) * border / BINS for border in range(BINS + 1)]
