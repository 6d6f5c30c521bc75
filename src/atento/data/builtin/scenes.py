"""Scenes and their captions. What a caption says, and in which order, follows from the picture alone:

one shape by itself: `a red circle`; a shape of 3 pixels or less from centre to edge is `small`. Of two the upper one is
named first where they lie further apart from top to bottom, `a red circle above a small blue square`, else the left
one, `a green star left of a red circle`. Three are named from left to right: `a red circle and a blue square and a
small green star`. No two distances are nearly the same, so a careful eye is never in doubt.

Scenes and the kind of their largest shape: one shape decides, the others only look like it.
Scenes with a question each, answered by yes or no.
The question is chosen first, then the answer, then a scene in which it is true: the question alone says nothing. Where
the answer is no, the scene still has something of what is asked for: the colour or the kind of a shape, both shapes in
the other order, one shape more or less. To learn from there are more scenes of few shapes than to test with.
"""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

from atento.data.builtin.builtin import BuiltinParts, Lengths, distinct, refuse_keys
from atento.data.images.drawing import COLOURS, KINDS, Scene, Shape, parse_scene, shapes_in
from atento.data.records import join, split
from atento.spec import DataRecipe

SIDE = 32
NAMES_OF_COLOURS, NAMES_OF_KINDS = tuple(COLOURS), tuple(KINDS)
SMALL = 3  # this size and less is called small
SIZES_OF_SHAPES = (3, 5, 6)
APART = 2  # pixels between the boxes of two shapes, at least
CLEAR = 4  # pixels between two distances that a caption or a question compares, at least
TRIES = 40  # for each shape, before a scene is begun again
SCENES_LENGTHS = Lengths(usual=3, most=3, unit="shapes")
SCENES_SIZES = (6000, 300, 600)


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
    most, generator, known = SCENES_LENGTHS.of(recipe), random.Random(seed), set[str]()
    test, valid, train = (
        distinct(lambda: captioned(generator, generator.randint(1, most)), size, known)
        for size in reversed(SCENES_SIZES)
    )
    note = (
        f"drawn scenes of 1 to {most} shapes (--set data.length=), each with its caption: {len(train)} to train, "
        f"{len(valid)} to validate, {len(test)} to test; no scene is in two"
    )
    return BuiltinParts(train, valid, test, (note,))


LARGE = 6  # pixels from centre to edge of the shape that decides
OTHERS = (3, 4)
SCENE_KINDS_LENGTHS = Lengths(usual=4, most=5, unit="shapes")
SCENE_KINDS_SIZES = (5000, 300, 600)


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
    most, generator, known = SCENE_KINDS_LENGTHS.of(recipe), random.Random(seed), set[str]()
    test, valid, train = (
        distinct(lambda: labelled(generator, generator.randint(1, most)), size, known)
        for size in reversed(SCENE_KINDS_SIZES)
    )
    note = (
        f"drawn scenes of 1 to {most} shapes (--set data.length=), each with the kind of its largest: {len(train)} "
        f"to train, {len(valid)} to validate, {len(test)} to test; one shape decides"
    )
    return BuiltinParts(train, valid, test, (note,))


YES, NO = "yes", "no"
COUNTS = ("no", "one", "two", "three")
SCENE_QUESTIONS_LENGTHS = Lengths(usual=2, most=3, unit="shapes")
SCENE_QUESTIONS_SIZES = (10_000, 400, 800)
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
    most, generator, known = SCENE_QUESTIONS_LENGTHS.of(recipe), random.Random(seed), set[str]()
    test, valid = (
        distinct(lambda: questioned(generator, most), size, known)
        for size in (SCENE_QUESTIONS_SIZES[2], SCENE_QUESTIONS_SIZES[1])
    )
    train = distinct(lambda: questioned(generator, generator.randint(1, most)), SCENE_QUESTIONS_SIZES[0], known)
    note = (
        f"drawn scenes of 1 to {most} shapes (--set data.length=), each with a question, yes or no: {len(train)} to "
        f"train, {len(valid)} to validate, {len(test)} to test; the question alone says nothing"
    )
    return BuiltinParts(train, valid, test, (note,))
