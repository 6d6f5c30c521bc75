"""Scenes and their captions. What a caption says, and in which order, follows from the picture alone:

one shape by itself: `a red circle`; a shape of 3 pixels or less from centre to edge is `small`. Of two the upper one is
named first where they lie further apart from top to bottom, `a red circle above a small blue square`, else the left
one, `a green star left of a red circle`. Three are named from left to right: `a red circle and a blue square and a
small green star`. No two distances are nearly the same, so a careful eye is never in doubt.
"""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

from atento.data.builtin.parts import BuiltinParts, Lengths, distinct, refuse_keys
from atento.data.pictures.drawing import COLOURS, KINDS, Scene, Shape, parse_scene
from atento.spec import DataRecipe

SIDE = 32
NAMES_OF_COLOURS, NAMES_OF_KINDS = tuple(COLOURS), tuple(KINDS)
SMALL = 3  # this size and less is called small
SIZES_OF_SHAPES = (3, 5, 6)
APART = 2  # pixels between the boxes of two shapes, at least
CLEAR = 4  # pixels between two distances that a caption or a question compares, at least
TRIES = 40  # for each shape, before a scene is begun again
LENGTHS = Lengths(usual=3, most=3, unit="shapes")
SIZES = (6000, 300, 600)


def some_shape(generator: random.Random, sizes: Sequence[int] = SIZES_OF_SHAPES) -> Shape:
    """Any colour and kind, one of these sizes; not yet anywhere."""
    colour, kind = generator.choice(NAMES_OF_COLOURS), generator.choice(NAMES_OF_KINDS)
    return Shape(colour, kind, 0, 0, generator.choice(sizes))


def place(
    generator: random.Random, shapes: Sequence[Shape], *, fits: Callable[[Scene], bool] = lambda scene: True
) -> Scene:
    """The shapes somewhere on a picture, none touching another, such that all of it fits."""
    while True:
        placed: list[Shape] = []
        for shape in shapes:
            spot = free_spot(generator, shape, placed)
            if spot is None:
                break
            placed.append(spot)
        scene = Scene(SIDE, tuple(placed))
        if len(placed) == len(shapes) and fits(scene):
            return scene


def free_spot(generator: random.Random, shape: Shape, others: Sequence[Shape]) -> Shape | None:
    """The shape where there is room for it; None where none was found."""
    least = int(shape.size) + 1
    room = SIDE - 2 * least + 1
    for _ in range(TRIES):
        x, y = least + int(room * generator.random()), least + int(room * generator.random())
        for other in others:
            if max(abs(x - other.x), abs(y - other.y)) < shape.size + other.size + APART:
                break
        else:
            return shape._replace(x=x, y=y)
    return None


def is_clear(scene: Scene) -> bool:
    """Whether the order of the caption is beyond doubt."""
    if len(scene.shapes) == 2:
        one, other = scene.shapes
        return abs(abs(one.x - other.x) - abs(one.y - other.y)) >= CLEAR
    across = sorted(shape.x for shape in scene.shapes)
    return all(right - left >= CLEAR for left, right in pairwise(across))


def named_shapes(scene: Scene) -> list[Shape]:
    """The shapes in the order in which the caption names them."""
    if len(scene.shapes) == 2 and is_upright(scene):
        return sorted(scene.shapes, key=lambda shape: shape.y)
    return sorted(scene.shapes, key=lambda shape: shape.x)


def is_upright(scene: Scene) -> bool:
    """Whether two shapes lie further apart from top to bottom than from left to right."""
    one, other = scene.shapes
    return abs(one.y - other.y) > abs(one.x - other.x)


def caption_of(scene: Scene) -> str:
    """What there is to say of a scene of one to three shapes."""
    names = [name_of(shape) for shape in named_shapes(scene)]
    if len(names) == 2:
        return f" {'above' if is_upright(scene) else 'left of'} ".join(names)
    return " and ".join(names)


def name_of(shape: Shape) -> str:
    """`a small red circle`."""
    return f"a {'small ' if shape.size <= SMALL else ''}{shape.colour} {shape.kind}"


def named_in(source: str) -> list[Shape]:
    """The shapes of a scene told in words, in the order of its caption."""
    return named_shapes(parse_scene(source))


def captioned(generator: random.Random, count: int) -> tuple[str, str]:
    """A scene of so many shapes and its caption."""
    scene = place(generator, [some_shape(generator) for _ in range(count)], fits=is_clear)
    return str(scene), caption_of(scene)


def scenes(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Scenes of one to data.length shapes, each with its caption."""
    refuse_keys(recipe, "source", "target")
    most, generator, known = LENGTHS.of(recipe), random.Random(seed), set[str]()
    test, valid, train = (
        distinct(lambda: captioned(generator, generator.randint(1, most)), size, known) for size in reversed(SIZES)
    )
    note = (
        f"drawn scenes of 1 to {most} shapes (--set data.length=), each with its caption: {len(train)} to train, "
        f"{len(valid)} to validate, {len(test)} to test; no scene is in two"
    )
    return BuiltinParts(train, valid, test, (note,))
