"""Valid prediction times of free runs, in Lyapunov times, by forecasters whose errors are known."""

import numpy as np
import pytest

from atento.data.builtin.dynamics import LYAPUNOV_PER_ROW
from atento.spec import DataRecipe, TokensRecipe
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.reading import read_forecasts
from atento.tasks.forecast.valid_time import LONGEST, free_runs, valid_time


@pytest.fixture(scope="module")
def lorenz():
    data = read_forecasts(DataRecipe(train="lorenz", length=6000, look_back=1, horizon=5), 0)
    return SeriesCodec.learn(TokensRecipe(), data.train), data.test


def oracle(test, error=0.0):
    """What truly follows each past, or that with an error of so many standard deviations in every channel."""
    by_origin = {question.source.origin: question.references[0] for question in test}
    return lambda pasts: [by_origin[past.origin] + error for past in pasts]


@pytest.mark.spec("D05")
def test_truth_is_valid_to_the_end_and_a_large_error_never(lorenz):
    codec, test = lorenz
    steps = min(int(np.ceil(LONGEST / LYAPUNOV_PER_ROW["lorenz"])), 2 * len(test) // 3)
    right = valid_time("lorenz", codec, test, oracle(test))
    assert right.value == pytest.approx(steps * LYAPUNOV_PER_ROW["lorenz"])
    assert right.low == right.high == right.value
    std = codec.scales.std[0]
    assert valid_time("lorenz", codec, test, oracle(test, 0.39 * std)).value == right.value
    assert valid_time("lorenz", codec, test, oracle(test, 0.41 * std)).value == 0.0
    assert valid_time("unknown", codec, test, oracle(test)) is None
    assert valid_time("lorenz", codec, test[:20], oracle(test)) is None


@pytest.mark.spec("D05")
def test_a_free_run_reads_its_own_output(lorenz):
    """A forecaster that adds 1 a step counts on from its own last number."""
    codec, test = lorenz
    past = test[0].source

    def count(pasts):
        return [one.values[-1] + np.arange(1, 6)[:, None] for one in pasts]

    run = free_runs([past], codec, count, 12)
    assert run[0] == pytest.approx(past.values[-1] + np.arange(1, 13)[:, None])
