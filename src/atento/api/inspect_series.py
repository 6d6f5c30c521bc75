"""What a set of series looks like: each channel in numbers and as a line, and what may mislead."""

from collections.abc import Iterator, Sequence

import numpy as np

from atento.api.problems import FEW_TESTED, Problem, command_of
from atento.bundle import Json
from atento.data.records import counted
from atento.data.series import Series
from atento.data.series.covariates import shifted_targets
from atento.data.series.series import Numbers
from atento.tasks.forecast.windows import WindowSpec
from atento.tasks.task import Dataset
from atento.views.forecast import blocks

MOST_CHANNELS = 24  # that are listed
POINTS = 24  # of a line: with a long name and four numbers it fits 80 columns
FAR = 20.0  # distances between quartiles that make a number an outlier
SENTINELS = (-99.0, -200.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, 999999.0)
FEW_WINDOWS = 200  # to train on


def channels_of(reading: Dataset) -> list[Json]:
    """Each channel over the training parts of all series; the line is the first series'."""
    series, frame = [one for one, _ in reading.train], reading.train[0][1]
    return [channel_facts(frame.channels[at], series, at) for at in range(min(len(frame.channels), MOST_CHANNELS))]


def channel_facts(name: str, series: Sequence[Series], at: int) -> Json:
    """One channel in numbers."""
    values = np.concatenate([one.values[:, at] for one in series])
    means = [chunk.mean() for chunk in np.array_split(series[0].values[:, at], min(POINTS, len(series[0])))]
    return {
        "name": name,
        "mean": float(values.mean()),
        "std": float(values.std()),
        "low": float(values.min()),
        "high": float(values.max()),
        "line": blocks(means, POINTS, (min(means), max(means))),
    }


def series_problems(file: str, reading: Dataset) -> list[Problem]:
    """Leaks first, for they make every score a lie."""
    series, frame = [one for one, _ in reading.train], reading.train[0][1]
    found: list[Problem] = []
    for look in (told_beforehand, never_changing, far_away, too_few):
        found += look(file, series, frame, reading)
    return found


def told_beforehand(file: str, series: Sequence[Series], frame: WindowSpec, reading: Dataset) -> Iterator[Problem]:
    """Covariates that are the target."""
    for leak in shifted_targets(series, frame.horizon) if frame.covariates else ():
        covariate, channel = frame.covariates[leak.covariate], frame.channels[leak.channel]
        where = f"the covariate {covariate!r} is {channel!r}, moved by {counted(abs(leak.ahead), 'step')}"
        rest = [name for name in frame.covariates if name != covariate]
        known = command_of(file, [f"data.future_covariates={','.join(rest)}"])
        yield Problem("leak", where, "a model would read the answer; leave it out of data.future_covariates", known)


def never_changing(file: str, series: Sequence[Series], frame: WindowSpec, reading: Dataset) -> Iterator[Problem]:
    """Channels with one value in all of the training part."""
    still = [
        name
        for at, name in enumerate(frame.channels)
        if all(np.ptp(one.values[:, at]) == 0 for one in series)  # quick: most channels move in the first series
    ]
    if still:
        moving = [name for name in frame.channels if name not in still]
        verb, them = ("changes", "it") if len(still) == 1 else ("change", "them")
        where = f"{counted(len(still), 'channel')} never {verb} in the training part: {', '.join(still[:5])}"
        yield Problem("columns", where, f"leave {them} out", command_of(file, [f"data.target={','.join(moving)}"]))


def far_away(file: str, series: Sequence[Series], frame: WindowSpec, reading: Dataset) -> Iterator[Problem]:
    """Numbers that lie so far from all others that they may stand for missing values, such as -9999."""
    for at, name in enumerate(frame.channels[:MOST_CHANNELS]):
        values = np.concatenate([one.values[:, at] for one in series])
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        mark = stand_for_missing(values)
        if mark is not None:
            where = f"{mark:g} is {int((values == mark).sum()):,} times in {name!r}, far from all other numbers"
            yield Problem(
                "rows", where, "where it stands for a missing number, leave the cell empty: data.gaps fills it"
            )
            continue
        far = np.abs(values - middle) > FAR * (high - low) if high > low else np.zeros(len(values), dtype=bool)
        if 0 < far.sum() <= len(values) // 100:
            where = f"{counted(int(far.sum()), 'number')} of {name!r} lie far from all others, e.g. {values[far][0]:g}"
            yield Problem(
                "rows", where, "where it stands for a missing number, leave the cell empty: data.gaps fills it"
            )


def stand_for_missing(values: Numbers) -> float | None:
    """A number such as -999 that repeats far outside all others, as marks of missing values do; None: there is none."""
    for mark in SENTINELS:
        count = int((values == mark).sum())
        others = values[values != mark]
        if count > 1 and len(others) > count:
            low, high = others.min(), others.max()
            if mark < low - (high - low) / 2 or mark > high + (high - low) / 2:
                return mark
    return None


def too_few(file: str, series: Sequence[Series], frame: WindowSpec, reading: Dataset) -> Iterator[Problem]:
    """Little to learn from, or little to judge by."""
    windows = sum(max(0, len(one) - frame.window + 1) for one in series)
    if windows < FEW_WINDOWS:
        where = f"only {counted(windows, 'window')} of {frame.window} steps to train on"
        if frame.look_back > max(1, frame.season):  # a past shorter than a season forecasts worse than few windows do
            shorter = command_of(file, [f"data.look_back={max(frame.look_back // 2, frame.season)}"])
            yield Problem("size", where, "a shorter past leaves more of them", shorter)
        else:
            yield Problem("size", where, "give more rows")
    if len(reading.test) < FEW_TESTED:
        where = f"only {counted(len(reading.test), 'forecast')} to test on: one more moves the score by percents"
        yield Problem("size", where, "give the test a larger share", command_of(file, ["data.split=60/10/30"]))
