"""Words as points, as a page of its own: a map with a dot a word, and the neighbours of what was asked.

Which dots of a map get their words written: as many as fit without covering each other.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from atento.views.attention.terminal import columns_of
from atento.views.html import Markup, document, tag
from atento.views.report.charts import LETTER, drawing
from atento.views.report.scales import Scale
from atento.views.wording import counted


class Box(NamedTuple):
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "Box") -> bool:
        """Whether two rectangles share any ground."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


class Label(NamedTuple):
    """Where a word is written: its start, middle or end at x, its middle at y."""

    x: float
    y: float
    anchor: Literal["start", "middle", "end"]


def place_labels(
    dots: Sequence[tuple[float, float]], widths: Sequence[float], *, height: float, gap: float, frame: Box
) -> list[Label | None]:
    """A place for each word about so wide, first ones first; None: there is no room for it.

    A label stands to the right of its dot, else to the left, above or below; it covers neither a dot nor a label.
    """
    taken = [Box(x - gap / 2, y - gap / 2, x + gap / 2, y + gap / 2) for x, y in dots]
    places: list[Label | None] = []
    for number, ((x, y), width) in enumerate(zip(dots, widths, strict=True)):
        tries = [Label(x + gap, y, "start"), Label(x - gap, y, "end")]
        tries += [Label(x, y - height, "middle"), Label(x, y + height, "middle")]
        for label in tries:
            left = label.x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
            box = Box(left, label.y - height / 2, left + width, label.y + height / 2)
            inside = frame.left <= box.left and box.right <= frame.right
            inside = inside and frame.top <= box.top and box.bottom <= frame.bottom
            if inside and not any(box.covers(other) for place, other in enumerate(taken) if place != number):
                taken.append(box)
                places.append(label)
                break
        else:
            places.append(None)
    return places


View = Mapping[str, Any]  # what `atento.views.embeddings.view_of` gives

WIDTH, HEIGHT, MARGIN = 1000.0, 620.0, 24.0
DOT, LABEL, GAP = 3.5, 15.0, 8.0


def render_map(view: View) -> str:
    """A single HTML file."""
    name = view["model"] or "the model"
    title = f"nearest to {view['asked']}" if view["asked"] else "words used alike stand near each other"
    header = tag(
        "header",
        tag(
            "p", f"atento · {counted(view['words'], 'word')} of {view['size']} numbers each in {name}", class_="kicker"
        ),
        tag("h1", tag("bdi", title), class_="pair"),
    )
    words = "The two directions in which these words differ most (principal components of their directions)."
    figure = tag("section", tag("p", words), tag("figure", map_chart(view)), id="map")
    return document(title, header, tag("main", figure, neighbour_table(view)))


def map_chart(view: View) -> Markup:
    """Every word a dot with its name in a tooltip; as many names are written as fit."""
    words = [word for word, _, _ in view["map"]]
    across, up = scales(view["map"])
    dots = [(across.place(x), up.place(y)) for _, x, y in view["map"]]
    frame = Box(0.0, 0.0, WIDTH, HEIGHT)
    widths = [columns_of(word) * LETTER for word in words]
    places = place_labels(dots, widths, height=LABEL, gap=GAP, frame=frame)
    parts = []
    for word, (x, y), place in zip(words, dots, places, strict=True):
        accent = word in view["terms"]
        parts.append(
            tag("circle", tag("title", word), class_="dot accent" if accent else "dot", cx=x, cy=y, r=DOT + 2 * accent)
        )
        if place is not None:
            label = tag("text", word, x=place.x, y=place.y + 4, text_anchor=place.anchor)
            parts.append(tag("g", label, class_="label s0") if accent else label)
    spoken = f"{len(words)} words, among them {', '.join(words[:8])}"
    return drawing(WIDTH, HEIGHT, *parts, label=f"A map of words: {spoken}.", class_="curves")


def scales(points: Sequence[Sequence[Any]]) -> tuple[Scale, Scale]:
    """Across and up, as much a unit each, so that distances are true."""
    xs, ys = [point[1] for point in points], [point[2] for point in points]
    room = min((WIDTH - 6 * MARGIN) / spread(xs), (HEIGHT - 2 * MARGIN) / spread(ys))
    middle_x, middle_y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    half_x, half_y = WIDTH / 2 / room, HEIGHT / 2 / room
    return (
        Scale(middle_x - half_x, middle_x + half_x, 0.0, WIDTH),
        Scale(middle_y - half_y, middle_y + half_y, HEIGHT, 0.0),
    )


def spread(values: Sequence[float]) -> float:
    """From the least to the greatest, never nothing."""
    return (max(values) - min(values)) or 1.0


def neighbour_table(view: View) -> Markup:
    """The nearest words with their cosines; of the commonest words when none was asked for."""
    if view["asked"]:
        rows = [
            tag("tr", tag("th", word, scope="row"), tag("td", f"{cosine:.3f}")) for word, cosine in view["neighbours"]
        ]
        headings: tuple[str, ...] = ("word", "cosine")
    else:
        rows = [
            tag(
                "tr",
                tag("th", word, scope="row"),
                tag("td", ", ".join(f"{other} {cosine:.2f}" for other, cosine in near)),
            )
            for word, near in view["groups"]
        ]
        headings = ("word", "nearest, with the cosine")
    head = tag("thead", tag("tr", *(tag("th", heading, scope="col") for heading in headings)))
    return tag("section", tag("div", tag("table", head, tag("tbody", *rows)), class_="scroll"), id="neighbours")
