"""Drawn scenes: images of a few coloured shapes on a dark background, described by a line of text.

`drawn:32 red circle 9 20 5; blue square 24 8 6` is an image of 32 × 32 pixels with a red circle of radius 5 around
(9, 20) and a blue square; later shapes are drawn on top. The same description gives the same pixels.
"""

import hashlib
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.files.image_names import DRAWN_PREFIX, is_drawn
from atento.data.records import counted, excerpt
from atento.errors import InputError, nearest

# Axes: S side, rows from the top and columns from the left; 3 channels: red, green, blue.

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (220, 50, 47),
    "green": (60, 170, 60),
    "blue": (50, 90, 225),
    "yellow": (235, 205, 50),
    "purple": (170, 70, 200),
}
BACKGROUND = (40, 40, 44)
NOISE = 5.0  # standard deviation of each value of a pixel
SMALLEST_SIDE, LARGEST_SIDE = 8, 1024
MOST_SHAPES = 100
POINTS = 5  # of a star
INNER = 0.45  # distance of a star's inner corners from its centre

Floats = NDArray[np.float64]
Pixels = NDArray[np.uint8]


class Shape(NamedTuple):
    """A shape of a scene; x to the right and y down, in pixels; size is from the centre to the edge."""

    colour: str
    kind: str
    x: float
    y: float
    size: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of its bounding square."""
        return self.x - self.size, self.y - self.size, self.x + self.size, self.y + self.size

    def __str__(self) -> str:
        return f"{self.colour} {self.kind} {self.x:g} {self.y:g} {self.size:g}"


class Scene(NamedTuple):
    """The side of a square image, and its shapes."""

    side: int
    shapes: tuple[Shape, ...]

    def __str__(self) -> str:
        return f"{DRAWN_PREFIX}{self.side} " + "; ".join(map(str, self.shapes))


def shapes_in(source: str) -> tuple[Shape, ...]:
    """The shapes of a scene's description."""
    return parse_scene(source).shapes


def parse_scene(source: str) -> Scene:
    """The scene of a description."""
    side, _, rest = source.removeprefix(DRAWN_PREFIX).strip().partition(" ")
    described = [part.split() for part in rest.split(";") if part.strip()]
    if not is_drawn(source) or not side.isascii() or not side.isdigit() or len(described) > MOST_SHAPES:
        raise InputError(
            "this is not a drawn scene.", found=excerpt(source), fix=f"write e.g. {DRAWN_PREFIX}32 red circle 9 20 5"
        )
    if not SMALLEST_SIDE <= int(side) <= LARGEST_SIDE:
        raise InputError(
            f"a drawn scene has a side of {SMALLEST_SIDE} to {LARGEST_SIDE} pixels.",
            found=side,
            fix=f"write e.g. {DRAWN_PREFIX}32 red circle 9 20 5",
        )
    return Scene(int(side), tuple(parse_shape(words) for words in described))


def parse_shape(words: list[str]) -> Shape:
    """The shape of a description such as `red circle 9 20 5`."""
    try:
        colour, kind, *numbers = words
        x, y, size = map(float, numbers)
    except ValueError:
        found = f"{counted(len(words), 'word')}: {excerpt(' '.join(words))}"
        raise InputError(
            "a drawn shape is a colour, a kind, x, y and a size.", found=found, fix="write e.g. red circle 9 20 5"
        ) from None
    for what, name, known in (("colour", colour, COLOURS), ("kind of shape", kind, KINDS)):
        if name not in known:
            raise InputError(
                f"there is no {what} {name!r}.",
                found=", ".join(known),
                fix=f"did you mean {nearest(name, list(known))}?",
            )
    if not (all(map(math.isfinite, (x, y, size))) and 0 < size <= LARGEST_SIDE):
        raise InputError(
            "a drawn shape has a finite position and a size above 0.",
            found=" ".join(words),
            fix="write e.g. red circle 9 20 5",
        )
    return Shape(colour, kind, x, y, size)


def draw(scene: Scene, *, side: int = 0) -> Pixels:
    """The pixels (S, S, 3) of a scene, at its own side or scaled to another; the same scene gives the same pixels."""
    side = side or scene.side
    scale = side / scene.side
    pixels = np.empty((side, side, 3))
    pixels[:] = BACKGROUND
    centres: Floats = np.arange(side, dtype=np.float64) + 0.5
    for shape in scene.shapes:
        size = shape.size * scale
        left, top, right, bottom = (bound * scale for bound in shape.box)
        across, down = (within(side, *ends) for ends in ((left, right), (top, bottom)))
        x, y = centres[None, across] - shape.x * scale, centres[down, None] - shape.y * scale  # (1, w), (h, 1)
        outside = KINDS[shape.kind](x / size, y / size) * size
        share = np.minimum(np.maximum(0.5 - outside, 0.0), 1.0)[..., None]  # (h, w, 1): antialiased over one pixel
        part = pixels[down, across]
        part += share * (np.array(COLOURS[shape.colour]) - part)
    seed = int.from_bytes(hashlib.sha256(str(scene).encode()).digest()[:8], "big")
    pixels += np.random.default_rng(seed).normal(0.0, NOISE, pixels.shape)
    return np.minimum(np.maximum(np.rint(pixels), 0.0), 255.0).astype(np.uint8)


def within(side: int, first: float, last: float) -> slice:
    """The rows or columns that a shape may touch."""
    return slice(max(0, math.floor(first) - 1), min(side, math.ceil(last) + 1))


def circle(x: Floats, y: Floats) -> Floats:
    """The signed distance (h, w) of each point from a circle of radius 1; below 0 inside."""
    return np.hypot(x, y) - 1.0


def square(x: Floats, y: Floats) -> Floats:
    """The same from a square nearly as large as the box."""
    return np.maximum(np.abs(x), np.abs(y)) - 0.9


def triangle(x: Floats, y: Floats) -> Floats:
    """The same from a triangle with one corner up: the largest of the distances from its three lines."""
    slope = math.hypot(2.0, 1.0)  # sides from (0, -1) to (±1, 1)
    return np.maximum(y - 0.95, (2.0 * np.abs(x) - y - 0.95) / slope)


def star(x: Floats, y: Floats) -> Floats:
    """The same from a star with one of its five points up: by symmetry, from the line between two of its corners."""
    angle = np.arctan2(x, -y)  # 0 straight up
    wedge = 2 * math.pi / POINTS
    angle = np.abs((angle + wedge / 2) % wedge - wedge / 2)  # 0 at a point, wedge / 2 between two
    radius = np.hypot(x, y)
    along, across = radius * np.cos(angle), radius * np.sin(angle)
    inner_along, inner_across = INNER * math.cos(wedge / 2), INNER * math.sin(wedge / 2)
    # the line from (1, 0) to the inner corner, its normal pointing out
    normal = np.array([inner_across, 1.0 - inner_along]) / math.hypot(inner_across, 1.0 - inner_along)
    return (along - 1.0) * normal[0] + across * normal[1]


KINDS = {"circle": circle, "square": square, "triangle": triangle, "star": star}
