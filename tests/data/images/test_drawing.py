"""Drawn scenes: a line of words to pixels and back."""

import math

import numpy as np
import pytest

from atento.data.images import Scene, Shape, draw, parse_scene
from atento.data.images.drawing import BACKGROUND, COLOURS, KINDS, NOISE, shapes_in
from atento.errors import InputError

TOLD = "drawn:32 red circle 9 20 5; blue square 24 8 6"


def corners(kind, size):
    """The corners of a shape around (0, 0) with y down, as a geometry book has them."""
    if kind == "square":
        return [(x * 0.9 * size, y * 0.9 * size) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    if kind == "triangle":
        half = 0.95
        return [(0.0, -half * size), (half * size, half * size), (-half * size, half * size)]
    points = []
    for number in range(10):
        angle, radius = math.pi * number / 5, (1.0 if number % 2 == 0 else 0.45) * size
        points.append((radius * math.sin(angle), -radius * math.cos(angle)))
    return points


def inside(kind, size, x, y):
    """By the even-odd rule, a ray to the right."""
    if kind == "circle":
        return x * x + y * y < size * size
    points, odd = corners(kind, size), False
    for (x1, y1), (x2, y2) in zip(points, points[1:] + points[:1], strict=True):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            odd = not odd
    return odd


@pytest.mark.parametrize("kind", KINDS)
def test_a_pixel_is_as_much_of_the_shape_as_it_covers(kind):
    side, size, fine = 19, 7.0, 4
    image = draw(Scene(side, (Shape("yellow", kind, 9.3, 10.1, size),))).astype(float)
    steps = (np.arange(side * fine) + 0.5) / fine
    covered = np.array([[inside(kind, size, x - 9.3, y - 10.1) for x in steps] for y in steps], dtype=float)
    share = covered.reshape(side, fine, side, fine).mean(axis=(1, 3))[..., None]
    expected = share * np.array(COLOURS["yellow"]) + (1 - share) * np.array(BACKGROUND)
    sure = (share == 0) | (share == 1)
    apart = np.abs(image - expected)
    far = apart[np.broadcast_to(sure, apart.shape)] > 6 * NOISE  # more than noise
    assert far.mean() < 0.003  # a pixel or two at the points of a star
    assert apart.mean() < NOISE + 1  # at edges the cover is that of the distance, which differs at corners


def test_the_same_words_are_the_same_pixels_and_others_are_not():
    assert (draw(parse_scene(TOLD)) == draw(parse_scene(TOLD))).all()
    one, other = draw(parse_scene(TOLD)), draw(parse_scene(TOLD.replace("9 20 5", "10 20 5")))
    assert (one != other).mean() > 0.5  # the noise is another, too


def test_a_scene_is_told_as_it_was_read():
    scene = parse_scene(TOLD)
    assert scene.side == 32 and str(scene) == TOLD
    assert shapes_in(TOLD) == (Shape("red", "circle", 9, 20, 5), Shape("blue", "square", 24, 8, 6))
    assert shapes_in(TOLD)[0].box == (4, 15, 14, 25)
    assert shapes_in("drawn:8 ") == ()


def test_what_is_told_later_lies_on_top_and_larger_images_show_the_same():
    image = draw(parse_scene("drawn:16 red circle 8 8 6; blue square 8 8 3"), side=64)
    assert image.shape == (64, 64, 3) and image.dtype == np.uint8
    assert image[32, 32].argmax() == 2 and image[32, 14].argmax() == 0
    assert abs(image[2, 2].astype(int) - np.array(BACKGROUND)).max() < 6 * NOISE


def test_a_shape_may_reach_over_the_edge():
    image = draw(parse_scene("drawn:16 green circle 0 40 4; green circle 15 0 5"))
    assert image[0, 15].argmax() == 1 and image[10, 2].max() < 80


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("drawn:32 red circel 9 20 5", "did you mean circle?"),
        ("drawn:32 rd circle 9 20 5", "did you mean red?"),
        ("drawn:32 red circle 9 20", "a colour, a kind, x, y and a size"),
        ("drawn:32 red circle 9 20 nan", "a finite position and a size"),
        ("drawn:32 red circle 9 20 -1", "a finite position and a size"),
        ("drawn:99999 red circle 9 20 5", "8 to 1024 pixels"),
        ("drawn:x red circle 9 20 5", "not a drawn scene"),
        ("red circle 9 20 5", "not a drawn scene"),
        ("drawn:32 " + "red circle 1 1 1;" * 101, "not a drawn scene"),
    ],
)
def test_what_is_no_scene_is_refused_in_words(text, words):
    with pytest.raises(InputError, match="(?s)" + words.replace("?", r"\?")):
        parse_scene(text)
