"""How far off a path was: by hand."""

from typing import NamedTuple

import numpy as np
import pytest

from atento.metrics.bootstrap import interval
from atento.metrics.forecasts import Judging, is_path, path_metrics


class Source(NamedTuple):
    series: str
    origin: int


class Scales(NamedTuple):
    spread: np.ndarray
    naive: np.ndarray


def scales(sources):
    return Scales(np.full((len(sources), 2), 9.0), np.ones((len(sources), 2)))  # a distance asks for no scale


@pytest.mark.spec("K11")
def test_the_mean_distance_and_that_at_the_end():
    came = np.zeros((3, 2, 2))  # three windows, two steps, x and y
    said = np.asarray([[[3, 4], [6, 8]], [[0, 1], [0, 2]], [[0, 0], [5, 12]]], dtype=float)
    sources = [Source("a", 0), Source("a", 7), Source("b", 0)]
    outputs, references = list(said[..., None]), [(one,) for one in came]
    every, last = path_metrics(Judging(scales, 2, (), (1.0,)))
    assert every.on(sources).value(outputs, references) == pytest.approx((5 + 10 + 1 + 2 + 0 + 13) / 6)
    assert last.on(sources).value(outputs, references) == pytest.approx((10 + 2 + 13) / 3)
    assert every.smaller_is_better and last.smaller_is_better
    value, low, high = interval(every.on(sources), outputs, references)
    assert low < value < high


def test_of_quantiles_the_point_counts():
    said = np.asarray([[[[0, 3, 9], [0, 4, 9]]]], dtype=float)  # (1, 1, 2, 3): the middle one is the point
    (every, _), sources = path_metrics(Judging(scales, 1, (0.1, 0.5, 0.9), (0.0, 1.0, 0.0))), [Source("", 0)]
    assert every.on(sources).value(list(said), [(np.zeros((1, 2)),)]) == pytest.approx(5)


def test_what_is_a_path_by_its_names():
    assert is_path(("x", "y")) and is_path(("X", "Y")) and is_path(("lon", "lat"))
    assert not is_path(("y",)) and not is_path(("x", "y", "price"))
