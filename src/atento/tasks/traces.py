"""What a model shows of one answer: attention weights between source and output tokens, and the matrices of the forward
pass, each with a title, a formula and labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple, NotRequired, TypedDict

from torch import Tensor, nn

from atento.models.diagnostics.attention_maps import MapPlace
from atento.reprs import repr_html, short_repr

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

    def _repr_html_(self) -> str:
        """The weights as a heat map, for notebooks."""
        return repr_html(self)

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
    made_of: Sequence[str] = ()  # titles of the earlier matrices that it is computed from

    def to_json(self) -> dict[str, object]:
        """Its fields by name."""
        return asdict(self)

    def __repr__(self) -> str:
        return short_repr(self)


def trace_matrix(
    title: str,
    formula: str,
    rows: Sequence[str],
    matrix: Tensor,
    *,
    columns: Sequence[str] = (),
    made_of: Sequence[str] = (),
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
        made_of=list(made_of),
    )


class TokenAlternative(NamedTuple):
    """A token that might have been written, and its probability."""

    token: str
    probability: float


class PartialOutput(NamedTuple):
    """A text of beam search, whole or in part, and the sum of its log-probabilities."""

    text: str
    score: float


class GeneratedToken(NamedTuple):
    """A token of an output, the most probable tokens in its place, and the texts that a beam held after it."""

    token: str
    alternatives: list[TokenAlternative]
    beam: Sequence[PartialOutput] = ()


class Generation(NamedTuple):
    """How a text was written: its tokens, and the texts that beam search ended with, best first."""

    tokens: Sequence[GeneratedToken] = ()
    finished: Sequence[PartialOutput] = ()


class ForwardPass(NamedTuple):
    """One source with the answer of a model, ready to be passed through it again to look inside.

    `score` takes the numbers that are read (None: tokens are), and gives the scalar that attributions explain.
    """

    score: Callable[[Tensor | None], Tensor]
    target: str  # what the score is, in words
    places: Sequence[MapPlace]  # the labels of every attention
    tokens: Sequence[str]  # what attributions are given for: each embedded token, then each item of the numbers
    text: str  # the answer as a person reads it
    log_probability: float | None = None
    values: Tensor | None = None  # (1, …) numbers or pixels
    by_item: Callable[[Tensor], Tensor] | None = None  # attributions of `values` -> one for each item (N,)
    image: str = ""  # of an image that was read: its pixels as a data URI
    reader: nn.Module | None = None  # the part that reads the source; None: the whole model
    generation: Callable[[], Generation] | None = None  # of a text that was written
