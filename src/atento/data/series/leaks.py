"""Covariates that are the target itself, moved in time: who knows them beforehand knows the answer."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from atento.data.series.series import Numbers, Series

ALIKE = 0.999  # correlation of the values
MOVES_ALIKE = 0.99  # and of their changes: two trends are alike without being one
FEWEST = 30  # rows that both have
ROWS = 20_000  # of a series that are looked at

# Axes: T time, K covariates, C channels.


class Shifted(NamedTuple):
    """known[t] is what the channel is at t + ahead."""

    covariate: int
    channel: int
    ahead: int  # below 0: what the channel was


def shifted_targets(series: Sequence[Series], horizon: int) -> list[Shifted]:
    """Covariates that tell a value of the horizon before it comes: row t holds the value of row t + ahead, where ahead
    is above −horizon. One that holds values a horizon old and older tells nothing that is not known.
    """
    longest = max(series, key=len)
    known, values = longest.known[: len(longest)][:ROWS], longest.values[:ROWS]
    found = []
    for covariate in range(known.shape[1]):
        for channel in range(values.shape[1]):
            nearest = max(shifts_of(known[:, covariate], values[:, channel], horizon), default=None)
            if nearest is not None:
                found.append(Shifted(covariate, channel, nearest[1]))
    return found


def shifts_of(known: Numbers, values: Numbers, horizon: int) -> Iterator[tuple[float, int]]:
    """(correlation, ahead) of every shift that makes two columns (T,) one."""
    for ahead in range(1 - horizon, horizon + 1):
        first, last = max(0, -ahead), min(len(known), len(values) - ahead)
        if last - first < FEWEST:
            continue
        one, other = known[first:last], values[first + ahead : last + ahead]
        alike = correlation(one, other)
        if alike > ALIKE and correlation(np.diff(one), np.diff(other)) > MOVES_ALIKE:
            yield alike, ahead


def correlation(one: Numbers, other: Numbers) -> float:
    """Pearson's, without its sign; 0 where one never changes."""
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return abs(float(one @ other)) / scale if scale > 0 else 0.0
