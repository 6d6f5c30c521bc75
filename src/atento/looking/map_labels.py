"""Which dots of a map get their words written: as many as fit without covering each other."""

from collections.abc import Sequence
from typing import Literal, NamedTuple


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
