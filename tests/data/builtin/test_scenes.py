"""Drawn scenes: what is said, labelled and asked follows from the picture, and from nothing else."""

import random
import re
from collections import Counter, defaultdict
from functools import lru_cache

import pytest

from atento.data.builtin import BUILTIN
from atento.data.builtin.scenes import caption_of, named_shapes
from atento.data.images import Scene, Shape, parse_scene
from atento.data.images.drawing import shapes_in
from atento.errors import InputError
from atento.spec import DataRecipe


@lru_cache
def made(name, *, seed=0, **choices):
    return BUILTIN[name].make(DataRecipe(train=name, **choices), seed)


@pytest.fixture(scope="module")
def captions():
    return made("scenes")


@pytest.fixture(scope="module")
def questions():
    return made("scenes-questions")


@pytest.mark.parametrize("name", ["scenes", "scenes-kinds", "scenes-questions"])
def test_no_scene_is_in_two_parts_and_a_seed_makes_a_set(name):
    parts = made(name)
    sources = [source for part in parts[:3] for source, _ in part]
    assert len(sources) == len(set(sources)) > 5000
    assert made(name, seed=1).test != parts.test
    with pytest.raises(InputError, match="at most"):
        made(name, length=9)
    with pytest.raises(InputError, match=r"data\.source has no meaning"):
        made(name, source="es")


def test_shapes_lie_on_the_picture_and_apart(captions):
    for source, _ in captions.test:
        boxes = [shape.box for shape in shapes_in(source)]
        assert all(min(box) > 0 and max(box) < 32 for box in boxes)
        for at, one in enumerate(boxes):
            for other in boxes[:at]:
                across = max(one[0], other[0]) - min(one[2], other[2])
                down = max(one[1], other[1]) - min(one[3], other[3])
                assert max(across, down) >= 2


def test_a_caption_says_what_a_careful_eye_sees(captions):
    for source, caption in captions.test:
        shapes = [
            (float(x), float(y), f"a {'small ' * (int(size) <= 3)}{colour} {kind}")
            for colour, kind, x, y, size in re.findall(r"(\w+) (\w+) (\d+) (\d+) (\d+)", source)
        ]
        told = [name for _, _, name in sorted(shapes)]
        if len(shapes) == 2:
            (x1, y1, _), (x2, y2, _) = shapes
            assert abs(abs(x1 - x2) - abs(y1 - y2)) >= 4
            if abs(y1 - y2) > abs(x1 - x2):
                told = [name for _, _, name in sorted(shapes, key=lambda shape: shape[1])]
                assert caption == f"{told[0]} above {told[1]}"
            else:
                assert caption == f"{told[0]} left of {told[1]}"
        else:
            assert caption == " and ".join(told)
        assert [f"{shape.colour} {shape.kind}" for shape in named_shapes(parse_scene(source))] == re.findall(
            r"(?:a|small) (\w+ \w+)", caption.replace("a small", "small")
        )


def test_the_order_in_which_shapes_are_told_does_not_matter():
    one, other = Shape("red", "circle", 9, 5, 3), Shape("blue", "star", 20, 25, 5)
    assert caption_of(Scene(32, (one, other))) == caption_of(Scene(32, (other, one)))
    assert caption_of(Scene(32, (one,))) == "a small red circle"


def test_captions_are_of_one_to_three_shapes_alike(captions):
    counts = Counter(len(shapes_in(source)) for source, _ in captions.train)
    assert set(counts) == {1, 2, 3} and min(counts.values()) > 1800
    assert {len(shapes_in(source)) for source, _ in made("scenes", length=1).test} == {1}


def largest(source):
    return max(shapes_in(source), key=lambda shape: shape.size)


def test_the_kind_is_that_of_the_one_largest_shape():
    parts = made("scenes-kinds")
    for source, label in parts.test:
        sizes = sorted(shape.size for shape in shapes_in(source))
        assert sizes[-1] == 6 and (len(sizes) == 1 or sizes[-2] <= 4)
        assert largest(source).kind == label
    assert max(Counter(label for _, label in parts.test).values()) < 0.3 * len(parts.test)
    places = Counter(shapes_in(source).index(largest(source)) for source, _ in parts.train)
    assert len(places) == 4  # it is told anywhere in the line


def answered(source):
    """A question answered anew, from the shapes alone."""
    scene, question = source.split("\t")
    shapes, words = parse_scene(scene).shapes, question.rstrip("?").split()
    if words[-1].startswith("shape"):
        return len(shapes) == {"one": 1, "two": 2, "three": 3}[words[2]]
    if words[1] == "there":
        return any((shape.colour, shape.kind) == (words[3], words[4]) for shape in shapes)
    if len(words) == 4:
        (asked,) = (shape for shape in shapes if shape.kind == words[2])
        return asked.colour == words[3]
    (first,) = (shape for shape in shapes if shape.colour == words[2])
    (second,) = (shape for shape in shapes if shape.colour == words[-2])
    assert (first.kind, second.kind) == (words[3], words[-1])
    return second.y - first.y >= 4 if words[4] == "above" else second.x - first.x >= 4


def test_answers_are_true_and_no_question_gives_them_away(questions):
    told = defaultdict(list)
    for source, answer in (*questions.train, *questions.test):
        assert answered(source) == (answer == "yes"), source
        told[source.split("\t")[1]].append(answer == "yes")
    often = [answers for answers in told.values() if len(answers) > 50]
    assert len(often) > 20
    for answers in often:  # within four standard deviations of a coin
        assert abs(sum(answers) / len(answers) - 0.5) < 2 / len(answers) ** 0.5


def test_questions_of_every_kind_are_asked_and_name_their_shapes(questions):
    asked = [source.split("\t")[1] for source, _ in questions.test]
    for words in ("is there a", "shapes?", " above the ", " left of the ", "is the circle red?"):
        assert any(words in question for question in asked)


def test_one_shape_leaves_out_what_needs_two():
    asked = [source.split("\t")[1] for source, _ in made("scenes-questions", length=1).test]
    assert not any(words in question for question in asked for words in ("above", "left of", "shapes"))
    assert random.Random(0).choice(asked).endswith("?")
