"""The attention part of a page: alignments packed for the viewer, the same source of several models side by side.

One alignment as a page of its own.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atento.views.attention.alignment import Alignment, can_be_shown, spelled, weights_of, written
from atento.views.html import Markup, document, embed, joined, tag
from atento.views.wording import shortened

MOST_WEIGHTS = 500_000  # of a page; at three characters each this keeps it under 2 MB
THOUSAND = 1000
LETTERS = 100  # of numbers that a model wrote of a source that is no text


def gallery(alignments: Sequence[Alignment], *, order: Sequence[str]) -> Markup:
    """Data and place for the viewer, and in words what a reader without scripts should know."""
    kept, note = fitting([alignment for alignment in alignments if can_be_shown(alignment)])
    examples = grouped(kept, order=order)
    lines = [
        tag("li", tag("bdi", example["source"]), " → ", tag("bdi", panel["wrote"]), f" ({panel['model']})")
        for example in examples
        for panel in example["panels"]
    ]
    return joined(
        tag("p", note, class_="note") if note else "",
        tag("div", id="gallery", class_="gallery"),
        tag("noscript", tag("p", "The matrices need JavaScript; the outputs were:"), tag("ul", *lines)),
        embed({"examples": examples, "scale": THOUSAND}, name="alignments"),
    )


def fitting(alignments: Sequence[Alignment]) -> tuple[list[Alignment], str]:
    """What a page can carry, and a sentence about what it cannot."""
    if sum(weights_of(alignment).size for alignment in alignments) <= MOST_WEIGHTS:
        return list(alignments), ""
    means = [{**alignment, "weights": averaged(alignment)} for alignment in alignments]
    kept: list[Alignment] = []
    room = MOST_WEIGHTS
    for alignment in means:
        room -= weights_of(alignment).size
        if room < 0:
            break
        kept.append(alignment)
    note = "To keep this page small, each layer shows the mean over its heads."
    if len(kept) < len(means):
        note += f" {len(means) - len(kept)} of {len(means)} alignments were left out."
    return kept, note


def averaged(alignment: Alignment) -> Any:
    """One head a layer: the mean (L, 1, O, S)."""
    return weights_of(alignment).mean(axis=1, keepdims=True)


def grouped(alignments: Sequence[Alignment], *, order: Sequence[str]) -> list[dict[str, Any]]:
    """One entry a source text, chosen ones first; in it a panel a model, in the order of the table."""
    examples: dict[tuple[str, str], dict[str, Any]] = {}
    for alignment in alignments:
        picture, kind = alignment.get("picture", ""), alignment.get("kind", "chosen")
        reference = alignment.get("reference", "")
        source = (reference or "a picture") if picture else alignment.get("name") or spelled(alignment["source"])
        key = (kind, picture or "".join(source.split()))  # models may cut the same text at other places
        example = examples.setdefault(
            key, {"kind": kind, "source": source, "picture": picture, "reference": reference, "panels": []}
        )
        example["panels"].append(packed(alignment))
    places = {model: place for place, model in enumerate(order)}
    for example in examples.values():
        example["panels"].sort(key=lambda panel: places.get(panel["model"], len(places)))
    return sorted(examples.values(), key=lambda example: example["kind"] != "chosen")


def packed(alignment: Alignment) -> dict[str, Any]:
    """One panel; weights in thousandths, which take a third of the room of floats."""
    weights = weights_of(alignment)
    thousandths = np.rint(np.nan_to_num(weights, posinf=0.0, neginf=0.0) * THOUSAND).astype(int).astype(object)
    thousandths[~np.isfinite(weights)] = None
    return {
        "model": alignment.get("model", ""),
        "source": list(alignment["source"]),
        "output": list(alignment["output"]),
        "wrote": shortened(written(alignment), LETTERS) if alignment.get("name") else written(alignment),
        "correct": alignment.get("correct"),
        "weights": thousandths.tolist(),
        "grid": list(alignment.get("grid", ())),
    }


def render_alignment(alignment: Alignment) -> str:
    """A single HTML file that shows where the model looked while it wrote."""
    weights_of(alignment)  # says what is wrong before a page without a picture is written
    output, model = written(alignment), alignment.get("model", "")
    source = "a picture" if alignment.get("picture") else spelled(alignment["source"])
    header = tag(
        "header",
        tag("p", f"atento · where {model or 'the model'} looked", class_="kicker"),
        tag("h1", tag("bdi", source), tag("span", " → ", class_="arrow"), tag("bdi", output), class_="pair"),
    )
    body = tag("section", tag("h2", "Attention", class_="hidden"), gallery([alignment], order=[model]), id="attention")
    return document(f"{source} → {output}", header, tag("main", body))
