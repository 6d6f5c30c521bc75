"""A table melted by variable: values of one time in several rows, back to channels of one series."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from atento.data.records import counted, in_words
from atento.data.series.series import Series

BETWEEN = "\t"  # between the name of a series and that of a variable; no cell of a table of numbers holds one


def gather_channels(
    series: Sequence[Series], channels: tuple[str, ...]
) -> tuple[tuple[Series, ...], tuple[str, ...], tuple[str, ...]]:
    """One series of all variables where these have the same times; else a series for each."""
    groups: dict[str, list[Series]] = {}
    for one in series:
        groups.setdefault(one.name.rpartition(BETWEEN)[0], []).append(one)
    names = [one.name.rpartition(BETWEEN)[2] for one in next(iter(groups.values()))]
    alike = all(
        [one.name.rpartition(BETWEEN)[2] for one in group] == names and all(same_times(group[0], one) for one in group)
        for group in groups.values()
    )
    if not alike:
        apart = tuple(replace(one, name=one.name.replace(BETWEEN, "/").removeprefix("/")) for one in series)
        return apart, channels, (f"variables have different times: each is a series, {len(apart)} in all",)
    merged = tuple(
        replace(group[0], name=name, values=np.concatenate([one.values for one in group], axis=1))
        for name, group in groups.items()
    )
    wide = tuple(names) if len(channels) == 1 else tuple(f"{name} {each}" for name in names for each in channels)
    return merged, wide, (f"{counted(len(names), 'variable')} as channels: {in_words(names)}",)


def same_times(one: Series, other: Series) -> bool:
    """Whether two series have the same rows."""
    if one.times is None or other.times is None:
        return len(one) == len(other) and len(one.known) == len(other.known)
    return len(one) == len(other) and np.array_equal(one.times, other.times)
