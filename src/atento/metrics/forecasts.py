"""Metrics of forecasts over windows of many series: MSE, MAE, MASE, pinball loss, coverage, and displacement of paths.

Windows that begin a step apart have nearly the same future. Their errors are summed over blocks about as long as the
horizon, so that the bootstrap draws blocks and its intervals are not too narrow.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from atento.metrics.bootstrap import Band, Runs, bootstrap_interval
from atento.metrics.metric import Metric, Sums, ratio

# Axes: N windows, H steps ahead, C channels, Q quantiles (a point forecast: 1).

Numbers = NDArray[np.float64]

NUMBERS_AT_ONCE = 2**21  # compared at a time
BANDS = 3
MIN_BLOCKS = 8
COORDINATES = (("x", "y"), ("x", "y", "z"), ("lon", "lat"), ("east", "north"))


class ErrorScales(Protocol):
    """What errors of each window are divided by, from the training part of its series; both (N, C)."""

    @property
    def std(self) -> Numbers:
        """The standard deviation."""

    @property
    def naive(self) -> Numbers:
        """The mean absolute error of the seasonal naive forecast."""


class NoScales(NamedTuple):
    """For errors that are measured in the units of the file."""

    std: Numbers = np.ones((1, 1))
    naive: Numbers = np.ones((1, 1))


NO_SCALES = NoScales()


class ForecastScoring(NamedTuple):
    """What the metrics of forecasts depend on."""

    scales: Callable[[Sequence[Any]], ErrorScales]  # of these sources
    horizon: int  # the length of a block
    levels: tuple[float, ...]  # of the quantiles; empty: point forecasts
    point_weights: tuple[float, ...]  # of the quantiles in the point forecast


# predictions (N, H, C, Q), targets (N, H, C), scales, scoring -> (N, H, C)
Measure = Callable[[Numbers, Numbers, ErrorScales, ForecastScoring], Numbers]


def point_errors(predictions: Numbers, targets: Numbers, scoring: ForecastScoring) -> Numbers:
    """y − ŷ (N, H, C) of the point forecast."""
    point = predictions[..., 0] if predictions.shape[-1] == 1 else predictions @ np.asarray(scoring.point_weights)
    return np.asarray(targets - point)


def squared_error(predictions: Numbers, targets: Numbers, scales: ErrorScales, scoring: ForecastScoring) -> Numbers:
    """((y − ŷ) / σ)²."""
    return np.square(point_errors(predictions, targets, scoring) / scales.std[:, None])


def absolute_error(predictions: Numbers, targets: Numbers, scales: ErrorScales, scoring: ForecastScoring) -> Numbers:
    """|y − ŷ| / σ."""
    return np.abs(point_errors(predictions, targets, scoring) / scales.std[:, None])


def scaled_error(predictions: Numbers, targets: Numbers, scales: ErrorScales, scoring: ForecastScoring) -> Numbers:
    """|y − ŷ| / mean |y_t − y_{t−season}| of the training part (Hyndman & Koehler, 2006, eq. 9)."""
    return np.abs(point_errors(predictions, targets, scoring) / scales.naive[:, None])


def symmetric_error(predictions: Numbers, targets: Numbers, scales: ErrorScales, scoring: ForecastScoring) -> Numbers:
    """200 |y − ŷ| / (|y| + |ŷ|), in percent (Makridakis et al., 2020, eq. 1); 0 where both are 0."""
    errors = point_errors(predictions, targets, scoring)
    size = np.abs(targets) + np.abs(targets - errors)
    return np.asarray(200 * np.abs(errors) / np.where(size > 0, size, 1.0))


def pinball_loss(predictions: Numbers, targets: Numbers, scales: ErrorScales, scoring: ForecastScoring) -> Numbers:
    """max(τ (y − q), (τ − 1) (y − q)) / σ, the mean over levels τ (Koenker & Bassett, 1978, eq. 2.1)."""
    levels = np.asarray(scoring.levels)
    above = (targets[..., None] - predictions) / scales.std[:, None, :, None]  # a point stands for every quantile
    return np.asarray(np.maximum(levels * above, (levels - 1) * above).mean(axis=-1))


def covered(predictions: Numbers, targets: Numbers, scales: ErrorScales, scoring: ForecastScoring) -> Numbers:
    """1 where the target lies between the lowest and the highest quantile."""
    return np.asarray((predictions[..., 0] <= targets) & (targets <= predictions[..., -1]), dtype=np.float64)


def displacement(predictions: Numbers, targets: Numbers, scales: ErrorScales, scoring: ForecastScoring) -> Numbers:
    """‖p − p̂‖ of every step, (N, H, 1), in the units of the path."""
    return np.linalg.norm(point_errors(predictions, targets, scoring), axis=-1, keepdims=True)


def last_displacement(predictions: Numbers, targets: Numbers, scales: ErrorScales, scoring: ForecastScoring) -> Numbers:
    """‖p − p̂‖ of the last step, (N, 1, 1)."""
    return displacement(predictions[:, -1:], targets[:, -1:], scales, scoring)


def forecast_metrics(scoring: ForecastScoring) -> tuple[Metric, ...]:
    """The metrics of forecasts, the headline first: the squared error, or the pinball loss of quantiles."""
    metric = partial(forecast_metric, scoring)
    found = [
        metric(squared_error, "mse", "mean squared error in standard deviations of each training part"),
        metric(absolute_error, "mae", "mean absolute error in standard deviations of each training part"),
        metric(scaled_error, "mase", "mean absolute error; 1: that of the seasonal naive forecast in training"),
        metric(symmetric_error, "smape", "symmetric mean absolute percentage error, from 0 to 200 %"),
    ]
    if scoring.levels:
        low, high = scoring.levels[0], scoring.levels[-1]
        promised = f"which promise {high - low:.0%}; a note says how they were calibrated"
        summary = f"share of numbers between the quantiles {low:g} and {high:g}, {promised}"
        found.insert(0, metric(pinball_loss, "pinball", "pinball loss of the quantiles, in standard deviations"))
        found.append(metric(covered, "coverage", summary)._replace(smaller_is_better=False))
    return tuple(found)


def path_metrics(scoring: ForecastScoring) -> tuple[Metric, ...]:
    """The mean distance to the true position over all steps ahead, and at the last one."""
    metric = partial(forecast_metric, scoring)
    return (
        metric(displacement, "displacement", "mean distance between the true and the predicted position"),
        metric(last_displacement, "last_displacement", "the same at the last step of the horizon"),
    )


def forecast_metric(scoring: ForecastScoring, measure: Measure, name: str, summary: str) -> Metric:
    """A metric whose statistics are sums of a measure over blocks."""
    return Metric(
        name,
        summary,
        require_sources,
        ratio,
        smaller_is_better=True,
        source_statistics=partial(block_sums, measure, scoring),
        source_spans=partial(spans, horizon=scoring.horizon),
    )


def require_sources(predictions: Sequence[Any], references: Sequence[Any]) -> Sums:
    """Statistics without sources: an error, as the scale of a forecast is that of its series."""
    raise TypeError("a metric of forecasts needs their sources: metric.for_sources(sources)")


def are_coordinates(channels: tuple[str, ...]) -> bool:
    """Whether channels, by their names, are the position of a moving object."""
    return tuple(name.lower() for name in channels) in COORDINATES


def block_sums(
    measure: Measure,
    scoring: ForecastScoring,
    sources: Sequence[Any],
    predictions: Sequence[Any],
    references: Sequence[Any],
) -> Sums:
    """(blocks, 2): a measure summed over blocks of consecutive windows of one series, and how many numbers.

    A source has a `series` and an `origin`. Where fewer steps are known or predicted, only these are compared.
    Predictions of several runs stand one after the other, each over all sources.
    """
    length = block_length(sources, scoring.horizon)
    sources = list(sources) * (len(predictions) // max(1, len(sources)))
    totals = np.zeros((len(predictions), 2))
    size = max(1, NUMBERS_AT_ONCE // max(1, np.asarray(predictions[0]).size)) if len(predictions) else 1
    for start in range(0, len(predictions), size):
        some = slice(start, start + size)
        predicted = np.stack(predictions[some]).astype(np.float64)
        predicted = predicted if predicted.ndim == 4 else predicted[..., None]  # (N, H, C, Q)
        targets = np.stack([one[0] for one in references[some]]).astype(np.float64)  # (N, H, C)
        steps = min(predicted.shape[1], targets.shape[1])
        found = measure(predicted[:, :steps], targets[:, :steps], scoring.scales(sources[some]), scoring)
        totals[some, 0], totals[some, 1] = found.sum(axis=(1, 2)), found[0].size
    return np.add.reduceat(totals, block_starts(sources, length)) if len(totals) else totals


class ChannelErrors(TypedDict):
    """The errors of one channel in the units of its file."""

    channel: str
    mae: float
    rmse: float
    smape: float  # in percent, from 0 to 200


def channel_errors(
    predictions: Sequence[Any], references: Sequence[Any], channels: Sequence[str], scoring: ForecastScoring
) -> list[ChannelErrors]:
    """Mean absolute error, root mean squared error and sMAPE of each channel, over all windows and steps."""
    sums = np.zeros((3, len(channels)))
    count = 0
    for predicted, (target, *_) in zip(predictions, references, strict=True):
        forecast, true = np.asarray(predicted, dtype=np.float64), np.asarray(target, dtype=np.float64)
        steps = min(len(forecast), len(true))
        forecast, true = (forecast if forecast.ndim == 3 else forecast[..., None])[None, :steps], true[None, :steps]
        errors = point_errors(forecast, true, scoring)
        symmetric = symmetric_error(forecast, true, NO_SCALES, scoring)
        sums += [part.sum(axis=(0, 1)) for part in (np.abs(errors), np.square(errors), symmetric)]
        count += steps
    if not count:
        return []
    absolute, squared, symmetric = (sums / count).tolist()
    rows = zip(channels, absolute, np.sqrt(squared).tolist(), symmetric, strict=True)
    return [ChannelErrors(channel=name, mae=mae, rmse=rmse, smape=smape) for name, mae, rmse, smape in rows]


def block_length(sources: Sequence[Any], horizon: int) -> int:
    """The horizon, or less where the test part is short: the bootstrap needs several blocks."""
    length = horizon
    while length > 1 and len(block_starts(sources, length)) < min(MIN_BLOCKS, len(sources)):
        length = -(-length // 2)
    return length


def block_starts(sources: Sequence[Any], length: int) -> list[int]:
    """Where blocks begin: at another series, at another `length` rows of it, at another run."""
    found: list[int] = []
    for at, source in enumerate(sources):
        before = sources[at - 1]
        apart = source.series != before.series or source.origin // length != before.origin // length
        if not at or apart or source.origin <= before.origin:  # the last: another run begins
            found.append(at)
    return found


def spans(sources: Sequence[Any], *, horizon: int) -> float:
    """How many horizons the windows of all series cover: those of a series from its first to its last origin."""
    ends: dict[str, tuple[int, int]] = {}
    for source in sources:
        first, last = ends.get(source.series, (source.origin, source.origin))
        ends[source.series] = min(first, source.origin), max(last, source.origin)
    return sum(1 + (last - first) / horizon for first, last in ends.values())


def horizon_bands(
    metric: Metric, sources: Sequence[Any], runs: Runs, references: Sequence[Sequence[Any]]
) -> list[Band]:
    """The metric on the near, the middle and the far third of the horizon."""
    if not references:
        return []
    bound, horizon = metric.for_sources(sources), min(len(references[0][0]), len(runs[0][0]))
    borders = sorted({round(horizon * band / BANDS) for band in range(BANDS + 1)})
    found = []
    for first, last in pairwise(borders):
        some = [[output[first:last] for output in outputs] for outputs in runs]
        quality = bootstrap_interval(bound, some, [(reference[0][first:last],) for reference in references])
        found.append(Band(first + 1, last, len(references), quality, "steps ahead"))
    return found
