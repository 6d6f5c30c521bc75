"""How a gradient fares on its way back through time, as numbers: a curve against lag, its slope, a verdict."""

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor

# Axes: P paths followed back, L lags.

Verdict = Literal["vanishes", "level", "explodes"]

LEVEL = 0.005  # a slope this small halves or doubles nothing within 138 steps
LOST = 0.01  # of what arrives one step back: less than so much at the longest lag is gone
LEAST, MOST = -690.0, 690.0  # logarithms that float64 can still hold
SURE = 4.0  # standard errors that a slope must be away from level


class Curve(NamedTuple):
    """Norms of ∂(now)/∂(lag steps ago), of which 1 means that a random small change arrives as large as it was."""

    lags: list[int]
    median: list[float]
    low: list[float]  # quartiles over paths
    high: list[float]
    slope: float  # of the log norm, a step, over the longer half of the lags
    error: float  # its standard error


def curve_of(log_norms: Tensor) -> Curve:
    """Log norms (P, L) at lags 0, 1, …, two at least; NaN where a path is shorter."""
    logs = log_norms.detach().double().cpu().clamp(LEAST, MOST)
    low, median, high = torch.nanquantile(logs, logs.new_tensor([0.25, 0.5, 0.75]), dim=0)
    lags = list(range(logs.size(1)))
    slope, error = fitted_slope(lags, median.tolist())
    return Curve(lags, median.exp().tolist(), low.exp().tolist(), high.exp().tolist(), slope, error)


def fitted_slope(lags: list[int], logs: list[float]) -> tuple[float, float]:
    """Least squares over the longer half of the lags, where a passing swell is over; the slope's standard error."""
    keep = [place for place, lag in enumerate(lags) if 2 * lag >= lags[-1]]
    keep = keep if len(keep) > 1 else list(range(len(lags)))[-2:]
    across, up = [float(lags[place]) for place in keep], [logs[place] for place in keep]
    middle, level = math.fsum(across) / len(keep), math.fsum(up) / len(keep)
    spread = math.fsum((x - middle) ** 2 for x in across)
    if spread == 0:
        return 0.0, 0.0
    slope = math.fsum((x - middle) * (y - level) for x, y in zip(across, up, strict=True)) / spread
    rest = math.fsum((y - level - slope * (x - middle)) ** 2 for x, y in zip(across, up, strict=True))
    return slope, math.sqrt(rest / max(len(keep) - 2, 1) / spread)


def verdict_of(curve: Curve) -> Verdict:
    """By the slope at long lags: a singular value over 1 proves no explosion, only growth that goes on does."""
    sure = abs(curve.slope) > max(LEVEL, SURE * curve.error)
    if sure and curve.slope > 0 and curve.median[-1] > 1:
        return "explodes"
    if (sure and curve.slope < 0) or curve.median[-1] < LOST * curve.median[1]:
        return "vanishes"
    return "level"


def half_life(curve: Curve) -> float:
    """Steps in which the norm halves, or doubles; infinite where it does neither."""
    return math.log(2) / abs(curve.slope) if curve.slope else math.inf
