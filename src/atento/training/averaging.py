"""A running mean of the weights: steadier than the weights themselves while steps are still long."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

SPAN = 10  # while a run is young the mean holds about its last tenth: the first weights know nothing


class RunningMean:
    """a_t = b a_{t−1} + (1 − b) w_t with b = min(memory, (t − 1) / (t + 9)) (Polyak & Juditsky, 1992, over a moving
    stretch). As b is 0 at the first step, the weights of all terms sum to 1 and nothing is owed to a start from zero.
    """

    def __init__(self, module: nn.Module, memory: float) -> None:
        self.memory = memory
        self.weights = {name: weight.detach().clone() for name, weight in module.named_parameters()}

    @torch.no_grad()
    def add(self, module: nn.Module, step: int) -> None:
        """The weights after a step; the first step is 1."""
        kept = min(self.memory, (step - 1) / (step - 1 + SPAN))
        torch._foreach_lerp_(list(self.weights.values()), list(module.parameters()), 1 - kept)

    @torch.no_grad()
    def put_into(self, module: nn.Module) -> None:
        """The mean becomes the module's weights."""
        copy_into(module, self.weights)

    def replace(self, weights: dict[str, Tensor]) -> None:
        """Go on from another mean, of the same module."""
        for name, weight in self.weights.items():
            weight.copy_(weights[name])

    @contextmanager
    def inside(self, module: nn.Module) -> Iterator[None]:
        """The mean in the module, then its own weights again, bit for bit."""
        own = {name: weight.detach().clone() for name, weight in module.named_parameters()}
        self.put_into(module)
        try:
            yield
        finally:
            copy_into(module, own)


@torch.no_grad()
def copy_into(module: nn.Module, weights: dict[str, Tensor]) -> None:
    """These weights, in place: an optimiser goes on with the very same tensors."""
    for name, weight in module.named_parameters():
        weight.copy_(weights[name])
