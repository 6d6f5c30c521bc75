"""Metrics of forecasts by a plain loop and by hand."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from sklearn import metrics as metrics_of

from atento.metrics import ForecastScoring, bootstrap_interval, forecast_metrics, path_metrics
from atento.metrics.forecasts import are_coordinates, block_length, block_starts, channel_errors, horizon_bands


class Source(NamedTuple):
    series: str
    origin: int


class Scales(NamedTuple):
    std: np.ndarray
    naive: np.ndarray


SPREADS = {"a": [2.0, 0.5], "b": [10.0, 7.0]}
LEVELS = (0.1, 0.5, 0.8)


def scales(sources):
    std = np.array([SPREADS[source.series] for source in sources])
    return Scales(std, 3 * std)


def judged(levels=(), point=(1.0,)):
    """Eleven windows of one series and five of another, three steps ahead, two channels, and every metric by hand."""
    chance = np.random.default_rng(0)
    sources = [Source("a", at) for at in range(20, 31)] + [Source("b", at) for at in range(5)]
    outputs = list(np.sort(chance.normal(size=(16, 3, 2, max(1, len(levels)))), axis=-1))
    references = [(came,) for came in chance.normal(size=(16, 3, 2))]
    return sources, outputs, references, forecast_metrics(ForecastScoring(scales, 3, levels, point))


def test_every_metric_by_a_plain_loop():
    sources, outputs, references, metrics = judged(LEVELS, (0.0, 1.0, 0.0))
    found = {name: [] for name in ("pinball", "mse", "mae", "mase", "smape", "coverage")}
    for source, said, (came,) in zip(sources, outputs, references, strict=True):
        for step in range(3):
            for channel in range(2):
                std, truth = SPREADS[source.series][channel], came[step, channel]
                quantiles = said[step, channel]
                error = truth - quantiles[1]
                found["mse"].append((error / std) ** 2)
                found["mae"].append(abs(error) / std)
                found["mase"].append(abs(error) / (3 * std))
                found["smape"].append(200 * abs(error) / (abs(truth) + abs(quantiles[1])))
                tilted = [(level - (truth < one)) * (truth - one) for level, one in zip(LEVELS, quantiles, strict=True)]
                found["pinball"].append(np.mean(tilted) / std)
                found["coverage"].append(quantiles[0] <= truth <= quantiles[-1])
    assert [metric.name for metric in metrics] == list(found)
    for metric in metrics:
        assert metric.for_sources(sources).value(outputs, references) == pytest.approx(
            np.mean(found[metric.name]), rel=1e-12
        )
    assert "which promise 70%" in metrics[-1].summary


def test_errors_of_each_channel_in_units_are_scikit_learn_s():
    """Of the median of quantiles; steps that only one side knows are left out; zeros on both sides are no error."""
    _, outputs, references, _ = judged(LEVELS, (0.0, 1.0, 0.0))
    scoring = ForecastScoring(None, 3, LEVELS, (0.0, 1.0, 0.0))
    longer = [np.concatenate([output, output]) for output in outputs]
    for channel, found in enumerate(channel_errors(longer, references, ("Ventas", "T °C"), scoring)):
        truth = np.concatenate([one[:, channel] for (one,) in references])
        said = np.concatenate([output[:, channel, 1] for output in outputs])
        assert found["mae"] == pytest.approx(metrics_of.mean_absolute_error(truth, said), rel=1e-12)
        assert found["rmse"] == pytest.approx(metrics_of.root_mean_squared_error(truth, said), rel=1e-12)
        assert found["channel"] == ("Ventas", "T °C")[channel]
    (flat,) = channel_errors([np.zeros((2, 1))], [(np.zeros((2, 1)),)], ("y",), scoring)
    assert flat == {"channel": "y", "mae": 0.0, "rmse": 0.0, "smape": 0.0}
    assert channel_errors([], [], ("y",), scoring) == []


def test_pinball_is_scikit_learn_s():
    sources, outputs, references, metrics = judged(LEVELS, (0.0, 1.0, 0.0))
    std = np.stack([SPREADS[source.series] for source in sources])[:, None]
    came = np.stack([one for (one,) in references])
    theirs = [
        metrics_of.mean_pinball_loss((came / std).ravel(), (np.stack(outputs)[..., at] / std).ravel(), alpha=level)
        for at, level in enumerate(LEVELS)
    ]
    assert metrics[0].for_sources(sources).value(outputs, references) == pytest.approx(np.mean(theirs), rel=1e-12)


def test_one_number_is_every_quantile_and_needs_no_axis():
    sources, outputs, references, metrics = judged()
    assert [metric.name for metric in metrics] == ["mse", "mae", "mase", "smape"]
    flat = [output[..., 0] for output in outputs]
    for metric in metrics:
        told = metric.for_sources(sources)
        assert told.value(flat, references) == told.value(outputs, references)
        assert told.value([output[:2] for output in outputs], references) == told.value(
            outputs, [(one[:2],) for (one,) in references]
        )  # only what both know is judged


def test_windows_are_drawn_in_blocks_of_one_series():
    """A block is about as long as the horizon; its sums are those of its windows; two runs are counted apart."""
    sources, outputs, references, metrics = judged()
    told = metrics[0].for_sources(sources)
    starts = block_starts(sources, 3)
    assert starts == [0, 1, 4, 7, 10, 11, 14]  # origins 20 | 21 22 23 | … | 30, then 0 1 2 | 3 4 of the other
    assert block_length(sources, 3) == 2  # of at least eight blocks
    blocks = told.statistics(outputs, references)
    each = np.stack(
        [
            told.for_sources([source]).statistics([one], [truth])[0]
            for source, one, truth in zip(sources, outputs, references, strict=True)
        ]
    )
    ends = [*block_starts(sources, 2), len(sources)]
    np.testing.assert_allclose(blocks, [each[first:last].sum(axis=0) for first, last in pairwise(ends)])
    twice = told.statistics(outputs + outputs, references + references)
    np.testing.assert_allclose(twice, np.concatenate([blocks, blocks]))


def test_windows_that_do_not_overlap_are_counted():
    """Origins 4 to 25 of one series and one of another, ten steps ahead: 3.1 horizons and one."""
    sources = [Source("a", origin) for origin in range(4, 26, 3)] + [Source("b", 7)]
    metric = forecast_metrics(ForecastScoring(scales, 10, (), (1.0,)))[0]
    assert metric.independent is None
    assert metric.for_sources(sources).independent == pytest.approx(4.1)


def test_blocks_make_intervals_honest():
    """Of windows that repeat one another, an interval over windows is far too narrow."""
    chance = np.random.default_rng(0)
    sources = [Source("a", at) for at in range(400)]
    noise = (
        chance.normal(size=(10, 1, 1)).repeat(40, axis=0).repeat(40, axis=1).repeat(2, axis=2)
    )  # like for 40 windows
    outputs, references = list(noise[..., None]), [(np.zeros((40, 2)),)] * 400
    (long, *_), (short, *_) = (forecast_metrics(ForecastScoring(scales, block, (), (1.0,))) for block in (40, 1))
    wide, narrow = (bootstrap_interval(metric.for_sources(sources), [outputs], references) for metric in (long, short))
    assert wide.value == pytest.approx(narrow.value)
    assert wide.high - wide.low > 4 * (narrow.high - narrow.low)


def test_quality_against_steps_ahead():
    sources = [Source("a", at) for at in range(12)]
    outputs = [np.zeros((7, 2, 1))] * 12
    references = [(np.arange(7.0)[:, None] * np.array([2.0, 0.5]),)] * 12  # an error of 0, 1, … 6 standard deviations
    (metric, *_) = forecast_metrics(ForecastScoring(scales, 7, (), (1.0,)))
    bands = horizon_bands(metric, sources, [outputs, outputs], references)
    assert [(band.first, band.last) for band in bands] == [(1, 2), (3, 5), (6, 7)]
    assert [band.quality.value for band in bands] == pytest.approx([0.5, (4 + 9 + 16) / 3, (25 + 36) / 2])
    assert [
        band.to_json()["label"] for band in horizon_bands(metric, sources, [[one[:1] for one in outputs]], references)
    ] == ["1"]
    assert horizon_bands(metric, [], [[]], []) == []


@pytest.mark.spec("K11")
def test_the_mean_distance_and_that_at_the_end():
    came = np.zeros((3, 2, 2))  # three windows, two steps, x and y
    said = np.asarray([[[3, 4], [6, 8]], [[0, 1], [0, 2]], [[0, 0], [5, 12]]], dtype=float)
    sources = [Source("a", 0), Source("a", 7), Source("b", 0)]
    outputs, references = list(said[..., None]), [(one,) for one in came]
    every, last = path_metrics(ForecastScoring(scales, 2, (), (1.0,)))
    assert every.for_sources(sources).value(outputs, references) == pytest.approx((5 + 10 + 1 + 2 + 0 + 13) / 6)
    assert last.for_sources(sources).value(outputs, references) == pytest.approx((10 + 2 + 13) / 3)
    assert every.smaller_is_better and last.smaller_is_better
    value, low, high = bootstrap_interval(every.for_sources(sources), [outputs], references)
    assert low < value < high


def test_of_quantiles_the_point_counts():
    said = np.asarray([[[[0, 3, 9], [0, 4, 9]]]], dtype=float)  # (1, 1, 2, 3): the middle one is the point
    (every, _), sources = path_metrics(ForecastScoring(scales, 1, (0.1, 0.5, 0.9), (0.0, 1.0, 0.0))), [Source("a", 0)]
    assert every.for_sources(sources).value(list(said), [(np.zeros((1, 2)),)]) == pytest.approx(5)


def test_what_is_a_path_by_its_names():
    assert are_coordinates(("x", "y")) and are_coordinates(("X", "Y")) and are_coordinates(("lon", "lat"))
    assert not are_coordinates(("y",)) and not are_coordinates(("x", "y", "price"))
