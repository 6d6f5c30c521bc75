"""How long a free run stays with the truth: the valid prediction time.

The climate of a free run: whether it behaves as the truth does, long after the two have parted.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atento.errors import InputError

# Axes: R runs, T time, D coordinates.

Numbers = NDArray[np.float64]

THRESHOLD = (
    0.4  # of the error, in spreads: a run is lost there (Vlachas et al., 2020, use 0.5; Pathak et al., 2018, 0.4)
)


class ValidTimes(NamedTuple):
    """How long each run was valid, in Lyapunov times, and how many were so to their end."""

    times: Numbers  # (R,)
    to_the_end: int

    @property
    def median(self) -> float:
        """Over the runs."""
        return float(np.median(self.times))

    def __str__(self) -> str:
        low, high = np.quantile(self.times, [0.25, 0.75])
        to_the_end = f", {self.to_the_end} to their end" if self.to_the_end else ""
        return f"{self.median:.2f} Lyapunov times (quartiles {low:.2f} to {high:.2f} of {len(self.times)}{to_the_end})"


def valid_times(
    runs: ArrayLike,
    truth: ArrayLike,
    variance: ArrayLike,
    *,
    step: float,
    exponent: float,
    threshold: float = THRESHOLD,
) -> ValidTimes:
    """λ times the time until √(mean over coordinates of (ŷ − y)² / variance) passes the threshold: the steps before it.

    runs, truth (R, T, D) begin one step after what was given; variance (D,) is the training part's. What is not a
    number has passed the threshold; a run that never does counts for all of its time.
    """
    outputs, wanted, spread = (np.asarray(values, dtype=np.float64) for values in (runs, truth, variance))
    if outputs.ndim != 3 or outputs.shape != wanted.shape or spread.shape != wanted.shape[-1:] or not outputs.size:
        raise InputError(
            "valid times compare runs with a truth of the same shape (runs, steps, coordinates).",
            found=f"runs {outputs.shape}, truth {wanted.shape}, variance {spread.shape}",
            fix="cut both to the same steps; give one variance a coordinate",
        )
    if not (spread > 0).all():
        raise InputError("a coordinate never changes.", found=f"variance {spread.tolist()}", fix="leave it out")
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.sqrt((np.square(outputs - wanted) / spread).mean(axis=-1))  # (R, T)
    lost = ~(error <= threshold)
    first = np.where(lost.any(axis=1), lost.argmax(axis=1), lost.shape[1])
    return ValidTimes(first * step * exponent, int((~lost.any(axis=1)).sum()))


# Axes: T time, D coordinates, M maxima.


BINS = 50  # of a histogram, over the range of the truth; what lies outside is in two more
SMOOTHED = 5  # frequencies of a spectrum that are taken together
STILL = 0.01  # of the truth's spread: a run whose last quarter moves less has stopped
BEYOND = 0.5  # of the truth's range: who goes farther out has left
FAR = 1e6  # ranges out: as good as infinite


class Climate(NamedTuple):
    """A run beside the truth, coordinate by coordinate; 0 everywhere: the same statistics."""

    fate: str  # in words
    histogram: Numbers  # (D,) share of the time spent in the wrong places, 0 to 1
    mean: Numbers  # (D,) difference of the means, in spreads of the truth
    spread: Numbers  # (D,) ratio of the spreads; 1: the same
    spectrum: Numbers  # (D,) distance of the power spectra, 0 to 1
    returns: Numbers  # (D,) how far maxima that follow each other lie off the truth's map, in its maxima's spreads

    @property
    def stays(self) -> bool:
        """Whether it is still on the attractor at its end."""
        return self.fate == STAYS


STAYS = "stays on the attractor"
LEAVES = "leaves the attractor"
STOPS = "stops moving"


def climate(run: ArrayLike, truth: ArrayLike) -> Climate:
    """What a long run (T, D) has in common with a long true trajectory (T', D) of other beginnings."""
    mine, wanted = (np.asarray(values, dtype=np.float64) for values in (run, truth))
    if mine.ndim != 2 or wanted.ndim != 2 or mine.shape[1] != wanted.shape[1] or min(len(mine), len(wanted)) < 8:
        raise InputError(
            "climates are compared of two trajectories (steps, coordinates) of 8 steps at least.",
            found=f"a run {mine.shape}, a truth {wanted.shape}",
            fix="run for longer, over the same coordinates",
        )
    fate = fate_of(mine, wanted)
    size = mine.shape[1]
    inside = np.isfinite(mine).all(axis=1)
    mine = mine[: len(mine) if inside.all() else int(inside.argmin())]
    if len(mine) < 8:
        return Climate(fate, np.ones(size), np.full(size, np.inf), np.zeros(size), np.ones(size), np.full(size, np.inf))
    pairs = [(mine[:, place], wanted[:, place]) for place in range(size)]
    scale = wanted.std(axis=0)
    with np.errstate(over="ignore"):
        return Climate(
            fate,
            np.array([histogram_distance(one, other) for one, other in pairs]),
            np.abs(mine.mean(axis=0) - wanted.mean(axis=0)) / scale,
            mine.std(axis=0) / scale,
            np.array([spectrum_distance(one, other) for one, other in pairs]),
            np.array([return_distance(one, other) for one, other in pairs]),
        )


def fate_of(run: Numbers, truth: Numbers) -> str:
    """Whether a run stays where the truth is and keeps moving."""
    low, high = truth.min(axis=0), truth.max(axis=0)
    room = high - low
    out = (run < low - BEYOND * room) | (run > high + BEYOND * room) | ~np.isfinite(run)
    if out.any():
        step = int(out.any(axis=1).argmax())
        farthest = np.abs(np.nan_to_num(run - low, nan=np.inf) / room).max()
        return f"{LEAVES} at step {step + 1}" + (" and goes to infinity" if not farthest < FAR else "")
    end = run[-max(len(run) // 4, 2) :]
    if (end.std(axis=0) < STILL * truth.std(axis=0)).all():
        moving = np.abs(run - run[-1]).max(axis=1) > STILL * truth.std(axis=0).max()
        return f"{STOPS} at step {len(run) - int(moving[::-1].argmax()) + 1 if moving.any() else 1}"
    return STAYS


def histogram_distance(run: Numbers, truth: Numbers) -> float:
    """½ Σ |p − q|, the total variation of two histograms (T,), (T',)."""
    inner = np.linspace(truth.min(), truth.max(), BINS + 1)
    inner[-1] = np.nextafter(inner[-1], np.inf)  # the highest of the truth is inside
    edges = np.concatenate([[-np.inf], inner, [np.inf]])
    mine, wanted = (np.histogram(values, edges)[0] / len(values) for values in (run, truth))
    return float(np.abs(mine - wanted).sum() / 2)


def spectrum_distance(run: Numbers, truth: Numbers) -> float:
    """√(1 − Σ √(p q)), Hellinger's distance of two power spectra of sum 1 (Mikhaeil et al., 2022, eq. 37)."""
    steps = min(len(run), len(truth))
    mine, wanted = (power_spectrum(values[:steps]) for values in (run, truth))
    return float(np.sqrt(max(0.0, 1.0 - np.sqrt(mine * wanted).sum())))


def power_spectrum(values: Numbers) -> Numbers:
    """The power (F,) at each frequency of (T,), neighbours taken together, of sum 1; the mean has no part in it."""
    window = np.hanning(len(values) + 2)[1:-1]  # ends that do not meet would leak into every frequency
    power = np.square(np.abs(np.fft.rfft((values - values.mean()) * window)))[1:]
    smooth = np.convolve(power, np.ones(SMOOTHED), mode="same")
    total = smooth.sum()
    return smooth / total if np.isfinite(total) and total > 0 else np.full(len(smooth), 1 / len(smooth))


def maxima(values: Numbers) -> Numbers:
    """The heights (M,) of the local maxima of (T,), by the parabola through the highest point and its neighbours."""
    before, top, after = values[:-2], values[1:-1], values[2:]
    peak = (top > before) & (top >= after)
    before, top, after = before[peak], top[peak], after[peak]
    return np.asarray(top + np.square(after - before) / (8 * (2 * top - before - after)))


def return_map(values: Numbers) -> Numbers:
    """(M − 1, 2): each maximum and the one after it (Lorenz, 1963, fig. 4)."""
    heights = maxima(values)
    return np.stack([heights[:-1], heights[1:]], axis=1)


def return_distance(run: Numbers, truth: Numbers) -> float:
    """The mean distance of a run's pairs of maxima to the nearest of the truth's; infinite where it has none."""
    mine, wanted = return_map(run), return_map(truth)
    if not len(mine) or not len(wanted):
        return np.inf
    nearest = [np.sqrt(np.square(wanted - pair).sum(axis=1).min()) for pair in mine]
    spread = wanted.std() or 1.0
    return float(np.mean(nearest) / spread)
