"""The word vectors of a model as plain data: neighbours by cosine, and a map in two dimensions with its labels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from atento.data.text.word_space import Neighbour, WordSpace, parse_terms
from atento.views.attention.terminal import columns_of
from atento.views.report.scales import Axis
from atento.views.saving import ModelView

ON_MAP = 240  # words of a map
AROUND = 40  # of them neighbours of the word asked for
NEIGHBOURS = 10
HOVERED = 6  # neighbours of a word that is pointed at
FREQUENT = 12  # words whose neighbours are shown when none is asked for
WIDTH, HEIGHT, MARGIN = 1000.0, 620.0, 24.0  # of the map
GAP = 8.0  # between a dot and its label


class MapPoint(NamedTuple):
    """A word and its place on the map."""

    word: str
    x: float
    y: float


@dataclass(frozen=True, kw_only=True)
class EmbeddingsView(ModelView):
    """The neighbours of a word or of a sum of words, and a map around them or of the most frequent words."""

    asked: str  # a word, or a sum of words: `king - man + woman`
    terms: list[str]  # its words
    words: int  # of the model
    size: int  # numbers of a vector
    neighbours: list[Neighbour]
    groups: list[tuple[str, list[Neighbour]]]  # the most frequent words with their nearest, when no word is asked for
    map: list[MapPoint]
    near: list[list[Neighbour]] = field(default_factory=list)  # of each word on the map

    @property
    def title(self) -> str:
        """The line above a map."""
        return f"nearest to {self.asked}" if self.asked else "words used alike are near each other"


def embeddings_view(space: WordSpace, asked: str = "", *, model: str = "") -> EmbeddingsView:
    """The neighbours of `asked` with a map around it; where it is empty, a map of the most frequent words."""
    terms = [term.word for term in parse_terms(asked, space)] if asked.strip() else []
    near = space.nearest(asked, AROUND) if terms else []
    words = list(dict.fromkeys([*terms, *(one.word for one in near)])) or frequent_words(space, ON_MAP)
    places = WordSpace(words, [space.vector(word) for word in words]).project().tolist()
    return EmbeddingsView(
        model=model,
        asked=asked.strip(),
        terms=terms,
        words=len(space),
        size=space.vectors.shape[1],
        neighbours=rounded(near[:NEIGHBOURS]),
        groups=[]
        if terms
        else [(word, rounded(space.nearest_to(parse_terms(word, space), 3))) for word in words[:FREQUENT]],
        map=[MapPoint(word, round(x, 4), round(y, 4)) for word, (x, y) in zip(words, places, strict=True)],
        near=[rounded(space.nearest_to(parse_terms(word, space), HOVERED)) for word in words],
    )


def frequent_words(space: WordSpace, most: int) -> list[str]:
    """The first words of the space, which are ordered by frequency, without punctuation."""
    return [word for word in space.words if any(letter.isalpha() for letter in word)][:most] or list(space.words[:most])


def rounded(neighbours: Sequence[Neighbour]) -> list[Neighbour]:
    """The same words, their cosines with four digits."""
    return [one._replace(cosine=round(one.cosine, 4)) for one in neighbours]


def placed_words(
    points: Sequence[MapPoint], words: Sequence[str], *, letter: float, height: float
) -> list[tuple[tuple[float, float], "Label | None"]]:
    """Where the dot of each point stands on the map, and its label of letters of that size, where there is room."""
    across, up = scales(points)
    dots = [(across.place(point.x), up.place(point.y)) for point in points]
    widths = [columns_of(word) * letter for word in words]
    places = place_labels(dots, widths, height=height, gap=GAP, frame=Box(0.0, 0.0, WIDTH, HEIGHT))
    return list(zip(dots, places, strict=True))


def scales(points: Sequence[MapPoint]) -> tuple[Axis, Axis]:
    """The scales of both axes, with the same unit, so that distances are true."""
    xs, ys = [point.x for point in points], [point.y for point in points]
    room = min((WIDTH - 6 * MARGIN) / extent(xs), (HEIGHT - 2 * MARGIN) / extent(ys))
    middle_x, middle_y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    half_x, half_y = WIDTH / 2 / room, HEIGHT / 2 / room
    return (
        Axis(middle_x - half_x, middle_x + half_x, 0.0, WIDTH),
        Axis(middle_y - half_y, middle_y + half_y, HEIGHT, 0.0),
    )


def extent(values: Sequence[float]) -> float:
    """The difference of the greatest and the least value; 1 where they are equal."""
    return (max(values) - min(values)) or 1.0


class Box(NamedTuple):
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "Box") -> bool:
        """Whether two rectangles overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


class Label(NamedTuple):
    """The place of a label: its start, middle or end at x, its middle at y."""

    x: float
    y: float
    anchor: Literal["start", "middle", "end"]


def place_labels(
    dots: Sequence[tuple[float, float]], widths: Sequence[float], *, height: float, gap: float, frame: Box
) -> list[Label | None]:
    """A place for each label of about that width, in order; None where there is no room for it.

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
