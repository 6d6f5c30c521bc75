"""The frame of a forecast: how much is read, how much is forecast, and of what."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from atento.data.records import counted
from atento.data.series import SeriesSet, Step
from atento.spec import DataRecipe
from atento.tasks.forecast_flow import is_flow

SEASONS = 14  # read where there is enough: two weeks of days, a fortnight of hours of a day
LONGEST = 512  # steps read by default; more cost more than they tell
SHARE = 5  # of a short series at most a fifth is forecast
UNSEASONED = 24  # steps forecast where no season is likely, of a series twenty times as long
LEAST = 40  # steps read where no season is likely
PARTS = 8  # of the training rows at most an eighth is read, or a season


class Frame(NamedTuple):
    """What every window has in common."""

    look_back: int  # steps that are read
    horizon: int  # steps that are forecast
    channels: tuple[str, ...]  # what is read and forecast
    covariates: tuple[str, ...]  # what is known beforehand
    step: Step
    season: int  # steps; 1: none is likely
    keys: tuple[tuple[str, str], ...] = ()  # what data.* must say for another file to be read alike

    @property
    def window(self) -> int:
        """Rows of a window, what is forecast included."""
        return self.look_back + self.horizon


Pairs = Sequence[tuple[Any, Frame]]  # (the training part of a series, the frame that all share)


def frame_of(found: SeriesSet, recipe: DataRecipe) -> tuple[Frame, tuple[str, ...]]:
    """The frame a recipe asks for; what it leaves open follows from the season and from how long the series are."""
    rows = typical_length(found)
    flow = recipe.look_back in (0, 1) and not found.covariates and is_flow(found.series)
    season = 1 if flow else found.season  # what comes round in a flow comes at no fixed time
    horizon = recipe.horizon or guess_horizon(rows, season)
    look_back = recipe.look_back or (1 if flow else guess_look_back(rows, horizon, season))
    notes = []
    said = f"a season of {season}" if season > 1 else "no season"
    if not recipe.horizon:
        notes.append(f"horizon: {counted(horizon, 'step')} of {found.step} ({said}; data.horizon= changes it)")
    if flow and not recipe.look_back:
        notes.append("look-back: 1 step (each row almost decides the next, as in a flow; data.look_back= changes it)")
    elif not recipe.look_back:
        notes.append(
            f"look-back: {counted(look_back, 'step')} ({said}, {rows:,} rows a series; data.look_back= changes it)"
        )
    return Frame(look_back, horizon, found.channels, found.covariates, found.step, season, found.keys), tuple(notes)


def typical_length(found: SeriesSet) -> int:
    """Rows of the shortest series; where that is much shorter than the others, what nine in ten series reach."""
    lengths = [len(series) for series in found.series] or [0]
    shortest = min(lengths)
    return shortest if 3 * shortest >= np.median(lengths) else int(np.quantile(lengths, 0.1))


def guess_horizon(rows: int, season: int) -> int:
    """A season, of a short series less; without a season a few steps."""
    return max(1, min(season, rows // SHARE) if season > 1 else min(UNSEASONED, rows // (4 * SHARE)))


def guess_look_back(rows: int, horizon: int, season: int) -> int:
    """Many seasons where there are rows for them, a whole one where there can be."""
    left = max(1, rows - 3 * horizon)  # the test, the validation and one window's target need a horizon each
    wanted = max(SEASONS * season if season > 1 else LEAST, 2 * horizon)
    allowed = max(min(LONGEST, left // PARTS), season if season < left else 1)
    return max(1, min(wanted, allowed, left))
