"""Sequences of numbers in a cell, as in `0.53,0 0.91,1`: steps separated by spaces, channels by commas."""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.numbers.cells import LARGEST_NUMBER, is_missing_mark
from atento.data.records import Place, Refusal, excerpt
from atento.errors import NO_SETTINGS, InputError

# Axes: T time, C channels.

Steps = list[list[float]]  # (T, C)
Numbers = NDArray[np.float64]
NUMBER_BYTES = b"0123456789+-.eE, \t\n\r"  # a text with other characters is read number by number
INFINITE = frozenset({"inf", "infinity", "nan"})  # in lower case, unsigned


class ParseProblem(NamedTuple):
    """Why a text is not a sequence of numbers, and at which index of it."""

    at: int
    problem: str
    found: str
    fix: str
    settings: Mapping[str, str] = NO_SETTINGS  # recipe keys that solve it

    def refusal(self, place: Place) -> Refusal:
        """The refusal of a row, at the place of the problem in its file."""
        return Refusal(*place, self.problem, self.found, self.fix, self.settings)


def read_steps(text: str, *, channels: int = 0) -> Steps | ParseProblem:
    """The numbers of each step: `channels` of them where it is not 0, else as many as in the first step."""
    steps: Steps = []
    for match in re.finditer(r"\S+", text):
        cells = match[0].split(",")
        numbers = [parse_number(cell) for cell in cells]
        if None in numbers:
            bad = numbers.index(None)
            at = match.start() + sum(len(cell) + 1 for cell in cells[:bad])
            fix = "write numbers such as 0.5, steps separated by spaces, channels by commas"
            return ParseProblem(at, f"step {len(steps) + 1} is not a number.", excerpt(cells[bad] or match[0]), fix)
        if any(number is not None and abs(number) > LARGEST_NUMBER for number in numbers):
            return too_large(match.start(), match[0])
        channels = channels or len(numbers)
        if len(numbers) != channels:
            problem = f"step {len(steps) + 1} has {len(numbers)} channels where {channels} are read."
            return ParseProblem(
                match.start(), problem, excerpt(match[0]), f"give every step {channels}, separated by commas"
            )
        steps.append([number for number in numbers if number is not None])
    if not steps:
        return ParseProblem(0, "there are no steps.", excerpt(text), "write numbers separated by spaces")
    return steps


def too_large(at: int, text: str) -> ParseProblem:
    """The problem of a number whose square overflows."""
    fix = f"give at most {LARGEST_NUMBER:g}, in a larger unit"
    return ParseProblem(at, "this number is too large to compute with.", excerpt(text), fix)


def read_fast(text: str, *, channels: int = 0) -> Numbers | None:
    """The numbers (T, C), converted all at once; None where the text has missing or malformed numbers."""
    if not text.isascii() or text.encode().translate(None, NUMBER_BYTES):
        return None
    steps = text.split()
    width = channels or (steps[0].count(",") + 1 if steps else 1)
    cells = text.replace(",", " ").split()  # an empty cell would leave fewer of them
    if not steps or len(cells) != width * len(steps) or any(step.count(",") != width - 1 for step in steps):
        return None
    try:
        numbers = np.array(list(map(float, cells)), dtype=np.float64).reshape(-1, width)
    except ValueError:
        return None
    return numbers if (np.abs(numbers) <= LARGEST_NUMBER).all() else None


def parse_number(text: str) -> float | None:
    """A finite number; None where the text is not one."""
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, flags=re.ASCII):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def require_numbers(text: str, *, channels: int = 0) -> Numbers:
    """The numbers as an array (T, C); an error for anything else."""
    quick = read_fast(text, channels=channels)
    if quick is not None:
        return quick
    steps = read_steps(text, channels=channels)
    if isinstance(steps, ParseProblem):
        raise InputError(f"column {steps.at + 1}: {steps.problem}", found=steps.found, fix=steps.fix)
    return np.array(steps, dtype=np.float64)


def is_sequence(text: str) -> bool:
    """Whether a text is a sequence of two or more steps, some of whose numbers may be missing."""
    quick = read_fast(text)
    if quick is not None:
        return len(quick) > 1
    steps = text.split()
    cells = [cell for step in steps for cell in step.split(",")]
    return (
        len(steps) > 1
        and all(parse_number(cell) is not None or is_missing(cell) for cell in cells)
        and not all(map(is_missing, cells))
    )


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing number."""
    return is_missing_mark(cell) or cell.strip().lower().lstrip("+-") in INFINITE
