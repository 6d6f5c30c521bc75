"""What a trace of one pass is made of: matrices with a title, a formula and labels."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

SHOWN = 8  # numbers of each vector

Trace = dict[str, Any]


def entry(title: str, formula: str, labels: Sequence[str], matrix: Tensor, *, columns: Sequence[str] = ()) -> Trace:
    """One matrix: vectors are cut to their first numbers, named columns are all kept."""
    shown = matrix if columns else matrix[:, :SHOWN]
    return {
        "title": title,
        "formula": formula,
        "shape": list(matrix.shape),
        "rows": list(labels),
        "columns": list(columns) or [str(number + 1) for number in range(shown.size(1))],
        "matrix": [[round(number, 4) for number in line] for line in shown.tolist()],
    }
