"""Numbers that are missing in a sequence: refused where they stand, or filled as the user says."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.number_sequences import Numbers, Problem, is_missing, read_quickly, read_steps
from atento.data.records import excerpt

# Axes: T time, C channels.

Gaps = Literal["stop", "linear", "previous"]
FIX = "write a number there, or fill what is missing: --set data.gaps=linear or --set data.gaps=previous"


class Mended(NamedTuple):
    """A text every number of which is there, how many had to be filled, and how many channels it has."""

    text: str
    filled: int
    channels: int


class Fault(NamedTuple):
    """What keeps a text from being a sequence, and at which step and channel, from 0."""

    problem: Problem
    step: int
    channel: int


def mend(text: str, gaps: Gaps, *, channels: int = 0) -> Mended | Fault:
    """The text as it is or filled; of `channels` channels where that is not 0."""
    quick = read_quickly(text, channels=channels)
    if quick is not None:
        return Mended(text, 0, quick.shape[1])
    steps = [step.split(",") for step in text.split()]
    missing = [(at, channel) for at, step in enumerate(steps) for channel, cell in enumerate(step) if is_missing(cell)]
    whole = read_steps(
        " ".join(",".join("0" if is_missing(cell) else cell for cell in step) for step in steps), channels=channels
    )
    if isinstance(whole, Problem):
        return fault_of(text, steps, whole, channels)
    if missing and gaps == "stop":
        at, channel = missing[0]
        of = f" of channel {channel + 1}" if len(steps[at]) > 1 else ""
        found = f"{excerpt(steps[at][channel])}, one of {len(missing)} missing in this sequence"
        place, linear = place_of(text, at, channel), {"data.gaps": "linear"}
        return Fault(Problem(place, f"step {at + 1}{of} is missing.", found, FIX, linear), at, channel)
    there = np.array([[not is_missing(cell) for cell in step] for step in steps])
    empty = np.flatnonzero(~there.any(axis=0))
    if len(empty):
        problem = Problem(0, f"channel {empty[0] + 1} has no number at all.", excerpt(text), "leave the sequence out")
        return Fault(problem, 0, int(empty[0]))
    filled = fill(np.array(whole, dtype=np.float64), there, gaps)
    cells = [
        ",".join(cell if kept else repr(float(number)) for cell, kept, number in zip(*parts, strict=True))
        for parts in zip(steps, there, filled, strict=True)
    ]
    return Mended(" ".join(cells), len(missing), there.shape[1])


def fill(numbers: Numbers, there: NDArray[np.bool_], gaps: Gaps) -> Numbers:
    """Numbers (T, C) with those that are missing on the line between their neighbours, or as the one before; at an end
    as the nearest one.
    """
    places = np.arange(len(numbers))
    filled = numbers.copy()
    for channel, known in enumerate(there.T):
        at = places[known]
        if gaps == "linear":
            filled[:, channel] = np.interp(places, at, numbers[known, channel])
        else:
            before = np.maximum(np.searchsorted(at, places, side="right") - 1, 0)
            filled[:, channel] = numbers[at[before], channel]
    filled[there] = numbers[there]
    return filled


def fault_of(text: str, steps: list[list[str]], problem: Problem, channels: int) -> Fault:
    """The strict reader's problem at its place in a text that may also lack numbers."""
    width = channels or (len(steps[0]) if steps else 1)
    for at, step in enumerate(steps):
        wrong = [isinstance(read_steps("0" if is_missing(cell) else cell), Problem) for cell in step]
        if any(wrong) or len(step) != width:
            channel = wrong.index(True) if any(wrong) else 0
            return Fault(problem._replace(at=place_of(text, at, channel)), at, channel)
    return Fault(problem, 0, 0)


def place_of(text: str, step: int, channel: int) -> int:
    """Where in a text a number begins, from 0."""
    at = 0
    for number, cells in enumerate(text.split()):
        at = text.index(cells, at)
        if number == step:
            return at + sum(len(cell) + 1 for cell in cells.split(",")[:channel])
        at += len(cells)
    return 0
