"""Long numeric sequences in pieces: several steps are read together, so that an encoder has fewer to walk over."""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional

from atento.errors import InputError
from atento.layers.padding import clean
from atento.models.protocols import Encoded, Encoder

# Axes: B batch, N time, C channels, P steps a patch, M patches.


class PatchedNumbers(Encoder):
    """Cuts numbers (B, N, C) into patches of P steps and hands each on as one step of P · C numbers.

    A patch begins at the first real step, whatever the side of the padding; what the last one lacks is zeros. The
    states are those of the patches: (B, M, D) with M = ⌈N / P⌉.
    """

    def __init__(self, channels: int, patch: int, encoder: Encoder) -> None:
        super().__init__()
        if patch < 1:
            raise InputError("a patch has one step at least.", found=f"patch={patch}", fix="patch=1, or more")
        self.channels, self.patch, self.encoder, self.size = channels, patch, encoder, encoder.size

    def encode(self, values: Tensor, valid: Tensor) -> Encoded:
        """One state a patch."""
        return self.encoder.encode(*self.cut(values, valid))

    def cut(self, values: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Patches (B, M, P · C), and which of them hold a real step (B, M)."""
        order = valid.int().argsort(dim=1, descending=True, stable=True)  # (B, N) real steps first
        steps = clean(values, valid).take_along_dim(order.unsqueeze(-1), dim=1)
        real, lack = valid.gather(1, order), -values.size(1) % self.patch
        steps, real = functional.pad(steps, (0, 0, 0, lack)), functional.pad(real, (0, lack))
        rows, channels = len(steps), steps.size(-1)
        return steps.reshape(rows, -1, self.patch * channels), real.reshape(rows, -1, self.patch).any(dim=2)


def steps_together(encoder: nn.Module, steps: Sequence[str]) -> list[str]:
    """What each state was read from: the steps as they are; of patches, the numbers of the first and the last."""
    if not isinstance(encoder, PatchedNumbers):
        return list(steps)
    firsts = range(0, len(steps), encoder.patch)
    return [f"{first + 1}–{min(first + encoder.patch, len(steps))}" for first in firsts]
