"""Data leakage of forecasts: scales, training windows, forecast origins and covariates must not hold what is tested."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from atento.data.records import counted, in_words
from atento.data.series import Series
from atento.data.series.covariates import shifted_targets
from atento.errors import InputError, RunError
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.windows import Pairs, TrainingWindows
from atento.tasks.leaks import require_training_scale
from atento.tasks.task import Dataset, EvaluationExample

# Axes: T time, C channels, N windows.

MAX_ORIGINS = 200  # that are examined
WINDOWS = 50  # training windows that are examined


def require_no_leak(codec: SeriesCodec, reading: Dataset) -> None:
    """Refuse scales, windows or covariates that hold what is to be forecast; only the training part is looked at."""
    require_training_scales(codec, reading.train)
    require_past_windows(codec)
    require_known_covariates(codec, [series for series, _ in reading.train])


def with_later_parts(reading: Dataset, *, own_files: tuple[bool, bool] = (False, False)) -> Dataset:
    """The same data set, refused where a held-out part asks for rows that were learned from; the rows of a part with a
    file of its own are counted from the beginning of that file.
    """
    parts = (("validation", reading.valid), ("test", reading.test))
    for (name, questions), own in zip(parts, own_files, strict=True):
        require_later_origins(name, questions, () if own else reading.train)
    return reading


def require_training_scales(codec: SeriesCodec, train: Pairs) -> None:
    """Refuse a mean or a standard deviation of a series that is not that of its training rows."""
    for at, (series, _) in enumerate(train):
        of = f" of series {series.name!r}" if series.name else ""
        names = [f"{channel!r}{of}" for channel in codec.frame.channels]
        require_training_scale(names, codec.scales.mean[at], codec.scales.std[at], [series.values])


def require_past_windows(codec: SeriesCodec) -> None:
    """Refuse training windows whose past does not end one row before the target begins.

    The windows are cut from a clock, whose value in row t is t.
    """
    frame = codec.frame
    steps = codec.steps or frame.horizon
    rows = frame.look_back + steps + WINDOWS
    ticks = np.repeat(np.arange(rows, dtype=np.float64)[:, None], len(frame.channels), axis=1)  # (T, C)
    mean, std = codec.scales.mean[0], codec.scales.std[0]
    clock = Series(codec.names[0], mean + std * ticks / rows, np.zeros((rows, len(frame.covariates))))
    windows = TrainingWindows([codec.encode((clock, frame))], frame, steps=steps)
    batch = windows.gather(np.arange(len(windows)))
    past, target = (
        np.rint(rows * part.double().numpy()) for part in (batch.past, batch.target)
    )  # (N, L, C), (N, H, C)
    expected = past[:, -1:] + np.arange(1, steps + 1)[:, None]
    if (np.diff(past, axis=1) != 1).any() or (target != expected).any():
        wrong = int(np.argmax((target != expected).any(axis=(1, 2))))
        raise RunError(
            "a training window reads what it is to forecast.",
            found=f"a past until row {past[wrong, -1, 0]:.0f} with a target from row {target[wrong, 0, 0]:.0f}",
            fix="let a target begin a row after its past ends",
        )


def require_later_origins(name: str, questions: Sequence[EvaluationExample], train: Pairs) -> None:
    """Refuse forecasts of training rows, and pasts that end with the value to forecast."""
    some = questions[:: 1 + len(questions) // MAX_ORIGINS]
    ends = {series.name: series.start + len(series) for series, _ in train}
    early = [question for question in some if question.source.origin < ends.get(question.source.series, 0)]
    if early:
        raise RunError(
            f"{counted(len(early), 'forecast')} of the {name} part are of rows that were learned from.",
            found=f"one of row {early[0].source.origin}; training ends before row {ends[early[0].source.series]}",
            fix="let a part begin where the one before it ends",
        )
    moved = [two for one, two in pairwise(questions[:MAX_ORIGINS]) if is_next(two, one) and not same_first(one, two)]
    if moved and all(np.array_equal(one.source.values[-1], one.references[0][0]) for one in moved):
        shown = in_words([f"{value:.6g}" for value in moved[0].references[0][0]], limit=4)
        raise RunError(
            f"every past of the {name} part ends with the value it is to forecast.",
            found=f"{shown} as last and as next",
            fix="let a past end a row before its forecast begins",
        )


def is_next(one: EvaluationExample, before: EvaluationExample) -> bool:
    """Whether a forecast begins a row after another of the same series."""
    return one.source.series == before.source.series and one.source.origin == before.source.origin + 1


def same_first(one: EvaluationExample, two: EvaluationExample) -> bool:
    """Whether the first values to forecast are equal."""
    return np.array_equal(one.references[0][0], two.references[0][0])


def require_known_covariates(codec: SeriesCodec, series: Sequence[Series]) -> None:
    """Refuse a future covariate that is the target itself, shifted or not."""
    frame = codec.frame
    for found in shifted_targets(series, frame.horizon) if frame.covariates else ():
        covariate, channel = frame.covariates[found.covariate], frame.channels[found.channel]
        when = f"{counted(abs(found.ahead), 'step')} {'later' if found.ahead > 0 else 'before'}"
        when = when if found.ahead else "itself"
        raise InputError(
            f"data.future_covariates: {covariate!r} tells the answer: it is {channel!r} {when}.",
            found=f"a forecast of {counted(frame.horizon, 'step')} would read {channel!r} of steps to come",
            fix=f"leave {covariate!r} out of data.future_covariates",
        )
