"""What moved the answer of a baseline: terms with their contributions, or the nearest training examples."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

SHOWN = 10  # items of an explanation


class Explanation(NamedTuple):
    """A heading, and items with a number each."""

    heading: str
    items: list[tuple[str, float]]
    signed: bool = True  # whether the numbers are contributions, which add or take away

    def text(self) -> str:
        """A line for each item, its number in front."""
        lines = [f"  {number:{'+' if self.signed else ''}8.3g}  {item}" for item, number in self.items]
        return "\n".join([f"{self.heading}:", *lines]) if lines else ""


@runtime_checkable
class Explains(Protocol):
    """A baseline that can say what moved an answer."""

    def explain(self, source: Any) -> Explanation | None:
        """Of one source; None where there is nothing to name."""


@runtime_checkable
class GivesProbabilities(Protocol):
    """A baseline that gives each label a probability."""

    def probabilities(self, sources: Sequence[Any]) -> Sequence[Mapping[str, float]]:
        """Of each source."""


def largest(names: Sequence[str], numbers: ArrayLike, *, count: int = SHOWN) -> list[tuple[str, float]]:
    """The items whose numbers are farthest from 0, those that are 0 left out."""
    found = np.asarray(numbers, dtype=np.float64)
    order = np.argsort(-np.abs(found), kind="stable")[:count]
    return [(names[place], float(found[place])) for place in order if found[place]]
