"""Where series end, and the table of what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from atento.data.series import Past, Step
from atento.data.series.series import Times
from atento.data.series.steps import walk
from atento.layers.quantiles import median_shares
from atento.tasks.task import Answer, Opened


@dataclass(frozen=True, eq=False)
class SeriesEnd(Past):
    """The end of a series: a past that knows its clock and its columns."""

    last: np.datetime64 | None = None  # the time of its last row
    step: Step = Step(1, "")  # noqa: RUF009  a value
    channels: tuple[str, ...] = ()


def written(times: Times) -> list[str]:
    """As a person writes them: a date where the clock stands at midnight throughout."""
    seconds = times.astype("datetime64[s]") if (times.astype("datetime64[s]") == times).all() else times
    days = seconds.astype("datetime64[D]")
    if (seconds == days).all():
        return [str(day) for day in days]
    return [str(one).replace("T", " ") for one in seconds]


def tabulate(opened: Opened, answers: Sequence[Answer]) -> dict[str, list[Any]]:
    """A long table: which series, when, and for each channel its forecast, then a column for each of its quantiles.

    The forecast of a channel `y` is called `y_hat`, its quantiles `y-0.1`; other channels keep their names.
    """
    ends = [end for end in opened.sources if isinstance(end, SeriesEnd)]
    table: dict[str, list[Any]] = {}
    if any(end.series for end in ends):
        table["unique_id"] = [end.series for end, answer in zip(ends, answers, strict=True) for _ in answer.value]
    table["ds"] = [
        when
        for end, answer in zip(ends, answers, strict=True)
        for when in (
            written(walk(end.last, end.step, len(answer.value) + 1)[1:])
            if end.last is not None
            else range(end.origin, end.origin + len(answer.value))
        )
    ]
    levels = dict(answers[0].chances or {}) if answers else {}
    shares = np.asarray(median_shares(list(levels.values())))
    for at, channel in enumerate(ends[0].channels if ends else ()):
        point = f"{channel}_hat" if channel == "y" else channel
        table[point] = [digits(number) for answer in answers for number in answer.value[:, at] @ shares]
        for place, level in enumerate(levels):
            table[f"{channel}-{level}"] = [
                digits(number) for answer in answers for number in answer.value[:, at, place]
            ]
    return table


def digits(number: float) -> float:
    """As many digits as a forecast has."""
    return float(f"{number:.7g}")
