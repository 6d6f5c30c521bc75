"""The matrices of one forward pass, each with a title, a formula and labels: what `atento look --what steps` shows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

SHOWN = 8  # numbers of each vector


@dataclass(frozen=True)
class TraceMatrix:
    """One matrix of a forward pass, cut to what is shown."""

    title: str
    formula: str
    shape: list[int]  # of the whole matrix
    rows: list[str]
    columns: list[str]
    matrix: list[list[float]]

    def to_json(self) -> dict[str, Any]:
        """Its fields by name."""
        return asdict(self)


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
