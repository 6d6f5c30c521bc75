"""Phase portraits: the trajectory of a rollout beside the true one, as plain data and for a terminal.

The model reads its own output again and again (a free run). `phase_page` draws the view.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from atento.data.dynamics.analysis import decorrelation_lag, delay_embedding
from atento.metrics.dynamics import THRESHOLD, climate
from atento.reprs import short_repr
from atento.views.saving import ModelView, rounded
from atento.views.wording import shortened

# Axes: T time, C channels.

Numbers = NDArray[np.float64]
Which = Literal["true", "generated"]

SHOWN = 3  # coordinates
TIMES = 400  # steps shown against time
ERRORS = 1000  # steps whose error is shown
FARTHEST = 3.0  # ranges of the truth: what lies farther out is drawn at the border
MAX_NAME = 17  # characters of a coordinate's name in the table
HEADINGS = {
    "histogram": "histogram",
    "mean": "mean",
    "std_ratio": "std ratio",
    "spectrum": "spectrum",
    "return_map": "return map",
}


@dataclass(frozen=True, kw_only=True)
class PhasePlane:
    """Two trajectories in one plane, as points (x, y)."""

    across: str
    up: str
    true: list[list[float]]
    generated: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class PhaseTimes:
    """One coordinate against time."""

    channel: str
    true: list[float]
    generated: list[float]


@dataclass(frozen=True, kw_only=True)
class PhaseSpace:
    """Two trajectories in three coordinates, as points (x, y, z)."""

    names: list[str]
    true: list[list[float]]
    generated: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """The error of a rollout step by step: √(mean over coordinates of (ŷ − y)² / variance)."""

    errors: list[float]
    threshold: float  # from which on the forecast is no longer valid
    valid_steps: int  # before the error first exceeds it
    lyapunov: float  # Lyapunov times of one step; 0: not known

    @property
    def sentence(self) -> str:
        """How long the rollout is valid, in words."""
        beyond = max(self.errors, default=0.0) <= self.threshold
        text = f"{self.valid_steps} steps"
        if self.lyapunov:
            text = f"{self.valid_steps * self.lyapunov:.2f} Lyapunov times ({text})"
        if beyond:
            return f"its error stays below {self.threshold:g} standard deviations for {text}"
        return f"its error exceeds {self.threshold:g} standard deviations after {text}"


@dataclass(frozen=True, kw_only=True)
class PhaseView(ModelView):
    """A rollout beside the true trajectory: planes, space, coordinates against time, its error, and its climate."""

    data: str = ""
    channels: list[str]
    lag: int  # of a single coordinate, which is drawn against itself so many steps ago; else 0
    steps: int
    planes: list[PhasePlane]
    times: list[PhaseTimes]
    outcome: str  # whether the rollout stays on the attractor, in words
    space: PhaseSpace | None = None  # None of two coordinates
    divergence: Divergence | None = None  # None without actual values
    climate: dict[str, list[float | None]]  # a number for each coordinate under each key of HEADINGS; None: infinite

    def __repr__(self) -> str:
        return short_repr(self)


def phase_view(
    truth: Numbers,
    run: Numbers,
    follows: Numbers,
    channels: Sequence[str],
    *,
    model: str = "",
    data: str = "",
    lyapunov: float = 0.0,
) -> PhaseView:
    """truth (T, C) is observed, run (T', C) is generated, follows (T″, C) are the actual values at the time of the
    run, which may be few or none. A single coordinate is drawn in the plane of x(t) and x(t − lag). `lyapunov` are the
    Lyapunov times of one step, 0 where they are not known.
    """
    lag = decorrelation_lag(truth[:, 0]) if len(channels) == 1 else 0
    low, high = truth.min(axis=0), truth.max(axis=0)
    room = FARTHEST * np.where(high > low, high - low, 1.0)
    drawn = np.clip(np.nan_to_num(run, nan=0.0, posinf=np.inf, neginf=-np.inf), low - room, high + room)
    finite = np.isfinite(run).all(axis=1)
    drawn = drawn[: len(drawn) if finite.all() else int(finite.argmin())]
    names = [shortened(name, MAX_NAME) for name in channels[:SHOWN]]
    found = climate(run, truth)
    return PhaseView(
        model=model,
        data=data,
        channels=list(channels),
        lag=lag,
        steps=len(run),
        planes=planes(truth, drawn, names, lag),
        times=[
            PhaseTimes(channel=name, true=rounded(follows[:TIMES, at]), generated=rounded(drawn[:TIMES, at]))
            for at, name in enumerate(names)
        ],
        outcome=found.outcome,
        space=space(truth, drawn, names, lag),
        divergence=divergence(run, follows, truth.var(axis=0), lyapunov),
        climate={
            name: [round(float(one), 4) if np.isfinite(one) else None for one in getattr(found, name)]
            for name in HEADINGS
        },
    )


def planes(truth: Numbers, run: Numbers, names: Sequence[str], lag: int) -> list[PhasePlane]:
    """The first coordinate with each other one; a single coordinate with itself some steps ago."""
    if lag:
        embedded = [
            delay_embedding(path[:, 0], delays=2, lag=lag) if len(path) > lag else path[:0, [0, 0]]
            for path in (truth, run)
        ]
        return [plane(f"{names[0]}(t)", f"{names[0]}(t − {lag})", *embedded)]
    return [plane(names[0], name, truth[:, [0, at]], run[:, [0, at]]) for at, name in enumerate(names) if at]


def space(truth: Numbers, run: Numbers, names: Sequence[str], lag: int) -> PhaseSpace | None:
    """The first three coordinates, or a single one at three times; None of two coordinates."""
    if lag:
        paths = [
            delay_embedding(path[:, 0], delays=3, lag=lag) if len(path) > 2 * lag else np.zeros((0, 3))
            for path in (truth, run)
        ]
        labels = [f"{names[0]}(t)", *(f"{names[0]}(t − {times * lag})" for times in (1, 2))]
    elif len(names) == SHOWN:
        paths, labels = [truth[:, :SHOWN], run[:, :SHOWN]], list(names)
    else:
        return None
    true, generated = (rounded(path) for path in paths)
    return PhaseSpace(names=labels, true=true, generated=generated)


def divergence(run: Numbers, follows: Numbers, variance: Numbers, lyapunov: float) -> Divergence | None:
    """The error of a rollout (T', C) against the actual values (T″, C), up to the first that is not finite."""
    steps = min(len(run), len(follows))
    if not steps or not (variance > 0).all():
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.sqrt((np.square(run[:steps] - follows[:steps]) / variance).mean(axis=1))
    lost = ~(errors <= THRESHOLD)
    finite = errors[: int(np.isfinite(errors).argmin()) if not np.isfinite(errors).all() else steps]
    valid = int(lost.argmax()) if lost.any() else steps
    shown = [float(f"{error:.6g}") for error in finite[:ERRORS]]
    return Divergence(errors=shown, threshold=THRESHOLD, valid_steps=min(valid, steps), lyapunov=lyapunov)


def plane(across: str, up: str, truth: Numbers, run: Numbers) -> PhasePlane:
    """Two paths (T, 2) in one plane."""
    return PhasePlane(across=across, up=up, true=rounded(truth), generated=rounded(run))


def statistic(number: float | None) -> str:
    """A statistic with three digits; a dash where it is infinite."""
    return "–" if number is None else f"{number:.3f}"


def phase_text(view: PhaseView, *, width: int = 80) -> str:
    """The outcome of the rollout, and its climate coordinate by coordinate."""
    lines = [f"{view.model or 'the model'}, rollout of {view.steps} steps: {view.outcome}"]
    if view.lag:
        lines.append(f"one coordinate: the portrait is of {view.planes[0].across} and {view.planes[0].up}")
    if view.divergence is not None:
        lines.append(view.divergence.sentence)
    label = max(len("coordinate"), *(len(shortened(one, MAX_NAME)) for one in view.channels))
    lines.append(f"{'coordinate':<{label}}" + "".join(f"{heading:>12}" for heading in HEADINGS.values()))
    for at, channel in enumerate(view.channels):
        cells = "".join(f"{statistic(view.climate[key][at]):>12}" for key in HEADINGS)
        lines.append(f"{shortened(channel, MAX_NAME):<{label}}{cells}")
    lines.append("distances from the truth: 0 is the same (std ratio: 1); histogram and spectrum")
    lines.append("are at most 1, mean and return map are in standard deviations of the truth")
    return "\n".join(lines)
