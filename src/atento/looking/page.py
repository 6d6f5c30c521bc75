"""One alignment as a page of its own."""

from atento.looking.alignment import Alignment, spelled, weights_of, written
from atento.looking.document import document
from atento.looking.gallery import gallery
from atento.looking.markup import tag


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
