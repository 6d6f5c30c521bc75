"""Conformalized quantile regression: intervals widened until they cover what they promise (Romano et al., 2019).

A network that minimised the pinball loss is surer of its training windows than of later ones. After training, each pair
of levels gets an offset for each step ahead and channel: the conformal quantile of how far true values lay outside.
"""

from collections.abc import Mapping
from math import isclose
from typing import NamedTuple

import torch
from torch import Tensor, nn

# Axes: N windows, H steps ahead, T steps forecast, C channels, Q levels.


class Tail(NamedTuple):
    """Levels that are moved by one offset: the two ends of an interval, or a level without its mirror."""

    lower: int | None  # the place of τ below the median
    upper: int | None  # the place of 1 − τ
    coverage: float  # what they promise together


def tails_of(levels: tuple[float, ...]) -> list[Tail]:
    """Every level but the median, τ with 1 − τ where both are there; the innermost first."""
    found = []
    for place, level in enumerate(levels):
        mirror = next((at for at, other in enumerate(levels) if isclose(level + other, 1.0, abs_tol=1e-9)), None)
        if level < 0.5:
            found.append(Tail(place, mirror, 1 - level if mirror is None else 1 - 2 * level))
        elif level > 0.5 and mirror is None:
            found.append(Tail(None, place, level))
    return sorted(found, key=lambda tail: max(abs(levels[at] - 0.5) for at in tail[:2] if at is not None))


def conformal_quantile(scores: Tensor, coverage: float, weights: Tensor) -> Tensor:
    """The smallest score below which that share of the weight lies, with one more window at infinity.

    scores (N, ...), weights (N,) of 1 at most -> (...). Of weights of 1 it is the ⌈(n + 1) · coverage⌉-th smallest,
    above which a new exchangeable score lies with probability 1 − coverage at most (Romano et al., 2019, eq. 8; with
    weights: Barber et al., 2023, eq. 11). Where that is infinite, windows are too few, and it is the largest score.
    """
    ordered, order = scores.sort(dim=0)
    reached = weights.double()[order].cumsum(dim=0)
    wanted = coverage * (weights.double().sum() + 1) - 1e-9  # rounding must not ask for one more
    place = (reached < wanted).sum(dim=0, keepdim=True).clamp(max=len(scores) - 1)
    return ordered.gather(0, place).squeeze(0)


def pooled_over(apart: int, coverage: float, horizon: int) -> tuple[str, ...]:
    """What shares one offset, as `apart` windows that do not overlap are too few for a conformal quantile of each step
    and channel by itself: nothing, the steps, or the steps and the channels.
    """
    least = coverage / (1 - coverage)  # (n + 1) · coverage ≤ n
    if apart >= least - 1e-9:
        return ()
    return ("steps",) if apart * horizon >= least - 1e-9 else ("steps", "channels")


def moved_by(offsets: Tensor, quantiles: Tensor) -> Tensor:
    """Quantiles (B, T, C, Q) and the offset (H, C, Q) of each step; steps beyond H have that of the last."""
    steps = torch.arange(quantiles.size(1), device=quantiles.device).clamp(max=len(offsets) - 1)
    return quantiles + offsets[steps]


class ConformalQuantiles(nn.Module):
    """Moves quantiles outwards by an offset for each step ahead, channel and level; the median stays.

    quantiles (B, T, C, Q) on scale -> the same. An outer level moves at least as far as an inner one, so that none
    cross. Offsets are zero until `fit`; steps beyond the horizon have those of its last step. They are buffers: they
    lie in the weights of a run, and no gradient reaches them.
    """

    offsets: Tensor | None

    def __init__(self, levels: tuple[float, ...], *, horizon: int, channels: int) -> None:
        super().__init__()
        self.levels = levels
        self.offsets = nn.Buffer(torch.zeros(horizon, channels, len(levels)))  # (H, C, Q)

    def adopt_sizes(self, weights: Mapping[str, Tensor]) -> None:
        """Weights that were saved before there were offsets have none."""
        if "offsets" not in weights:
            self.offsets = None

    def forward(self, quantiles: Tensor) -> Tensor:
        """Each level with its offset."""
        return quantiles if self.offsets is None else moved_by(self.offsets, quantiles)

    def forget(self) -> None:
        """The quantiles as they were learned."""
        if self.offsets is not None:
            self.offsets.zero_()

    @torch.no_grad()
    def fit(self, quantiles: Tensor, targets: Tensor, weights: Tensor, *, apart: int) -> tuple[str, ...]:
        """Offsets by quantiles (N, H, C, Q) as they were learned and true values (N, H, C) of windows with weights (N,)
        of 1 at most, so many of which do not overlap; what had to share one offset, of any level.

        No interval becomes narrower: a calm year promises nothing for the next.
        """
        offsets = torch.zeros(*targets.shape[1:], len(self.levels)).to(quantiles)
        reached = {
            -1: torch.zeros_like(offsets[..., 0]),
            1: torch.zeros_like(offsets[..., 0]),
        }  # by the levels nearer to the median, below and above it
        shared: tuple[str, ...] = ()
        for lower, upper, coverage in tails_of(self.levels):
            below = [] if lower is None else [quantiles[..., lower] - targets]
            above = [] if upper is None else [targets - quantiles[..., upper]]
            pooled = pooled_over(apart, coverage, targets.size(1))
            shared = max(shared, pooled, key=len)
            scores = torch.stack(below + above).amax(dim=0)  # (N, H, C) how far outside, below 0: inside
            offset = pooled_quantile(scores, coverage, weights, pooled).clamp(min=0.0)
            for at, side in ((lower, -1), (upper, 1)):
                if at is not None:
                    reached[side] = torch.maximum(reached[side], offset)
                    offsets[..., at] = side * reached[side]
        if self.offsets is not None:
            self.offsets.copy_(offsets)
        return shared


def pooled_quantile(scores: Tensor, coverage: float, weights: Tensor, pooled: tuple[str, ...]) -> Tensor:
    """The conformal quantile of scores (N, H, C) for each step and channel, (H | 1, C | 1)."""
    steps, channels = scores.shape[1:]
    if "steps" in pooled:
        scores, weights = scores.flatten(0, 1).unsqueeze(1), weights.repeat_interleave(steps)  # (N·H, 1, C)
    if "channels" in pooled:
        scores, weights = scores.permute(0, 2, 1).reshape(-1, 1, 1), weights.repeat_interleave(channels)
    return conformal_quantile(scores, coverage, weights)
