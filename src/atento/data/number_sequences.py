"""Sequences of numbers as text: steps parted by spaces, the numbers of a step by commas, as in `0.53,0 0.91,1`."""

import math
import re
from typing import NamedTuple

from atento.data.records import excerpt
from atento.errors import InputError

Steps = list[list[float]]  # (time, channels)


class Problem(NamedTuple):
    """What keeps a text from being numbers, and where in it, counted from 0."""

    at: int
    problem: str
    found: str
    fix: str


def read_steps(text: str, *, channels: int = 0) -> Steps | Problem:
    """The numbers of each step; `channels` of them where it is not 0, else as many as the first step has."""
    steps: Steps = []
    for match in re.finditer(r"\S+", text):
        cells = match[0].split(",")
        numbers = [as_number(cell) for cell in cells]
        if None in numbers:
            bad = numbers.index(None)
            at = match.start() + sum(len(cell) + 1 for cell in cells[:bad])
            fix = "write numbers such as 0.5, steps parted by spaces, channels by commas"
            return Problem(at, f"step {len(steps) + 1} is not a number.", excerpt(cells[bad] or match[0]), fix)
        channels = channels or len(numbers)
        if len(numbers) != channels:
            problem = f"step {len(steps) + 1} has {len(numbers)} channels where {channels} are read."
            return Problem(match.start(), problem, excerpt(match[0]), f"give every step {channels}, parted by commas")
        steps.append([number for number in numbers if number is not None])
    if not steps:
        return Problem(0, "there are no steps.", excerpt(text), "write numbers parted by spaces")
    return steps


def as_number(text: str) -> float | None:
    """A finite number, or nothing."""
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, flags=re.ASCII):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def require_steps(text: str, *, channels: int = 0) -> Steps:
    """The numbers of a text that somebody typed; anything else is refused."""
    steps = read_steps(text, channels=channels)
    if isinstance(steps, Problem):
        raise InputError(f"column {steps.at + 1}: {steps.problem}", found=steps.found, fix=steps.fix)
    return steps


def is_sequence(text: str) -> bool:
    """Whether a text is numbers of two steps or more."""
    steps = read_steps(text)
    return not isinstance(steps, Problem) and len(steps) > 1
