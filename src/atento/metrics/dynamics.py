"""Metrics of free-running forecasts of a dynamical system: valid prediction time, and climate statistics.

The valid prediction time is how long a run stays near the truth. The climate tells whether it behaves as the truth
long after the two have diverged: where it spends its time, its power spectrum, its return map.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atento.errors import InputError

# Axes: R runs, T time, D coordinates, F frequencies, M maxima.

Numbers = NDArray[np.float64]

THRESHOLD = 0.4  # of the error, in standard deviations (Pathak et al., 2018, use 0.4; Vlachas et al., 2020, 0.5)
MIN_STEPS = 8  # of a run whose climate is measured
BINS = 50  # of a histogram, over the range of the truth; what lies outside is in two more
SMOOTHING = 5  # neighbouring frequencies of a spectrum that are summed
STOPPED_BELOW = 0.01  # of the truth's standard deviation: a run whose last quarter varies less has stopped
LEFT_BEYOND = 0.5  # of the truth's range: a run that goes farther out has left the attractor
INFINITE_BEYOND = 1e6  # ranges out: a run that goes farther diverges to infinity
STAYS = "stays on the attractor"
LEAVES = "leaves the attractor"
STOPS = "stops moving"


class ValidTimes(NamedTuple):
    """The valid prediction time of each run, in Lyapunov times, and how many runs were valid to their end."""

    times: Numbers  # (R,)
    valid_to_end: int

    @property
    def median(self) -> float:
        """The median over the runs."""
        return float(np.median(self.times))

    def __str__(self) -> str:
        low, high = np.quantile(self.times, [0.25, 0.75])
        to_end = f", {self.valid_to_end} to their end" if self.valid_to_end else ""
        return f"{self.median:.2f} Lyapunov times (quartiles {low:.2f} to {high:.2f} of {len(self.times)}{to_end})"


def valid_times(
    runs: ArrayLike,
    truth: ArrayLike,
    variance: ArrayLike,
    *,
    step: float,
    exponent: float,
    threshold: float = THRESHOLD,
) -> ValidTimes:
    """λ times the time until √(mean over coordinates of (ŷ − y)² / variance) exceeds the threshold.

    runs, truth (R, T, D) begin one step after the given past; variance (D,) is the training part's. NaN exceeds the
    threshold; a run that never does counts for all of its time.
    """
    outputs, targets, scale = (np.asarray(values, dtype=np.float64) for values in (runs, truth, variance))
    if outputs.ndim != 3 or outputs.shape != targets.shape or scale.shape != targets.shape[-1:] or not outputs.size:
        raise InputError(
            "runs and truth must have the same shape (runs, steps, coordinates), and each coordinate a variance.",
            found=f"runs {outputs.shape}, truth {targets.shape}, variance {scale.shape}",
            fix="cut both to the same steps; give one variance for each coordinate",
        )
    if not (scale > 0).all():
        raise InputError("a coordinate never changes.", found=f"variance {scale.tolist()}", fix="leave it out")
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.sqrt((np.square(outputs - targets) / scale).mean(axis=-1))  # (R, T)
    lost = ~(error <= threshold)
    first = np.where(lost.any(axis=1), lost.argmax(axis=1), lost.shape[1])
    return ValidTimes(first * step * exponent, int((~lost.any(axis=1)).sum()))


class Climate(NamedTuple):
    """Statistics of a run against those of the truth, for each coordinate (D,); 0 everywhere: the same statistics."""

    outcome: str  # in words
    histogram: Numbers  # total variation distance, 0 to 1
    mean: Numbers  # difference of the means, in standard deviations of the truth
    std_ratio: Numbers  # ratio of the standard deviations; 1: the same
    spectrum: Numbers  # Hellinger distance of the power spectra, 0 to 1
    return_map: Numbers  # distance of successive maxima to the truth's return map, in standard deviations of its maxima

    @property
    def stays(self) -> bool:
        """Whether the run is still on the attractor at its end."""
        return self.outcome == STAYS


def climate(run: ArrayLike, truth: ArrayLike) -> Climate:
    """Compare the statistics of a long run (T, D) with those of a long true trajectory (T', D) from any start."""
    mine, wanted = (np.asarray(values, dtype=np.float64) for values in (run, truth))
    comparable = mine.ndim == wanted.ndim == 2 and mine.shape[1] == wanted.shape[1]
    if not comparable or min(len(mine), len(wanted)) < MIN_STEPS:
        raise InputError(
            f"a run and the truth must be trajectories (steps, coordinates) of at least {MIN_STEPS} steps.",
            found=f"a run {mine.shape}, a truth {wanted.shape}",
            fix="run for longer, over the same coordinates",
        )
    outcome = find_outcome(mine, wanted)
    size = mine.shape[1]
    finite = np.isfinite(mine).all(axis=1)
    mine = mine[: len(mine) if finite.all() else int(finite.argmin())]
    if len(mine) < MIN_STEPS:
        one, infinite = np.ones(size), np.full(size, np.inf)
        return Climate(outcome, one, infinite, np.zeros(size), one, infinite)
    pairs = [(mine[:, place], wanted[:, place]) for place in range(size)]
    scale = wanted.std(axis=0)
    with np.errstate(over="ignore"):
        return Climate(
            outcome,
            np.array([histogram_distance(one, other) for one, other in pairs]),
            np.abs(mine.mean(axis=0) - wanted.mean(axis=0)) / scale,
            mine.std(axis=0) / scale,
            np.array([spectrum_distance(one, other) for one, other in pairs]),
            np.array([return_distance(one, other) for one, other in pairs]),
        )


def find_outcome(run: Numbers, truth: Numbers) -> str:
    """Whether a run stays near the truth's range and keeps moving, in words."""
    low, high = truth.min(axis=0), truth.max(axis=0)
    room = high - low
    out = (run < low - LEFT_BEYOND * room) | (run > high + LEFT_BEYOND * room) | ~np.isfinite(run)
    if out.any():
        step = int(out.any(axis=1).argmax())
        farthest = np.abs(np.nan_to_num(run - low, nan=np.inf) / room).max()
        return f"{LEAVES} at step {step + 1}" + (" and goes to infinity" if not farthest < INFINITE_BEYOND else "")
    end = run[-max(len(run) // 4, 2) :]
    if (end.std(axis=0) < STOPPED_BELOW * truth.std(axis=0)).all():
        moving = np.abs(run - run[-1]).max(axis=1) > STOPPED_BELOW * truth.std(axis=0).max()
        return f"{STOPS} at step {len(run) - int(moving[::-1].argmax()) + 1 if moving.any() else 1}"
    return STAYS


def histogram_distance(run: Numbers, truth: Numbers) -> float:
    """½ Σ |p − q|, the total variation distance of the histograms of two series (T,), (T',)."""
    inner = np.linspace(truth.min(), truth.max(), BINS + 1)
    inner[-1] = np.nextafter(inner[-1], np.inf)  # the maximum of the truth is inside
    edges = np.concatenate([[-np.inf], inner, [np.inf]])
    mine, wanted = (np.histogram(values, edges)[0] / len(values) for values in (run, truth))
    return float(np.abs(mine - wanted).sum() / 2)


def spectrum_distance(run: Numbers, truth: Numbers) -> float:
    """√(1 − Σ √(p q)), the Hellinger distance of two power spectra of sum 1 (Mikhaeil et al., 2022, eq. 37)."""
    steps = min(len(run), len(truth))
    mine, wanted = (power_spectrum(values[:steps]) for values in (run, truth))
    return float(np.sqrt(max(0.0, 1.0 - np.sqrt(mine * wanted).sum())))


def power_spectrum(values: Numbers) -> Numbers:
    """The power (F,) at each frequency of a series (T,) without its mean, smoothed and of sum 1."""
    window = np.hanning(len(values) + 2)[1:-1]  # without a window, unequal ends leak into every frequency
    power = np.square(np.abs(np.fft.rfft((values - values.mean()) * window)))[1:]
    smooth = np.convolve(power, np.ones(SMOOTHING), mode="same")
    total = smooth.sum()
    return smooth / total if np.isfinite(total) and total > 0 else np.full(len(smooth), 1 / len(smooth))


def maxima(values: Numbers) -> Numbers:
    """The local maxima (M,) of a series (T,), each by the parabola through its highest point and the neighbours."""
    before, top, after = values[:-2], values[1:-1], values[2:]
    peak = (top > before) & (top >= after)
    before, top, after = before[peak], top[peak], after[peak]
    return np.asarray(top + np.square(after - before) / (8 * (2 * top - before - after)))


def return_map(values: Numbers) -> Numbers:
    """The return map (M − 1, 2): each maximum and the next one (Lorenz, 1963, fig. 4)."""
    heights = maxima(values)
    return np.stack([heights[:-1], heights[1:]], axis=1)


def return_distance(run: Numbers, truth: Numbers) -> float:
    """The mean distance of the points of a run's return map to the nearest of the truth's; infinite without any."""
    mine, wanted = return_map(run), return_map(truth)
    if not len(mine) or not len(wanted):
        return np.inf
    nearest = [np.sqrt(np.square(wanted - pair).sum(axis=1).min()) for pair in mine]
    return float(np.mean(nearest) / (wanted.std() or 1.0))
