"""How far forecasts are from what came: errors of plain numbers, and metrics of windows of many series.

Windows that begin a step apart see nearly the same future: their errors are summed over blocks about as long as the
horizon, so that a bootstrap draws blocks, not windows, and its intervals are no narrower than they should be.

How far from where it was foretold a moving thing is found, in the units of its path.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atento.errors import InputError
from atento.metrics.bootstrap import Runs, interval_over
from atento.metrics.metric import Metric, Sums, share

# Axes: N windows, H steps ahead, C channels, Q quantiles (one number: 1).

Numbers = NDArray[np.float64]
AT_ONCE = 2**21  # numbers judged together
BANDS = 3
FEWEST_BLOCKS = 8


def mean_squared_error(outputs: ArrayLike, truth: ArrayLike) -> float:
    """The mean of (y − ŷ)² over all numbers; arrays of one shape."""
    return float(np.square(differences(outputs, truth)).mean())


def mean_absolute_error(outputs: ArrayLike, truth: ArrayLike) -> float:
    """The mean of |y − ŷ| over all numbers; arrays of one shape."""
    return float(np.abs(differences(outputs, truth)).mean())


def differences(outputs: ArrayLike, truth: ArrayLike) -> NDArray[np.float64]:
    """y − ŷ; nothing is broadcast."""
    said, came = np.asarray(outputs, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if said.shape != came.shape or not said.size:
        raise InputError(
            "forecasts and truth must have the same shape, and a number at least.",
            found=f"outputs {said.shape}, truth {came.shape}",
            fix=f"give outputs of shape {came.shape}" if came.size else "give a number",
        )
    return came - said


class Judging(NamedTuple):
    """What the metrics of forecasts need to know."""

    scales: Callable[[Sequence[Any]], Any]  # sources -> spread and naive (N, C) of each
    horizon: int  # how long a block is
    levels: tuple[float, ...]  # of quantiles; none: outputs are one number
    point: tuple[float, ...]  # what each quantile gives to the point forecast


Measure = Callable[[Numbers, Numbers, Any, Judging], Numbers]  # said (N, H, C, Q), came (N, H, C), scales -> (N, H, C)


def squared(said: Numbers, came: Numbers, scales: Any, judging: Judging) -> Numbers:
    """((y − ŷ) / spread)²."""
    return np.square(errors(said, came, judging) / scales.spread[:, None])


def absolute(said: Numbers, came: Numbers, scales: Any, judging: Judging) -> Numbers:
    """|y − ŷ| / spread."""
    return np.abs(errors(said, came, judging) / scales.spread[:, None])


def against_naive(said: Numbers, came: Numbers, scales: Any, judging: Judging) -> Numbers:
    """|y − ŷ| / mean |y_t − y_{t−season}| of the training part (Hyndman & Koehler, 2006, eq. 9)."""
    return np.abs(errors(said, came, judging) / scales.naive[:, None])


def tilted(said: Numbers, came: Numbers, scales: Any, judging: Judging) -> Numbers:
    """max(τ (y − q), (τ − 1) (y − q)) / spread, the mean over levels τ (Koenker & Bassett, 1978, eq. 2.1)."""
    levels = np.asarray(judging.levels)
    above = (came[..., None] - said) / scales.spread[:, None, :, None]  # one number stands for every quantile
    return np.asarray(np.maximum(levels * above, (levels - 1) * above).mean(axis=-1))


def inside(said: Numbers, came: Numbers, scales: Any, judging: Judging) -> Numbers:
    """1 where the number lies between the lowest and the highest quantile."""
    return np.asarray((said[..., 0] <= came) & (came <= said[..., -1]), dtype=np.float64)


def errors(said: Numbers, came: Numbers, judging: Judging) -> Numbers:
    """y − ŷ (N, H, C) of the point forecast."""
    point = said[..., 0] if said.shape[-1] == 1 else said @ np.asarray(judging.point)
    return np.asarray(came - point)


def in_blocks(
    measure: Measure, judging: Judging, sources: Sequence[Any], outputs: Sequence[Any], references: Sequence[Any]
) -> Sums:
    """(blocks, 2): what is measured, summed over a block of consecutive windows of one series, and how many numbers.

    A source says its `series` and its `origin`; where only fewer steps are known or said, these are judged. Outputs of
    several runs stand one after the other, each over all sources.
    """
    length = block_length(sources, judging.horizon)
    sources = list(sources) * (len(outputs) // max(1, len(sources)))
    totals = np.zeros((len(outputs), 2))
    size = max(1, AT_ONCE // max(1, np.asarray(outputs[0]).size)) if len(outputs) else 1
    for start in range(0, len(outputs), size):
        some = slice(start, start + size)
        said = np.stack(outputs[some]).astype(np.float64)
        said = said if said.ndim == 4 else said[..., None]  # (N, H, C, Q)
        came = np.stack([one[0] for one in references[some]]).astype(np.float64)  # (N, H, C)
        steps = min(said.shape[1], came.shape[1])
        found = measure(said[:, :steps], came[:, :steps], judging.scales(sources[some]), judging)
        totals[some, 0], totals[some, 1] = found.sum(axis=(1, 2)), found[0].size
    return np.add.reduceat(totals, block_starts(sources, length)) if len(totals) else totals


def block_length(sources: Sequence[Any], horizon: int) -> int:
    """The horizon; of a short test part less, for an interval of one block would be none."""
    length = horizon
    while length > 1 and len(block_starts(sources, length)) < min(FEWEST_BLOCKS, len(sources)):
        length = -(-length // 2)
    return length


def block_starts(sources: Sequence[Any], length: int) -> list[int]:
    """Where a block begins: another series, or another stretch of so many rows."""
    found: list[int] = []
    for at, source in enumerate(sources):
        before = sources[at - 1]
        apart = source.series != before.series or source.origin // length != before.origin // length
        if not at or apart or source.origin <= before.origin:  # the last: another run begins
            found.append(at)
    return found


def without_sources(outputs: Sequence[Any], references: Sequence[Any]) -> Sums:
    """A forecast is judged on the scale of its series, which its source tells."""
    raise TypeError("a metric of forecasts asks for their sources: metric.on(sources)")


def forecast_metrics(judging: Judging) -> tuple[Metric, ...]:
    """The headline first: the squared error, or the loss of quantiles, and how often the truth lies within them."""

    def made(name: str, summary: str, measure: Measure, *, smaller: bool = True) -> Metric:
        by_source = partial(in_blocks, measure, judging)
        return Metric(name, summary, without_sources, share, smaller_is_better=smaller, by_source=by_source)

    found = [
        made("mse", "mean squared error in spreads of each training part; smaller is better", squared),
        made("mae", "mean absolute error in spreads of each training part; smaller is better", absolute),
        made("mase", "mean absolute error; 1: as far off as last season's values in training", against_naive),
    ]
    if judging.levels:
        low, high = judging.levels[0], judging.levels[-1]
        found.insert(0, made("pinball", "loss of the quantiles, in spreads; smaller is better", tilted))
        nominal = f"share of numbers between the quantiles {low:g} and {high:g}; {high - low:.0%} would be exact"
        found.append(made("coverage", nominal, inside, smaller=False))
    return tuple(found)


def by_steps_ahead(
    metric: Metric, sources: Sequence[Any], runs: Runs, references: Sequence[Sequence[Any]]
) -> list[dict[str, Any]]:
    """Quality of the near, the middle and the far third of the horizon."""
    if not references:
        return []
    told, horizon = metric.on(sources), min(len(references[0][0]), len(runs[0][0]))
    borders = sorted({round(horizon * band / BANDS) for band in range(BANDS + 1)})
    found = []
    for first, last in pairwise(borders):
        some = [[output[first:last] for output in outputs] for outputs in runs]
        quality = interval_over(told, some, [(reference[0][first:last],) for reference in references])
        label = f"{first + 1}–{last}" if last > first + 1 else str(last)
        band = {"label": label, "from": first + 1, "to": last, "count": len(references), "by": "steps ahead"}
        found.append({**band, **quality._asdict()})
    return found


# Axes: N windows, H steps ahead, C coordinates, Q quantiles (one number: 1).

COORDINATES = (("x", "y"), ("x", "y", "z"), ("lon", "lat"), ("east", "north"))


def is_path(channels: tuple[str, ...]) -> bool:
    """Whether channels, by their names, are where a thing is."""
    return tuple(name.lower() for name in channels) in COORDINATES


def displacement(said: Numbers, came: Numbers, scales: Any, judging: Judging) -> Numbers:
    """‖p − p̂‖ of every step, (N, H, 1)."""
    return np.linalg.norm(errors(said, came, judging), axis=-1, keepdims=True)


def last_displacement(said: Numbers, came: Numbers, scales: Any, judging: Judging) -> Numbers:
    """‖p − p̂‖ of the last step, (N, 1, 1)."""
    return displacement(said[:, -1:], came[:, -1:], scales, judging)


def path_metrics(judging: Judging) -> tuple[Metric, ...]:
    """The mean distance over all steps ahead, and at the last one."""
    measures: dict[str, tuple[str, Measure]] = {
        "displacement": ("mean distance between where it was and where it was foretold", displacement),
        "last_displacement": ("the same at the last step of the horizon", last_displacement),
    }
    return tuple(
        Metric(
            name,
            f"{summary}; smaller is better",
            without_sources,
            share,
            smaller_is_better=True,
            by_source=partial(in_blocks, measure, judging),
        )
        for name, (summary, measure) in measures.items()
    )
