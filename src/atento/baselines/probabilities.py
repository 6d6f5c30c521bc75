"""The probabilities of labels as one row of numbers."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray


class LabelProbabilities(Mapping[str, float]):
    """A mapping from each label to its probability. It holds an array, and shares the labels with all other answers:
    a dict for each would take twenty times the memory where there are thousands of labels.
    """

    __slots__ = ("columns", "row")

    def __init__(self, columns: Mapping[str, int], row: NDArray[np.floating]) -> None:
        self.columns, self.row = columns, row  # label -> its place in the row (C,)

    def __getitem__(self, label: str) -> float:
        return float(self.row[self.columns[label]])

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return repr(dict(self))
