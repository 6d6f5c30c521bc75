"""Scenes with a question each, answered by yes or no.

The question is chosen first, then the answer, then a scene in which it is true: the question alone says nothing. Where
the answer is no, the scene still has something of what is asked for: the colour or the kind of a shape, both shapes in
the other order, one shape more or less. To learn from there are more scenes of few shapes than to test with.
"""

import random
from collections.abc import Callable
from itertools import pairwise

from atento.data.builtin.parts import BuiltinParts, Lengths, distinct, refuse_keys
from atento.data.builtin.scenes import CLEAR, place, some_shape
from atento.data.lists import join, split
from atento.data.pictures.drawing import COLOURS, KINDS, Scene, Shape, shapes_in
from atento.spec import DataRecipe

YES, NO = "yes", "no"
COUNTS = ("no", "one", "two", "three")
LENGTHS = Lengths(usual=2, most=3, unit="shapes")
SIZES = (10_000, 400, 800)
SIZES_ASKED = (5, 6)  # of shapes: large enough for their kind to be seen at a glance

Asked = tuple[str, Scene]


def is_there(generator: random.Random, most: int, *, true: bool) -> Asked:
    """`is there a red circle?`; where there is none, there is something red or a circle."""
    asked = some_shape(generator, SIZES_ASKED)
    first = asked if true else changed(generator, asked, generator.choice(("colour", "kind")))
    others = some_others(generator, generator.randint(1, most) - 1, lambda shape: shape[:2] != asked[:2])
    return f"is there a {asked.colour} {asked.kind}?", place(generator, [first, *others])


def is_coloured(generator: random.Random, most: int, *, true: bool) -> Asked:
    """`is the circle red?`, of the only circle; another shape may well be red."""
    asked = some_shape(generator, SIZES_ASKED)
    first = asked if true else changed(generator, asked, "colour")
    others = some_others(generator, generator.randint(1, most) - 1, lambda shape: shape.kind != asked.kind)
    return f"is the {asked.kind} {asked.colour}?", place(generator, [first, *others])


def is_beside(generator: random.Random, most: int, *, true: bool) -> Asked:
    """`is the red circle above the blue square?`, `is the red star left of the blue circle?`; no other shape has one of
    their colours.
    """
    first = some_shape(generator, SIZES_ASKED)
    second = changed(generator, some_shape(generator, SIZES_ASKED)._replace(colour=first.colour), "colour")
    colours = (first.colour, second.colour)
    others = some_others(generator, generator.randint(2, most) - 2, lambda shape: shape.colour not in colours)
    upright = generator.random() < 0.5

    def fits(scene: Scene) -> bool:
        one, other = scene.shapes[:2]
        before = other.y - one.y if upright else other.x - one.x
        return before >= CLEAR if true else before <= -CLEAR

    scene = place(generator, [first, second, *others], fits=fits)
    names = [f"{shape.colour} {shape.kind}" for shape in (first, second)]
    return f"is the {names[0]} {'above' if upright else 'left of'} the {names[1]}?", scene


def how_many(generator: random.Random, most: int, *, true: bool) -> Asked:
    """`are there two shapes?`, `is there one shape?`."""
    count = generator.randint(1, most)
    other = generator.choice([number for number in range(1, most + 1) if number != count])
    asked = f"are there {COUNTS[count]} shapes?" if count > 1 else "is there one shape?"
    return asked, place(generator, [some_shape(generator, SIZES_ASKED) for _ in range(count if true else other)])


def changed(generator: random.Random, shape: Shape, what: str) -> Shape:
    """The same shape with another colour or of another kind."""
    if what == "colour":
        return shape._replace(colour=generator.choice([name for name in COLOURS if name != shape.colour]))
    return shape._replace(kind=generator.choice([name for name in KINDS if name != shape.kind]))


def some_others(generator: random.Random, count: int, allowed: Callable[[Shape], bool]) -> list[Shape]:
    """So many shapes that are allowed."""
    found: list[Shape] = []
    while len(found) < count:
        shape = some_shape(generator, SIZES_ASKED)
        if allowed(shape):
            found.append(shape)
    return found


ALWAYS, OF_SEVERAL = (is_there, is_coloured), (is_beside, is_beside, how_many)


def questioned(generator: random.Random, most: int) -> tuple[str, str]:
    """A scene with its question, and yes or no."""
    ask, true = generator.choice(ALWAYS + OF_SEVERAL * (most > 1)), generator.random() < 0.5
    question, scene = ask(generator, most, true=true)
    mixed = scene._replace(shapes=tuple(generator.sample(scene.shapes, len(scene.shapes))))
    return join((str(mixed), question)), YES if true else NO


def asked_shapes(source: str) -> list[Shape]:
    """The shapes of a scene that its question asks for: those of a colour and kind that it names, or of its kind."""
    scene, question = split(source)
    pairs = list(pairwise(question.rstrip("?").split()))
    if any(pair[0] in KINDS and pair[1] in COLOURS for pair in pairs):  # is the circle red?
        return [shape for shape in shapes_in(scene) if shape.kind in question.split()]
    return [shape for shape in shapes_in(scene) if (shape.colour, shape.kind) in pairs]


def scene_questions(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Scenes of one to data.length shapes, each with a question."""
    refuse_keys(recipe, "source", "target")
    most, generator, known = LENGTHS.of(recipe), random.Random(seed), set[str]()
    test, valid = (distinct(lambda: questioned(generator, most), size, known) for size in (SIZES[2], SIZES[1]))
    train = distinct(lambda: questioned(generator, generator.randint(1, most)), SIZES[0], known)
    note = (
        f"drawn scenes of 1 to {most} shapes (--set data.length=), each with a question, yes or no: {len(train)} to "
        f"train, {len(valid)} to validate, {len(test)} to test; the question alone says nothing"
    )
    return BuiltinParts(train, valid, test, (note,))
