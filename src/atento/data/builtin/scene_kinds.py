"""Scenes and the kind of their largest shape: one shape decides, the others only look like it."""

import random

from atento.data.builtin.parts import BuiltinParts, Lengths, distinct, refuse_keys
from atento.data.builtin.scenes import place, some_shape
from atento.data.pictures.drawing import Shape, shapes_in
from atento.spec import DataRecipe

LARGE = 6  # pixels from centre to edge of the shape that decides
OTHERS = (3, 4)
LENGTHS = Lengths(usual=4, most=5, unit="shapes")
SIZES = (5000, 300, 600)


def labelled(generator: random.Random, count: int) -> tuple[str, str]:
    """A scene of so many shapes, and the kind of the largest."""
    sizes = [LARGE, *(generator.choice(OTHERS) for _ in range(count - 1))]
    shapes = [some_shape(generator)._replace(size=size) for size in sizes]
    scene = place(generator, shapes)
    mixed = scene._replace(shapes=tuple(generator.sample(scene.shapes, count)))
    return str(mixed), shapes[0].kind


def deciding_shape(source: str) -> Shape:
    """The shape of a scene told in words that decides its label."""
    return max(shapes_in(source), key=lambda shape: shape.size)


def scene_kinds(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Scenes of one to data.length shapes, each with the kind of its largest."""
    refuse_keys(recipe, "source", "target")
    most, generator, known = LENGTHS.of(recipe), random.Random(seed), set[str]()
    test, valid, train = (
        distinct(lambda: labelled(generator, generator.randint(1, most)), size, known) for size in reversed(SIZES)
    )
    note = (
        f"drawn scenes of 1 to {most} shapes (--set data.length=), each with the kind of its largest: {len(train)} "
        f"to train, {len(valid)} to validate, {len(test)} to test; one shape decides"
    )
    return BuiltinParts(train, valid, test, (note,))
