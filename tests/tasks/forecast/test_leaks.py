"""What a forecaster must not know: each way of cheating is planted, and caught; honest readings pass."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from atento.data import Series
from atento.data.series import Frequency, Past
from atento.errors import InputError, RunError
from atento.spec import TokensRecipe
from atento.tasks.forecast import leaks
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.leaks import require_no_leak, with_later_parts
from atento.tasks.forecast.windows import Origins, TrainingWindows, WindowSpec
from atento.tasks.task import Dataset, EvaluationExample

ROWS, TRAIN, VALID, LOOK_BACK, HORIZON = 307, 211, 251, 11, 5
FRAME = WindowSpec(LOOK_BACK, HORIZON, ("a", "b"), ("rain",), Frequency(1, "h"), 1)


def reading_of(series: list[Series]) -> Dataset:
    """Split by time, as the forecast task does."""
    return Dataset(
        name="made",
        train=tuple((one.cut(0, TRAIN), FRAME) for one in series),
        valid=Origins(series, FRAME, [(TRAIN, VALID - HORIZON + 1)] * len(series)),
        test=Origins(series, FRAME, [(VALID, ROWS - HORIZON + 1)] * len(series)),
        refused=(),
        notes=(),
        fingerprint="",
    )


@pytest.fixture
def series() -> list[Series]:
    """Two series that rise, so that later rows change every scale."""
    chance = np.random.default_rng(13)
    return [
        Series(
            name, chance.normal(size=(ROWS, 2)).cumsum(axis=0) + np.arange(ROWS)[:, None], chance.normal(size=(ROWS, 1))
        )
        for name in ("one", "two")
    ]


def honest(reading: Dataset) -> SeriesCodec:
    return SeriesCodec.learn(TokensRecipe(), reading.train)


@pytest.mark.spec("X04")
def test_an_honest_forecaster_passes(series):
    reading = reading_of(series)
    require_no_leak(honest(reading), reading)
    assert with_later_parts(reading) is reading


@pytest.mark.spec("X04")
def test_a_scaler_fitted_on_everything_is_caught(series):
    reading = reading_of(series)
    codec = SeriesCodec.learn(TokensRecipe(), [(one, FRAME) for one in series])
    with pytest.raises(RunError, match="the scale of 'a' of series 'one' is not that of the training rows"):
        require_no_leak(codec, reading)


def test_a_spread_of_everything_is_caught(series):
    reading = reading_of(series)
    codec, greedy = honest(reading), SeriesCodec.learn(TokensRecipe(), [(one, FRAME) for one in series])
    with pytest.raises(RunError, match="is not that of the training rows"):
        require_no_leak(replace(codec, scales=codec.scales._replace(std=greedy.scales.std)), reading)


class Greedy(TrainingWindows):
    """Its pasts end a row too late."""

    def gather(self, indices):
        batch = super().gather(indices)
        return batch._replace(past=batch.past.roll(-1, dims=1).index_copy(1, LAST, batch.target[:, :1]))


LAST = torch.tensor([LOOK_BACK - 1])


@pytest.mark.spec("X04")
def test_a_future_value_in_a_training_window_is_caught(series, monkeypatch):
    reading = reading_of(series)
    codec = honest(reading)
    monkeypatch.setattr(leaks, "TrainingWindows", Greedy)
    with pytest.raises(RunError, match="a training window reads what it is to forecast"):
        require_no_leak(codec, reading)


@pytest.mark.spec("X04")
@pytest.mark.parametrize("part", ["valid", "test"])
def test_a_future_value_in_a_question_is_caught(series, part):
    reading = reading_of(series)
    asked = [
        EvaluationExample(
            Past(
                past.series,
                past.until,
                np.concatenate([past.values[1:], future[:1]]),
                past.future_covariates,
                past.origin,
            ),
            (future,),
        )
        for past, (future,) in getattr(reading, part)
    ]
    with pytest.raises(RunError, match="ends with the value it is to forecast"):
        with_later_parts(reading._replace(**{part: asked}))


def test_a_part_that_was_learned_from_is_caught(series):
    reading = reading_of(series)
    early = Origins(series, FRAME, [(TRAIN - HORIZON, VALID)] * 2)
    with pytest.raises(RunError, match="of the validation part are of rows that were learned from"):
        with_later_parts(reading._replace(valid=early))


@pytest.mark.spec("X04")
@pytest.mark.parametrize(("ahead", "words"), [(2, "it is 'b' 2 steps later"), (0, "it is 'b' itself")])
def test_a_covariate_that_is_the_target_shifted_is_caught(series, ahead, words):
    told = [Series(one.name, one.values, np.roll(one.values[:, 1:], -ahead, axis=0)) for one in series]
    reading = reading_of(told)
    with pytest.raises(InputError, match="tells the answer") as caught:
        require_no_leak(honest(reading), reading)
    assert words in str(caught.value)
    assert "leave 'rain' out of data.future_covariates" in str(caught.value)


def test_a_channel_that_never_changes_is_no_leak(series):
    still = [Series(one.name, one.values * [1.0, 0.0] + [0.0, 7.0], one.future_covariates) for one in series]
    reading = reading_of(still)
    require_no_leak(honest(reading), reading)


@pytest.mark.parametrize("levels", [(7, 7), (1000, 3), (ROWS, ROWS)], ids=["weeks", "one still", "both still"])
def test_values_that_stay_for_a_while_are_no_leak(series, levels, monkeypatch):
    """A weekly value filled in daily, looked at once a week, is always the one before it."""
    monkeypatch.setattr(leaks, "MAX_ORIGINS", 7)
    steps = [np.arange(ROWS)[:, None] // level * [1.0, 2.0] + at for at, level in enumerate(levels)]
    told = [Series(one.name, values, one.future_covariates) for one, values in zip(series, steps, strict=True)]
    reading = reading_of(told)
    weekly = [question for question in reading.test if question.source.origin % 7 != 0][::6]
    for test in (reading.test, weekly):
        with_later_parts(reading._replace(test=test))
