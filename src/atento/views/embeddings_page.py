"""Word vectors as a page of its own: a map with a dot for each word, and the neighbours of the word asked for."""

from atento.views.attention.terminal import columns_of
from atento.views.html import Markup, document, tag
from atento.views.report.charts import LETTER, drawing
from atento.views.word_map import HEIGHT, WIDTH, Box, EmbeddingsView, place_labels, scales
from atento.views.wording import counted

DOT, LABEL, GAP = 3.5, 15.0, 8.0


def render_map(view: EmbeddingsView) -> str:
    """A single HTML file: the map, and the neighbours of the word that was asked for."""
    header = tag(
        "header",
        tag(
            "p",
            f"atento · {counted(view.words, 'word')} of {view.size} numbers each in {view.model or 'the model'}",
            class_="kicker",
        ),
        tag("h1", tag("bdi", view.title), class_="pair"),
    )
    text = "The first two principal components of the directions of these words."
    figure = tag("section", tag("p", text), tag("figure", map_chart(view)), id="map")
    return document(view.title, header, tag("main", figure, neighbour_table(view)))


def map_chart(view: EmbeddingsView) -> Markup:
    """A dot for every word, with the word as its tooltip, and as many labels as fit."""
    words = [point.word for point in view.map]
    across, up = scales(view.map)
    dots = [(across.place(point.x), up.place(point.y)) for point in view.map]
    frame = Box(0.0, 0.0, WIDTH, HEIGHT)
    widths = [columns_of(word) * LETTER for word in words]
    places = place_labels(dots, widths, height=LABEL, gap=GAP, frame=frame)
    parts = []
    for word, (x, y), place in zip(words, dots, places, strict=True):
        accent = word in view.terms
        parts.append(
            tag("circle", tag("title", word), class_="dot accent" if accent else "dot", cx=x, cy=y, r=DOT + 2 * accent)
        )
        if place is not None:
            label = tag("text", word, x=place.x, y=place.y + 4, text_anchor=place.anchor)
            parts.append(tag("g", label, class_="label s0") if accent else label)
    description = f"A map of words: {len(words)} words, among them {', '.join(words[:8])}."
    return drawing(WIDTH, HEIGHT, *parts, label=description, class_="curves")


def neighbour_table(view: EmbeddingsView) -> Markup:
    """The nearest words with their cosines; of the most frequent words when none was asked for."""
    if view.asked:
        rows = [tag("tr", tag("th", one.word, scope="row"), tag("td", f"{one.cosine:.3f}")) for one in view.neighbours]
        headings: tuple[str, ...] = ("word", "cosine")
    else:
        rows = [
            tag(
                "tr",
                tag("th", word, scope="row"),
                tag("td", ", ".join(f"{one.word} {one.cosine:.2f}" for one in near)),
            )
            for word, near in view.groups
        ]
        headings = ("word", "nearest, with the cosine")
    head = tag("thead", tag("tr", *(tag("th", heading, scope="col") for heading in headings)))
    return tag("section", tag("div", tag("table", head, tag("tbody", *rows)), class_="scroll"), id="neighbours")
