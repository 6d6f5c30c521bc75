"""What a model shows of one answer: attention weights between source and output tokens, and the matrices of the forward
pass, each with a title, a formula and labels.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple, NotRequired, TypedDict

from torch import Tensor

from atento.reprs import short_repr

SHOWN = 8  # numbers of each vector


class AlignmentJson(TypedDict):
    """An `Alignment` as it is written."""

    source: list[str]
    output: list[str]
    text: str
    score: float | None
    weights: list[list[list[list[float]]]]
    image: NotRequired[str]
    grid: NotRequired[list[int]]
    explanation: NotRequired[str]


class Alignment(NamedTuple):
    """The attention weights between source and output tokens."""

    source: list[str]
    output: list[str]
    weights: Tensor  # (layers, heads, outputs, sources)
    text: str  # the output as a person reads it
    score: float | None  # log-probability of the output
    image: str = ""  # of an image that was read: its pixels as a data URI
    grid: tuple[int, int] = (0, 0)  # of an image: rows and columns of regions, which are the sources, row by row
    explanation: str = ""  # in words, where there are no weights

    def to_json(self) -> AlignmentJson:
        """The alignment as lists, weights rounded to three digits."""
        written = AlignmentJson(
            source=self.source,
            output=self.output,
            text=self.text,
            score=self.score,
            weights=[
                [[[round(weight, 3) for weight in row] for row in head] for head in layer]
                for layer in self.weights.tolist()
            ],
        )
        if self.image:
            written["image"], written["grid"] = self.image, list(self.grid)
        if self.explanation:
            written["explanation"] = self.explanation
        return written

    def __repr__(self) -> str:
        return short_repr(self._replace(weights=list(self.weights.shape)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class TraceMatrix:
    """One matrix of a forward pass, cut to what is shown."""

    title: str
    formula: str
    shape: list[int]  # of the whole matrix
    rows: list[str]
    columns: list[str]
    matrix: list[list[float]]

    def to_json(self) -> dict[str, object]:
        """Its fields by name."""
        return asdict(self)

    def __repr__(self) -> str:
        return short_repr(self)


def trace_matrix(
    title: str, formula: str, rows: Sequence[str], matrix: Tensor, *, columns: Sequence[str] = ()
) -> TraceMatrix:
    """A matrix with a label for each row. Without names of columns, only the first numbers of each row are kept."""
    shown = matrix if columns else matrix[:, :SHOWN]
    return TraceMatrix(
        title,
        formula,
        shape=list(matrix.shape),
        rows=list(rows),
        columns=list(columns) or [str(number + 1) for number in range(shown.size(1))],
        matrix=[[round(number, 4) for number in line] for line in shown.tolist()],
    )
