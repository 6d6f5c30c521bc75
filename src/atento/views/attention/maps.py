"""Every attention map of a model on one input, as the viewer reads it, with its generated tokens and attributions.

Weights are float32 in base64, so that a page shows the numbers that Python has.
"""

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NotRequired, TypedDict

import torch
from torch import Tensor

from atento.bundle import Json, write_json
from atento.extras import require_extra
from atento.models.diagnostics.attention_maps import AttentionMap
from atento.reprs import short_repr
from atento.tasks.traces import Alignment, GeneratedToken, PartialOutput
from atento.views.attention.alignment import AlignmentView
from atento.views.attention.figures import MAX_PANELS, alignment_figure
from atento.views.attention.grid_figure import maps_figure
from atento.views.attention.page import framed, render_views
from atento.views.attention.regions import regions_figure
from atento.views.figures import FORMATS
from atento.views.html import tag
from atento.views.saving import ModelView
from atento.writing import write_atomically

if TYPE_CHECKING:
    from atento.views.notebook.widget import AttentionWidget

# Axes: L layers, H heads, Q queries, K keys.

FIRST_NUMBERS = 8  # of each query, key and value
METHOD = "integrated gradients"
CAUTION = (
    "Attention weights say how one layer mixed its values, not what the answer depends on. Integrated gradients say "
    "how the answer changed on the way from an empty input, one baseline among many. Neither says why."
)


class MapJson(TypedDict):
    """An attention map as the viewer reads it."""

    name: str
    kind: str
    queries: list[str]
    keys: list[str]
    grid: NotRequired[list[int]]
    shape: list[int]
    weights: str
    statistics: dict[str, list[list[float]]]


class StoredNumbers(TypedDict):
    """Numbers as the viewer reads them: float32, little endian, row major, in base64."""

    numbers: str
    shape: list[int]


@dataclass(frozen=True, kw_only=True)
class AttributionView(ModelView):
    """How much each token of a source moved the score of an answer, by integrated gradients."""

    source: str
    output: str
    target: str  # what was attributed, in words
    tokens: Sequence[str]
    values: Sequence[float]  # one for each token
    remainder: float  # what the values lack of score − baseline, as a fraction of it
    score: float  # with the input as it is
    baseline: float  # with an empty input
    points: int  # of the integral
    method: ClassVar[str] = METHOD

    def to_json(self) -> Json:
        """The view in dicts and lists."""
        lists = {"tokens": list(self.tokens), "values": list(self.values)}
        return {**vars(self), **lists, "method": self.method, "caution": CAUTION}


@dataclass(frozen=True, kw_only=True)
class AttentionMapsView(ModelView):
    """One model on one input: all its attention maps, the tokens it generated, and attributions where asked for."""

    source: str
    output: str
    reference: str = ""
    correct: bool | None = None  # None: nobody knows
    score: float | None = None  # log-probability of the output
    explanation: str = ""  # in words, of a model without attention
    image: str = ""  # of a source that is an image: its pixels as a data URI
    kind: str = "chosen"  # in a report: "chosen" or "worst"
    run: str = ""  # the folder of the model, for the command that is copied
    maps: Sequence[AttentionMap] = ()
    steps: Sequence[GeneratedToken] = ()
    finished: Sequence[PartialOutput] = ()
    attribution: AttributionView | None = None

    def __repr__(self) -> str:
        return short_repr(self)

    def to_json(self) -> Json:
        """The view as the viewer reads it."""
        texts = ("model", "source", "output", "reference", "correct", "score", "explanation", "kind")
        found: Json = {key: getattr(self, key) for key in texts}
        found |= {key: getattr(self, key) for key in ("image", "run") if getattr(self, key)}
        found["maps"] = [map_json(one) for one in self.maps]
        vectors = {one.name: vectors_json(one) for one in self.maps if one.vectors is not None}
        if vectors:
            found["vectors"] = vectors
        if self.steps:
            found["steps"] = [step_json(step) for step in self.steps]
        if self.finished:
            found["finished"] = [one._asdict() for one in self.finished]
        if self.attribution is not None:
            found["attribution"] = self.attribution.to_json()
        return found


def map_json(shown: AttentionMap) -> MapJson:
    """One map, its weights exact to float32."""
    statistics = shown.statistics()
    found = MapJson(
        name=shown.name,
        kind=shown.kind,
        queries=shown.queries,
        keys=shown.keys,
        shape=list(shown.weights.shape),
        weights=as_base64(shown.weights),
        statistics={name: numbers.tolist() for name, numbers in statistics._asdict().items()},
    )
    if all(shown.grid):
        found["grid"] = list(shown.grid)
    return found


def as_base64(numbers: Tensor) -> str:
    """Numbers as float32, row major, the lowest byte first."""
    return b64encode(numbers.to(torch.float32).contiguous().numpy().astype("<f4").tobytes()).decode("ascii")


def vectors_json(shown: AttentionMap) -> dict[str, StoredNumbers]:
    """The first numbers of queries, keys and values, each (L, H, tokens, numbers)."""
    if shown.vectors is None:
        return {}
    parts = {name: part[..., :FIRST_NUMBERS] for name, part in shown.vectors._asdict().items()}
    return {name: StoredNumbers(numbers=as_base64(part), shape=list(part.shape)) for name, part in parts.items()}


def step_json(step: GeneratedToken) -> Json:
    """One generated token."""
    return {
        "token": step.token,
        "alternatives": [other._asdict() for other in step.alternatives],
        "beam": [one._asdict() for one in step.beam],
    }


class ExplainedAlignment(Alignment):
    """An alignment that can show every attention map of its model: `maps`, and as a file with `save`."""

    examine: Callable[[], AttentionMapsView]  # what passes the source through the model once more, when first asked
    attribute: Callable[[], AttributionView | None]
    model: str

    @classmethod
    def of(
        cls,
        alignment: Alignment,
        model: str,
        examine: Callable[[], AttentionMapsView],
        attribute: Callable[[], AttributionView | None] = lambda: None,
    ) -> "ExplainedAlignment":
        """The alignment, with what shows the rest."""
        found = cls(*alignment)
        found.examine, found.attribute, found.model = examine, attribute, model
        return found

    @cached_property
    def view(self) -> AttentionMapsView:
        """All that the viewer shows of it, but for attributions, which take longer."""
        return self.examine()

    @cached_property
    def attributed_view(self) -> AttentionMapsView:
        """All that the viewer shows of it."""
        return replace(self.view, attribution=self.attribute())

    @property
    def maps(self) -> Sequence[AttentionMap]:
        """Every attention map: of encoder, decoder, poolings and levels."""
        return self.view.maps

    def save(self, path: str | Path) -> Path:
        """Write a page (.html), an image (.png, .svg, .pdf) or the numbers (.json)."""
        path = Path(path)
        shown = AlignmentView(**self.to_json(), model=self.model)
        view = self.view if path.suffix.lower() in FORMATS else self.attributed_view
        return save_maps([view], path, alignment=shown)

    def widget(self, *others: "ExplainedAlignment", theme: str = "auto") -> "AttentionWidget":
        """The viewer as an anywidget, for notebooks; it needs the extra `notebook`.

        others: explanations to stand beside it, such as another model's of the same source.
        theme: auto (as the notebook), light or dark.
        """
        require_extra("notebook", "the widget", instead='save("x.html"), which needs nothing')
        from atento.views.notebook.widget import AttentionWidget

        return AttentionWidget([one.attributed_view.to_json() for one in (self, *others)], theme=theme)

    def _repr_html_(self) -> str:
        """The viewer, for notebooks."""
        return framed([self.attributed_view.to_json()]) if self.view.maps else tag("p", self.explanation or self.text)


def save_maps(views: Sequence[AttentionMapsView], path: Path, *, alignment: AlignmentView | None = None) -> Path:
    """Write maps in the format that the name of the file ends in; a figure of one map has its tokens as labels."""
    suffix = path.suffix.lower()
    if suffix in FORMATS:
        maps = [one for view in views for one in view.maps]
        few = len(maps) <= 1 and all(one.weights[..., 0, 0].numel() <= MAX_PANELS for one in maps)
        if few and alignment is not None:
            (regions_figure if alignment.image else alignment_figure)(alignment, path)
        else:
            maps_figure([(f"{view.model}: " * (len(views) > 1), one) for view in views for one in view.maps], path)
    elif suffix == ".json":
        write_json(path, [view.to_json() for view in views] if len(views) > 1 else views[0].to_json())
    else:
        write_atomically(path, render_views([view.to_json() for view in views]).encode())
    return path
