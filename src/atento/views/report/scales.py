"""From numbers to places in a chart."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
STEEP = 1000.0  # errors so many times as large as others need a logarithmic scale
FEW_POWERS = 3  # of ten in a logarithmic scale, between which there is room for other numbers
NEARLY = 1e-9
SMALL = 0.001  # below which a number is written with its power of ten
ASIDE = 2.0  # an error is far off that lies so many times as far from the middle one as that from the best


class Axis(NamedTuple):
    """A straight line from low..high in the data to start..stop in the chart; `steep`: from their logarithms."""

    low: float
    high: float
    start: float
    stop: float
    steep: bool = False

    def place(self, value: float) -> float:
        """Where a value stands."""
        low, high = self.low, self.high
        if self.steep:
            value, low, high = (math.log10(max(number, self.low)) for number in (value, low, high))
        return self.start + (self.stop - self.start) * (value - low) / (high - low)

    def ticks(self, most: int = 6) -> list[float]:
        """Round numbers between low and high."""
        if self.steep:
            first, last = math.ceil(math.log10(self.low) - NEARLY), math.floor(math.log10(self.high) + NEARLY)
            if last - first < FEW_POWERS:
                return self.ticks_between_powers(first - 1, last, most)
            return [10.0**power for power in range(first, last + 1, -(-(last - first) // most) or 1)]
        step = round_step((self.high - self.low) / most)
        first = math.ceil(round(self.low / step, 6))
        last = math.floor(round(self.high / step, 6))
        return [round(number * step, 10) for number in range(first, last + 1)]

    def ticks_between_powers(self, first: int, last: int, most: int) -> list[float]:
        """1, 2 and 5 times some powers of ten; where those are too many, 1 and 3 times, else the powers alone."""
        powers = range(first, last + 1)
        for digits in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
            ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
            inside = [tick for tick in ticks if self.low * (1 - NEARLY) <= tick <= self.high * (1 + NEARLY)]
            if len(inside) <= most:
                break
        return inside


def power_bounds(values: Sequence[float]) -> tuple[float, float]:
    """Limits of a logarithmic scale that hold all values, with some room: 1, 2 or 5 times a power of ten."""
    low, high = min(values) / 1.05, max(values) * 1.05
    bottom = max(
        d * 10.0 ** math.floor(math.log10(low)) for d in (1, 2, 5) if d * 10.0 ** math.floor(math.log10(low)) <= low
    )
    return bottom, round_step(high)


def round_step(least: float) -> float:
    """The smallest round number not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next((step * power for step in STEPS if step * power >= least * (1 - 1e-9)), 10 * power)


def fitting(values: Sequence[float], start: float, stop: float, *, errors: bool) -> Axis:
    """A scale with round limits that hold all values; of errors that lie far apart, by powers of ten."""
    low, high = min(values), max(values)
    if errors and low > 0 and high > STEEP * low:
        return Axis(10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high)), start, stop, steep=True)
    return Axis(*bounds(values), start, stop)


def reach(lows: Sequence[float], highs: Sequence[float]) -> float:
    """How far a chart of errors goes: whatever lies beyond would leave no room to tell the others apart."""
    middle = sorted(highs)[len(highs) // 2]
    return middle + ASIDE * (middle - min(lows))


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """Round limits that hold all values; shares that spread widely get the whole of 0..1. Where no value is below 0,
    neither is a limit.
    """
    low, high = min(values), max(values)
    are_shares = low >= 0 and high <= 1
    if are_shares and high - low > 0.4:
        return 0.0, 1.0
    margin = (high - low) * 0.1 or abs(high) * 0.1 or 0.1
    step = round_step((high - low + 2 * margin) / 4)
    bottom, top = math.floor((low - margin) / step) * step, math.ceil((high + margin) / step) * step
    return max(bottom, 0.0) if low >= 0 else bottom, min(top, 1.0) if are_shares else top


def tick_label(value: float) -> str:
    """As short as the number allows: 0.2, 1, 40, 12,500, 2M, 1e−7."""
    text = f"{value:,.10g}"
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if abs(value) >= size:
            text = f"{value / size:,.10g}{letter}"
            break
    if 0 < abs(value) < SMALL:
        digits, _, power = f"{value:e}".partition("e")
        text = f"{float(digits):g}e{int(power)}"
    return text.replace("-", "−")


def space_labels(wanted: Sequence[float], *, gap: float, bottom: float) -> list[float]:
    """Places in the same order, near those wanted, `gap` apart and none beyond `bottom`."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    places = list(wanted)
    for before, index in pairwise(order):
        places[index] = max(places[index], places[before] + gap)
    floor = bottom
    for index in reversed(order):
        places[index] = min(places[index], floor)
        floor = places[index] - gap
    return places
