"""Errors of numbers by hand and against scikit-learn."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from sklearn import metrics as metrics_of

from atento.errors import InputError
from atento.metrics.bootstrap import interval
from atento.metrics.forecasts import (
    Judging,
    block_length,
    block_starts,
    by_steps_ahead,
    forecast_metrics,
    mean_absolute_error,
    mean_squared_error,
)


def test_by_hand():
    said, came = [[1, 2], [3, 4]], [[1, 0], [4, 1.5]]
    assert mean_squared_error(said, came) == (0 + 4 + 1 + 6.25) / 4
    assert mean_absolute_error(said, came) == (0 + 2 + 1 + 2.5) / 4


def test_equal_to_scikit_learn():
    chance = np.random.default_rng(0)
    said, came = chance.normal(size=(2, 13, 5))
    assert mean_squared_error(said, came) == pytest.approx(metrics_of.mean_squared_error(came, said), rel=1e-12)
    assert mean_absolute_error(said, came) == pytest.approx(metrics_of.mean_absolute_error(came, said), rel=1e-12)


@pytest.mark.parametrize("said, came", [([1, 2], [[1], [2]]), ([1], [1, 2]), ([], [])])
def test_nothing_is_broadcast(said, came):
    for error in (mean_squared_error, mean_absolute_error):
        with pytest.raises(InputError, match="same shape"):
            error(said, came)


class Source(NamedTuple):
    series: str
    origin: int


class Scales(NamedTuple):
    spread: np.ndarray
    naive: np.ndarray


SPREADS = {"a": [2.0, 0.5], "b": [10.0, 7.0]}
LEVELS = (0.1, 0.5, 0.8)


def scales(sources):
    spread = np.array([SPREADS[source.series] for source in sources])
    return Scales(spread, 3 * spread)


def judged(levels=(), point=(1.0,)):
    """Eleven windows of one series and five of another, three steps ahead, two channels, and every metric by hand."""
    chance = np.random.default_rng(0)
    sources = [Source("a", at) for at in range(20, 31)] + [Source("b", at) for at in range(5)]
    outputs = list(np.sort(chance.normal(size=(16, 3, 2, max(1, len(levels)))), axis=-1))
    references = [(came,) for came in chance.normal(size=(16, 3, 2))]
    return sources, outputs, references, forecast_metrics(Judging(scales, 3, levels, point))


def test_every_metric_by_a_plain_loop():
    sources, outputs, references, metrics = judged(LEVELS, (0.0, 1.0, 0.0))
    found = {name: [] for name in ("pinball", "mse", "mae", "mase", "coverage")}
    for source, said, (came,) in zip(sources, outputs, references, strict=True):
        for step in range(3):
            for channel in range(2):
                spread, truth = SPREADS[source.series][channel], came[step, channel]
                quantiles = said[step, channel]
                error = truth - quantiles[1]
                found["mse"].append((error / spread) ** 2)
                found["mae"].append(abs(error) / spread)
                found["mase"].append(abs(error) / (3 * spread))
                tilted = [(level - (truth < one)) * (truth - one) for level, one in zip(LEVELS, quantiles, strict=True)]
                found["pinball"].append(np.mean(tilted) / spread)
                found["coverage"].append(quantiles[0] <= truth <= quantiles[-1])
    assert [metric.name for metric in metrics] == list(found)
    for metric in metrics:
        assert metric.on(sources).value(outputs, references) == pytest.approx(np.mean(found[metric.name]), rel=1e-12)
    assert "70% would be exact" in metrics[-1].summary


def test_pinball_is_scikit_learn_s():
    sources, outputs, references, metrics = judged(LEVELS, (0.0, 1.0, 0.0))
    spread = np.stack([SPREADS[source.series] for source in sources])[:, None]
    came = np.stack([one for (one,) in references])
    theirs = [
        metrics_of.mean_pinball_loss(
            (came / spread).ravel(), (np.stack(outputs)[..., at] / spread).ravel(), alpha=level
        )
        for at, level in enumerate(LEVELS)
    ]
    assert metrics[0].on(sources).value(outputs, references) == pytest.approx(np.mean(theirs), rel=1e-12)


def test_one_number_is_every_quantile_and_needs_no_axis():
    sources, outputs, references, metrics = judged()
    assert [metric.name for metric in metrics] == ["mse", "mae", "mase"]
    flat = [output[..., 0] for output in outputs]
    for metric in metrics:
        told = metric.on(sources)
        assert told.value(flat, references) == told.value(outputs, references)
        assert told.value([output[:2] for output in outputs], references) == told.value(
            outputs, [(one[:2],) for (one,) in references]
        )  # only what both know is judged


def test_windows_are_drawn_in_blocks_of_one_series():
    """A block is about as long as the horizon; its sums are those of its windows; two runs are counted apart."""
    sources, outputs, references, metrics = judged()
    told = metrics[0].on(sources)
    starts = block_starts(sources, 3)
    assert starts == [0, 1, 4, 7, 10, 11, 14]  # origins 20 | 21 22 23 | … | 30, then 0 1 2 | 3 4 of the other
    assert block_length(sources, 3) == 2  # of at least eight blocks
    blocks = told.statistics(outputs, references)
    each = np.stack(
        [
            told.on([source]).statistics([one], [truth])[0]
            for source, one, truth in zip(sources, outputs, references, strict=True)
        ]
    )
    ends = [*block_starts(sources, 2), len(sources)]
    np.testing.assert_allclose(blocks, [each[first:last].sum(axis=0) for first, last in pairwise(ends)])
    twice = told.statistics(outputs + outputs, references + references)
    np.testing.assert_allclose(twice, np.concatenate([blocks, blocks]))


def test_blocks_make_intervals_honest():
    """Of windows that repeat one another, an interval over windows is far too narrow."""
    chance = np.random.default_rng(0)
    sources = [Source("a", at) for at in range(400)]
    noise = (
        chance.normal(size=(10, 1, 1)).repeat(40, axis=0).repeat(40, axis=1).repeat(2, axis=2)
    )  # like for 40 windows
    outputs, references = list(noise[..., None]), [(np.zeros((40, 2)),)] * 400
    (long, *_), (short, *_) = (forecast_metrics(Judging(scales, block, (), (1.0,))) for block in (40, 1))
    wide, narrow = (interval(metric.on(sources), outputs, references) for metric in (long, short))
    assert wide.value == pytest.approx(narrow.value)
    assert wide.high - wide.low > 4 * (narrow.high - narrow.low)


def test_quality_against_steps_ahead():
    sources = [Source("a", at) for at in range(12)]
    outputs = [np.zeros((7, 2, 1))] * 12
    references = [(np.arange(7.0)[:, None] * np.array([2.0, 0.5]),)] * 12  # an error of 0, 1, … 6 spreads
    (metric, *_) = forecast_metrics(Judging(scales, 7, (), (1.0,)))
    bands = by_steps_ahead(metric, sources, [outputs, outputs], references)
    assert [(band["from"], band["to"]) for band in bands] == [(1, 2), (3, 5), (6, 7)]
    assert [band["value"] for band in bands] == pytest.approx([0.5, (4 + 9 + 16) / 3, (25 + 36) / 2])
    assert [band["label"] for band in by_steps_ahead(metric, sources, [[one[:1] for one in outputs]], references)] == [
        "1"
    ]
    assert by_steps_ahead(metric, [], [[]], []) == []
