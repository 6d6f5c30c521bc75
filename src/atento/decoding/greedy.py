"""Greedy search: the likeliest token at every step."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from atento.decoding.hypothesis import Hypothesis, Marks
from atento.decoding.writing import write
from atento.models.protocols import Encoded, Writer

# Axes: R rows, V vocabulary.


def greedy(decoder: Writer[Any], encoded: Encoded, *, marks: Marks, longest: int | Sequence[int]) -> list[Hypothesis]:
    """One hypothesis a row, cut after `longest` tokens, one number for all rows or one for each."""
    return write(decoder, encoded, choose=likeliest, marks=marks, longest=longest)


def likeliest(chances: Tensor, rows: Tensor) -> Tensor:
    """Of log-probabilities (R, V) the token of the largest (R,); the row does not matter."""
    return chances.argmax(dim=-1)
