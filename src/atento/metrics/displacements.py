"""How far from where it was foretold a moving thing is found, in the units of its path."""

from functools import partial
from typing import Any

import numpy as np

from atento.metrics.forecasts import Judging, Measure, Numbers, errors, in_blocks, without_sources
from atento.metrics.metric import Metric, share

# Axes: N windows, H steps ahead, C coordinates, Q quantiles (one number: 1).

COORDINATES = (("x", "y"), ("x", "y", "z"), ("lon", "lat"), ("east", "north"))


def is_path(channels: tuple[str, ...]) -> bool:
    """Whether channels, by their names, are where a thing is."""
    return tuple(name.lower() for name in channels) in COORDINATES


def displacement(said: Numbers, came: Numbers, scales: Any, judging: Judging) -> Numbers:
    """‖p − p̂‖ of every step, (N, H, 1)."""
    return np.linalg.norm(errors(said, came, judging), axis=-1, keepdims=True)


def last_displacement(said: Numbers, came: Numbers, scales: Any, judging: Judging) -> Numbers:
    """‖p − p̂‖ of the last step, (N, 1, 1)."""
    return displacement(said[:, -1:], came[:, -1:], scales, judging)


def path_metrics(judging: Judging) -> tuple[Metric, ...]:
    """The mean distance over all steps ahead, and at the last one."""
    measures: dict[str, tuple[str, Measure]] = {
        "displacement": ("mean distance between where it was and where it was foretold", displacement),
        "last_displacement": ("the same at the last step of the horizon", last_displacement),
    }
    return tuple(
        Metric(
            name,
            f"{summary}; smaller is better",
            without_sources,
            share,
            smaller_is_better=True,
            by_source=partial(in_blocks, measure, judging),
        )
        for name, (summary, measure) in measures.items()
    )
