"""The valid prediction time of a forecaster on a built-in dynamical system: how long free runs stay near the truth."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from atento.data.builtin.dynamics import LYAPUNOV_PER_ROW
from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.metrics.bootstrap import BOUNDS, RESAMPLES, Interval
from atento.metrics.dynamics import valid_times
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.rollout import median_of
from atento.tasks.task import EvaluationExample

# Axes: R runs, T time, C channels.

VALID_TIME = "valid_time"
RUNS = 12  # free runs, from equally distant rows of the test part
LONGEST = 10.0  # Lyapunov times of a run
SUMMARY = f"median time until the error exceeds 0.4 standard deviations, in Lyapunov times, of {RUNS} free runs"

Forecasts = Callable[[Sequence[Past]], Sequence[Numbers]]  # pasts -> forecasts (H, C, Q) of the learned horizon


def valid_time(
    data: str, codec: SeriesCodec, questions: Sequence[EvaluationExample], forecast: Forecasts
) -> Interval | None:
    """The median over free runs in Lyapunov times with its bootstrap interval; None where the system is not known, or
    its test part is too short.
    """
    per_row, horizon = LYAPUNOV_PER_ROW.get(data, 0.0), codec.frame.horizon
    steps = min(math.ceil(LONGEST / per_row), 2 * len(questions) // 3) if per_row else 0
    starts = len(questions) - steps - horizon
    if codec.frame.covariates or steps < 2 * horizon or starts < RUNS:
        return None
    places = [round(run * starts / RUNS) for run in range(RUNS)]
    chunks = range(0, steps, horizon)
    truth = np.stack([np.concatenate([questions[at + gone].references[0] for gone in chunks]) for at in places])
    runs = free_runs([questions[at].source for at in places], codec, forecast, steps)
    found = valid_times(runs, truth[:, :steps], np.square(codec.scales.std[0]), step=per_row, exponent=1.0)
    draws = np.random.default_rng(0).integers(len(found.times), size=(RESAMPLES, len(found.times)))
    low, high = np.quantile(np.median(found.times[draws], axis=1), BOUNDS)
    return Interval(found.median, float(low), float(high))


def free_runs(pasts: Sequence[Past], codec: SeriesCodec, forecast: Forecasts, steps: int) -> Numbers:
    """(R, T, C): what follows each past when a model goes on from its own output, horizon by horizon."""
    values = [np.asarray(past.values, dtype=np.float64) for past in pasts]
    look_back = codec.frame.look_back
    while len(values[0]) < look_back + steps:
        asked = [
            replace(past, values=rows[-look_back:], origin=past.origin + len(rows) - look_back)
            for past, rows in zip(pasts, values, strict=True)
        ]
        made = [np.asarray(one, dtype=np.float64) for one in forecast(asked)]
        points = [median_of(one if one.ndim == 3 else one[..., None], codec.levels) for one in made]
        values = [np.concatenate([rows, one]) for rows, one in zip(values, points, strict=True)]
    return np.stack([rows[look_back : look_back + steps] for rows in values])
