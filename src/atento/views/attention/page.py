"""Alignments as a page of their own and as a section of a report: the same source of several models side by side."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from atento.bundle import Json
from atento.views.attention.alignment import AlignmentView, has_weights, joined_text, output_text, weights_of
from atento.views.html import Markup, embed, joined, page, tag
from atento.views.wording import shortened

MAX_WEIGHTS = 500_000  # of a page; at three characters each this keeps it under 2 MB
THOUSAND = 1000
MAX_NUMBERS = 100  # characters of the output for a source that is no text


def gallery(alignments: Sequence[AlignmentView], *, order: Sequence[str]) -> Markup:
    """The data and the element for the viewer, and the outputs as text for readers without JavaScript."""
    kept, note = fitting([alignment for alignment in alignments if has_weights(alignment)])
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


def fitting(alignments: Sequence[AlignmentView]) -> tuple[list[AlignmentView], str]:
    """The alignments that fit in a page, and a sentence about what was left out."""
    if sum(weights_of(alignment).size for alignment in alignments) <= MAX_WEIGHTS:
        return list(alignments), ""
    means = [replace(one, weights=weights_of(one).mean(axis=1, keepdims=True)) for one in alignments]  # (L, 1, O, S)
    kept: list[AlignmentView] = []
    room = MAX_WEIGHTS
    for alignment in means:
        room -= weights_of(alignment).size
        if room < 0:
            break
        kept.append(alignment)
    note = "To keep this page small, each layer shows the mean over its heads."
    if len(kept) < len(means):
        note += f" {len(means) - len(kept)} of {len(means)} alignments were left out."
    return kept, note


def grouped(alignments: Sequence[AlignmentView], *, order: Sequence[str]) -> list[Json]:
    """An entry for each source, chosen ones first; in it a panel for each model, in the order of the table."""
    examples: dict[tuple[str, str], Json] = {}
    for alignment in alignments:
        image, kind, reference = alignment.image, alignment.kind, alignment.reference
        source = (reference or "an image") if image else alignment.name or joined_text(alignment.source)
        key = (kind, image or "".join(source.split()))  # models may tokenize the same text in different ways
        example = examples.setdefault(
            key, {"kind": kind, "source": source, "image": image, "reference": reference, "panels": []}
        )
        example["panels"].append(packed(alignment))
    places = {model: place for place, model in enumerate(order)}
    for example in examples.values():
        example["panels"].sort(key=lambda panel: places.get(panel["model"], len(places)))
    return sorted(examples.values(), key=lambda example: example["kind"] != "chosen")


def packed(alignment: AlignmentView) -> Json:
    """One panel; weights in thousandths, which take a third of the space of floats."""
    weights = weights_of(alignment)
    thousandths = np.rint(np.nan_to_num(weights, posinf=0.0, neginf=0.0) * THOUSAND).astype(int).astype(object)
    thousandths[~np.isfinite(weights)] = None
    return {
        "model": alignment.model,
        "source": list(alignment.source),
        "output": list(alignment.output),
        "wrote": shortened(output_text(alignment), MAX_NUMBERS) if alignment.name else output_text(alignment),
        "correct": alignment.correct,
        "weights": thousandths.tolist(),
        "grid": list(alignment.grid),
    }


def render_alignment(alignment: AlignmentView) -> str:
    """A single HTML file with the attention weights of one output."""
    weights_of(alignment)  # raises before a page without weights is written
    output, model = output_text(alignment), alignment.model
    source = "an image" if alignment.image else joined_text(alignment.source)
    pair = tag("h1", tag("bdi", source), tag("span", " → ", class_="arrow"), tag("bdi", output), class_="pair")
    body = tag("section", tag("h2", "Attention", class_="hidden"), gallery([alignment], order=[model]), id="attention")
    return page(f"{source} → {output}", f"attention of {model or 'the model'}", [pair], body)
