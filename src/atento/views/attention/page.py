"""The attention viewer in a page: views as data for its scripts, in a report or in a page of their own.

A view is one model on one input, as the scripts in `views/web/attention` read it: texts, and maps whose weights are
float32 in base64. Views of the same input stand side by side.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atento.bundle import Json
from atento.views.attention.alignment import AlignmentView, can_be_viewed, joined_text, output_text, weights_of
from atento.views.html import Markup, embed, joined, page, tag
from atento.views.wording import shortened

# Axes: L layers, H heads, Q queries, K keys.

MAX_WEIGHTS = 400_000  # of a report; at 5.4 characters each this keeps it under 3 MB
MAX_WEIGHTS_ALONE = 4_000_000  # of a page of its own, so that a long text is shown whole
MAX_WEIGHTS_KEPT = 30_000  # of a view that a board keeps with all its heads
MAX_NUMBERS = 100  # characters of the output for a source that is no text
LONGEST_TITLE = 80
LITTLE_ENDIAN = "<f4"


def gallery(shown: Sequence[AlignmentView | Json], *, order: Sequence[str]) -> Markup:
    """The viewer of a report: chosen examples first, models in the order of its table."""
    places = {model: place for place, model in enumerate(order)}
    views = [
        view_of(one) if isinstance(one, AlignmentView) else one
        for one in shown
        if not isinstance(one, AlignmentView) or can_be_viewed(one)
    ]
    views.sort(key=lambda view: (view["kind"] != "chosen", places.get(view["model"], len(places))))
    return viewer(views)


def viewer(views: Sequence[Json], *, most: int = MAX_WEIGHTS) -> Markup:
    """The data and the element for the viewer, and the outputs as text for readers without JavaScript."""
    kept, note = fitting(views, most=most)
    lines = [
        tag("li", tag("bdi", view["source"] or "an image"), " → ", tag("bdi", view["output"]), f" ({view['model']})")
        for view in kept
    ]
    return joined(
        tag("p", note, class_="note") if note else "",
        tag("div", id="gallery", class_="gallery"),
        tag("noscript", tag("p", "The maps need JavaScript; the outputs were:"), tag("ul", *lines)),
        embed(kept, name="attention-views"),
    )


def view_of(alignment: AlignmentView) -> Json:
    """An alignment as a view: every map it has, else one of its weights; a source that is no text goes by its name."""
    text = output_text(alignment)
    source = "" if alignment.image else alignment.name or joined_text(alignment.source)
    return {
        **(alignment.viewed or {"maps": [map_of(alignment)]}),
        "model": alignment.model,
        "kind": alignment.kind,
        "source": source,
        "output": shortened(text, MAX_NUMBERS) if alignment.name else text,
        "reference": alignment.reference,
        "correct": alignment.correct,
        "score": alignment.score,
        "explanation": alignment.explanation,
        **({"image": alignment.image} if alignment.image else {}),
    }


def map_of(alignment: AlignmentView) -> Json:
    """The weights of an alignment as a stored map."""
    weights = weights_of(alignment)
    return {
        "name": "attention over the image" if alignment.image else "attention",
        "kind": "regions" if alignment.image else "cross",
        "queries": list(alignment.output),
        "keys": list(alignment.source),
        **({"grid": list(alignment.grid)} if alignment.image else {}),
        "shape": list(weights.shape),
        "weights": encode(weights),
    }


def encode(weights: NDArray[np.floating]) -> str:
    """Numbers as float32, row by row, the lowest byte first, in base64; infinities as NaN, which is not drawn."""
    finite = np.where(np.isfinite(weights), weights, np.nan)
    return b64encode(np.ascontiguousarray(finite, dtype=LITTLE_ENDIAN).tobytes()).decode("ascii")


def decode(stored: Json) -> NDArray[np.float32]:
    """The weights (L, H, Q, K) of a stored map."""
    return np.frombuffer(b64decode(stored["weights"]), dtype=LITTLE_ENDIAN).reshape(stored["shape"])


def size_of(view: Json) -> int:
    """How many weights a view holds."""
    return sum(int(np.prod(stored["shape"])) for stored in view["maps"])


def fitting(views: Sequence[Json], *, most: int) -> tuple[list[Json], str]:
    """The views that fit in a page, and a sentence about what was left out."""
    if sum(map(size_of, views)) <= most:
        return list(views), ""
    means = [averaged(view) for view in views]
    kept: list[Json] = []
    room = most
    for view in means:
        room -= size_of(view)
        if room < 0:
            break
        kept.append(view)
    note = "To keep this page small, each layer shows the mean over its heads."
    if len(kept) < len(means):
        note += f" {len(means) - len(kept)} of {len(means)} views were left out."
    return kept, note


def compact(view: Json) -> Json:
    """A view as a board keeps it: no vectors, and of many weights the means over heads."""
    small = {key: value for key, value in view.items() if key not in ("vectors", "image")}
    return small if size_of(view) <= MAX_WEIGHTS_KEPT else averaged(small)


def averaged(view: Json) -> Json:
    """A view whose maps have one head, the mean of all."""
    means = {"maps": [mean_of_heads(stored) for stored in view["maps"]]}
    return {key: value for key, value in view.items() if key != "vectors"} | means


def mean_of_heads(stored: Json) -> Json:
    """A stored map with one head, the mean of all; the statistics of heads are left out."""
    heads = stored["shape"][1]
    if heads == 1:
        return stored
    weights = decode(stored).mean(axis=1, keepdims=True, dtype=np.float64)  # (L, 1, Q, K)
    others = {key: value for key, value in stored.items() if key != "statistics"}
    return {**others, "shape": list(weights.shape), "weights": encode(weights), "averaged": heads}


def render_alignment(alignment: AlignmentView) -> str:
    """A single HTML file with the attention weights of one output."""
    return render_views([view_of(alignment)])  # raises before a page without weights is written


def framed(views: Sequence[Json], *, height: int = 720) -> Markup:
    """The viewer in a frame of its own, for notebooks: nothing outside it is styled, read or run."""
    return tag("iframe", srcdoc=render_views(views), width="100%", height=height, style="border:0", title="attention")


def render_views(views: Sequence[Json]) -> str:
    """A single HTML file with one or more views."""
    models = ", ".join(dict.fromkeys(view["model"] for view in views if view["model"])) or "the model"
    first = views[0]
    title = f"{shortened(first['source'] or 'an image', LONGEST_TITLE)} → {shortened(first['output'], LONGEST_TITLE)}"
    heading = tag("h1", "Attention of ", tag("bdi", models), class_="pair")
    body = tag(
        "section", tag("h2", "Attention", class_="hidden"), viewer(views, most=MAX_WEIGHTS_ALONE), id="attention"
    )
    return page(title, "attention", [heading], body, groups=["attention"])
