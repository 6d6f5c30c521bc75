"""A forecaster must know nothing of what it is tested on: by its scales, its windows or what it knows beforehand."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atento.checking.number_leaks import require_honest_scale
from atento.data.records import counted, in_words
from atento.data.series import Series
from atento.data.series.leaks import shifted_targets
from atento.errors import InputError, RunError
from atento.tasks.forecast_codec import SeriesCodec
from atento.tasks.forecast_windows import TrainingWindows
from atento.tasks.task import Question, Reading

ASKED = 200  # forecasts that are looked at
WINDOWS = 50  # training windows that are looked at

# Axes: T time, C channels, N windows.


def require_honest_series(codec: SeriesCodec, reading: Reading) -> None:
    """Stop before a model is trained on what the test will ask for."""
    require_honest_scales(codec, reading.train)
    require_honest_windows(codec)
    for name, questions in (("validation", reading.valid), ("test", reading.test)):
        require_honest_origins(name, questions, reading.train)
    require_honest_covariates(codec, [series for series, _ in reading.train])


def require_honest_scales(codec: SeriesCodec, train: Sequence[tuple[Series, Any]]) -> None:
    """Each series' mean and spread are those of its training rows, and of no others."""
    for at, (series, _) in enumerate(train):
        of = f" of series {series.name!r}" if series.name else ""
        names = [f"{channel!r}{of}" for channel in codec.frame.channels]
        require_honest_scale(names, codec.scales.mean[at], codec.scales.spread[at], [series.values])


def require_honest_windows(codec: SeriesCodec) -> None:
    """Windows of a clock, whose value in row t is t: a past ends a row before its target begins."""
    frame = codec.frame
    steps = codec.steps or frame.horizon
    rows = frame.look_back + steps + WINDOWS
    ticks = np.repeat(np.arange(rows, dtype=np.float64)[:, None], len(frame.channels), axis=1)  # (T, C)
    mean, spread = codec.scales.mean[0], codec.scales.spread[0]
    clock = Series(codec.names[0], mean + spread * ticks / rows, np.zeros((rows, len(frame.covariates))))
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


def require_honest_origins(name: str, questions: Sequence[Question], train: Sequence[tuple[Series, Any]]) -> None:
    """What is forecast comes after what was learned from, and is not yet in what is read."""
    some = questions[:: 1 + len(questions) // ASKED]
    ends = {series.name: series.start + len(series) for series, _ in train}
    early = [question for question in some if question.source.origin < ends.get(question.source.series, 0)]
    if early:
        raise RunError(
            f"{counted(len(early), 'forecast')} of the {name} part are of rows that were learned from.",
            found=f"one of row {early[0].source.origin}; training ends before row {ends[early[0].source.series]}",
            fix="let a part begin where the one before it ends",
        )
    pasts = [question.source.values[-1] for question in some]
    firsts = [question.references[0][0] for question in some]
    if len(some) > 1 and np.ptp(firsts, axis=0).any() and all(map(np.array_equal, pasts, firsts)):
        raise RunError(
            f"every past of the {name} part ends with the value it is to forecast.",
            found=f"{in_words([f'{value:.6g}' for value in firsts[0]], limit=4)} as last and as next",
            fix="let a past end a row before its forecast begins",
        )


def require_honest_covariates(codec: SeriesCodec, series: Sequence[Series]) -> None:
    """Nothing that is known beforehand is the target itself."""
    frame = codec.frame
    for found in shifted_targets(series, frame.horizon) if frame.covariates else ():
        covariate, channel = frame.covariates[found.covariate], frame.channels[found.channel]
        when = f"{counted(abs(found.ahead), 'step')} {'later' if found.ahead > 0 else 'before'}"
        raise InputError(
            f"data.known: {covariate!r} tells the answer: it is {channel!r} {when if found.ahead else 'itself'}.",
            found=f"a forecast of {counted(frame.horizon, 'step')} would read {channel!r} of steps to come",
            fix=f"leave {covariate!r} out of data.known",
        )
