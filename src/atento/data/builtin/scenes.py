"""Generated images of coloured shapes: with captions, with the kind of the largest shape, with questions to answer."""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

from atento.data.builtin.builtin import BuiltinParts, Lengths, draw_parts, refuse_keys
from atento.data.images.drawing import COLOURS, KINDS, Scene, Shape
from atento.data.records import join_items
from atento.spec import DataRecipe

# Scenes with captions. The caption follows from the image alone. One shape: `a red circle`; a shape of at most 3 pixels
# from centre to edge is `small`. Of two shapes whose vertical distance is the larger one, the upper comes first, `a red
# circle above a small blue square`; else the left, `a green star left of a red circle`. Three are named from left to
# right: `a red circle and a blue square and a small green star`. Distances that are compared differ clearly.

SIDE = 32
NAMES_OF_COLOURS, NAMES_OF_KINDS = tuple(COLOURS), tuple(KINDS)
SMALL = 3  # this size and less is called small
SIZES_OF_SHAPES = (3, 5, 6)
APART = 2  # pixels between the boxes of two shapes, at least
CLEAR = 4  # pixels between two distances that a caption or a question compares, at least
TRIES = 40  # positions for each shape before the scene is started again
SCENES_LENGTHS = Lengths(usual=3, most=3, unit="shapes")
SCENES_SIZES = (6000, 300, 600)


def some_shape(generator: random.Random, sizes: Sequence[int] = SIZES_OF_SHAPES) -> Shape:
    """A shape of random colour and kind and of one of these sizes, without a position."""
    colour, kind = generator.choice(NAMES_OF_COLOURS), generator.choice(NAMES_OF_KINDS)
    return Shape(colour, kind, 0, 0, generator.choice(sizes))


def place(
    generator: random.Random, shapes: Sequence[Shape], *, fits: Callable[[Scene], bool] = lambda scene: True
) -> Scene:
    """A scene of the shapes at random positions, none touching another, that satisfies `fits`."""
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
    """The shape at a random free position; None where none was found."""
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
    """Whether the distances that determine the caption differ clearly."""
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
    """Whether the vertical distance of two shapes is larger than the horizontal one."""
    one, other = scene.shapes
    return abs(one.y - other.y) > abs(one.x - other.x)


def caption_of(scene: Scene) -> str:
    """The caption of a scene of one to three shapes."""
    names = [name_of(shape) for shape in named_shapes(scene)]
    if len(names) == 2:
        return f" {'above' if is_upright(scene) else 'left of'} ".join(names)
    return " and ".join(names)


def name_of(shape: Shape) -> str:
    """A shape as the caption names it: `a small red circle`."""
    return f"a {'small ' if shape.size <= SMALL else ''}{shape.colour} {shape.kind}"


def captioned(generator: random.Random, count: int) -> tuple[str, str]:
    """A scene of `count` shapes and its caption."""
    scene = place(generator, [some_shape(generator) for _ in range(count)], fits=is_clear)
    return str(scene), caption_of(scene)


def scenes(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Scenes of one to data.length shapes, each with its caption."""
    refuse_keys(recipe, "source", "target")
    most, generator = SCENES_LENGTHS.of(recipe), random.Random(seed)
    parts = draw_parts(lambda: captioned(generator, generator.randint(1, most)), SCENES_SIZES)
    return parts.with_note(
        f"drawn scenes of 1 to {most} shapes (--set data.length=), each with its caption: {parts.counts()}; no scene "
        "is in two"
    )


# Scenes with the kind of their largest shape as label: one shape decides, the others distract.

LARGE = 6  # pixels from centre to edge of the shape that decides
OTHERS = (3, 4)
SCENE_KINDS_LENGTHS = Lengths(usual=4, most=5, unit="shapes")
SCENE_KINDS_SIZES = (5000, 300, 600)


def labelled(generator: random.Random, count: int) -> tuple[str, str]:
    """A scene of `count` shapes and the kind of the largest."""
    sizes = [LARGE, *(generator.choice(OTHERS) for _ in range(count - 1))]
    shapes = [some_shape(generator)._replace(size=size) for size in sizes]
    scene = place(generator, shapes)
    mixed = scene._replace(shapes=tuple(generator.sample(scene.shapes, count)))
    return str(mixed), shapes[0].kind


def scene_kinds(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Scenes of one to data.length shapes, each with the kind of its largest."""
    refuse_keys(recipe, "source", "target")
    most, generator = SCENE_KINDS_LENGTHS.of(recipe), random.Random(seed)
    parts = draw_parts(lambda: labelled(generator, generator.randint(1, most)), SCENE_KINDS_SIZES)
    return parts.with_note(
        f"drawn scenes of 1 to {most} shapes (--set data.length=), each with the kind of its largest: "
        f"{parts.counts()}; one shape decides"
    )


# Scenes with a question each, answered by yes or no. The question is drawn first, then the answer, then a scene for
# which it is true: the question alone does not predict the answer. Where the answer is no, the scene has part of what
# is asked for: the colour or the kind of a shape, both shapes in the other order, one shape more or less. Training has
# more scenes of few shapes than validation and test.

YES, NO = "yes", "no"
COUNTS = ("no", "one", "two", "three")
SCENE_QUESTIONS_LENGTHS = Lengths(usual=2, most=3, unit="shapes")
SCENE_QUESTIONS_SIZES = (10_000, 400, 800)
SIZES_ASKED = (5, 6)  # of shapes: large enough for their kind to be recognised

Asked = tuple[str, Scene]


def is_there(generator: random.Random, most: int, *, true: bool) -> Asked:
    """`is there a red circle?`; where there is none, another shape has its colour or its kind."""
    asked = some_shape(generator, SIZES_ASKED)
    first = asked if true else changed(generator, asked, generator.choice(("colour", "kind")))
    others = some_others(generator, generator.randint(1, most) - 1, lambda shape: shape[:2] != asked[:2])
    return f"is there a {asked.colour} {asked.kind}?", place(generator, [first, *others])


def is_coloured(generator: random.Random, most: int, *, true: bool) -> Asked:
    """`is the circle red?` about the only circle; another shape may be red."""
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
    """`count` random shapes that are allowed."""
    found: list[Shape] = []
    while len(found) < count:
        shape = some_shape(generator, SIZES_ASKED)
        if allowed(shape):
            found.append(shape)
    return found


ALWAYS, OF_SEVERAL = (is_there, is_coloured), (is_beside, is_beside, how_many)


def questioned(generator: random.Random, most: int) -> tuple[str, str]:
    """A scene with a question, and its answer."""
    ask, true = generator.choice(ALWAYS + OF_SEVERAL * (most > 1)), generator.random() < 0.5
    question, scene = ask(generator, most, true=true)
    mixed = scene._replace(shapes=tuple(generator.sample(scene.shapes, len(scene.shapes))))
    return join_items((str(mixed), question)), YES if true else NO


def scene_questions(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Scenes of one to data.length shapes, each with a question."""
    refuse_keys(recipe, "source", "target")
    most, generator = SCENE_QUESTIONS_LENGTHS.of(recipe), random.Random(seed)
    parts = draw_parts(
        lambda: questioned(generator, most),
        SCENE_QUESTIONS_SIZES,
        train=lambda: questioned(generator, generator.randint(1, most)),
    )
    return parts.with_note(
        f"drawn scenes of 1 to {most} shapes (--set data.length=), each with a question, yes or no: {parts.counts()}; "
        "the question alone does not give the answer"
    )
