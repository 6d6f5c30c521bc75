"""How long a free run stays with the truth: the valid prediction time."""

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
