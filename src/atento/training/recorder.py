"""Recorders of optimizer steps: histograms of the magnitudes of gradients and of updates, and norms of gradients.

`Recorder` takes every step of any module; `HistogramRecorder` and `gradient_norms` take some steps of a run, part by
part, for its events.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.training.distributed.strategies import full

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


class HistogramRecorder:
    """Records every so many steps, for each part of a module, histograms of log10 |g| and of log10 |Δw / w|.

    Nothing else of the run depends on it. Weights that are 0 before a step have no ratio.
    """

    def __init__(self, module: nn.Module, *, every: int) -> None:
        self.module, self.every = module, every
        self.found: dict[str, dict[str, list[int]]] = {}

    @contextmanager
    def record(self, step: int) -> Iterator[None]:
        """Record the optimizer's step within it, where its number is due; the first is 1."""
        if not self.every or step % self.every:
            yield
            return
        parts = parts_with_gradient(self.module)
        gradients = {
            name: magnitudes(full(weight.grad) for weight in weights if weight.grad is not None)
            for name, weights in parts.items()
        }
        before = {name: [full(weight.detach()).clone() for weight in weights] for name, weights in parts.items()}
        yield
        self.found = {
            name: {
                "gradients": gradients[name].counts,
                "updates": magnitudes(map(relative_update, weights, before[name])).counts,
            }
            for name, weights in parts.items()
        }

    def take(self) -> dict[str, dict[str, list[int]]]:
        """What was recorded last, once."""
        found, self.found = self.found, {}
        return found


def parts_with_gradient(module: nn.Module) -> dict[str, list[Tensor]]:
    """The weights that have a gradient, by part."""
    found: dict[str, list[Tensor]] = {}
    for name, weight in module.named_parameters():
        if weight.grad is not None:
            found.setdefault(part_name(name), []).append(weight)
    return found


@torch.no_grad()
def gradient_norms(module: nn.Module, *, total: Tensor | None = None) -> dict[str, float | None]:
    """The Euclidean norm of the gradient of each part; None where it is not finite.

    total: the norm of the whole gradient before it was clipped by norm: the parts are then as long as they were before.
    None: it was not clipped.
    """
    parts = parts_with_gradient(module)
    if not parts:
        return {}
    norms = torch.stack(
        [
            torch.stack([full(weight.grad.norm()) for weight in weights if weight.grad is not None]).norm()
            for weights in parts.values()
        ]
    )  # (P,) of P parts, copied from the device at once
    if total is not None:
        norms = norms * (total / norms.norm().clamp(min=torch.finfo(norms.dtype).tiny))
    lengths = zip(parts, norms.tolist(), strict=True)
    return {name: float(f"{norm:.4g}") if math.isfinite(norm) else None for name, norm in lengths}


def part_name(parameter: str) -> str:
    """The part that a parameter is counted with: up to its first number, as of a layer, or two names deep.

    >>> part_name("encoder.stack.layers.0.feed_forward.widen.weight"), part_name("decoder.embedding.table.weight")
    ('encoder.stack.layers.0', 'decoder.embedding')
    """
    *path, own = parameter.split(".")
    number = next((at for at, word in enumerate(path) if word.isdigit()), None)
    return ".".join(path[:2] if number is None else path[: number + 1]) or own


@torch.no_grad()
def relative_update(weight: Tensor, before: Tensor) -> Tensor:
    """Δw / w of the weights that were not 0."""
    some = before != 0
    return (full(weight.detach()) - before)[some] / before[some]
