"""Which files are pictures, and what is meant with them."""

import json

import pytest
from tests.data.images.image_files import SCENES, captioned, labelled, write_table

from atento.data.evidence.evidence import gather
from atento.spec import DataRecipe
from atento.tasks.finding import find_task, recognise


def questions(folder):
    rows = [(scene, "is it red?", "yes" if "red" in scene else "no") for scene in SCENES]
    return write_table(folder / "q.csv", [("image", "question", "answer"), *rows])


def labels(folder):
    rows = [(number, f"x/{number}.JPG", scene.split()[2]) for number, scene in enumerate(SCENES * 3)]
    return write_table(folder / "l.csv", [("id", "filename", "class"), *rows])


def lines(folder):
    rows = [
        {"img": f"{number}.jpeg", "caption": f"a {scene.split()[1]} thing, {number}"}
        for number, scene in enumerate(SCENES)
    ]
    (folder / "c.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "c.jsonl"


def label_sets(folder):
    rows = [
        {"img": f"{number}.jpeg", "topics": scene.split()[1 : 2 + number % 2]}
        for number, scene in enumerate(SCENES * 3)
    ]
    (folder / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "s.jsonl"


def parted_labels(folder):
    sets = [";".join(scene.split()[1 : 2 + number % 2]) for number, scene in enumerate(SCENES * 3)]
    rows = [(number, f"holiday/{number}.png", labels) for number, labels in enumerate(sets)]
    return write_table(folder / "p.csv", [("id", "filename", "labels"), *rows])


SHAPES = {
    "lists of labels": (label_sets, "label-images"),
    "labels parted by a sign": (parted_labels, "label-images"),
    "captions in a folder": (captioned, "caption"),
    "captions in lines": (lines, "caption"),
    "a sub-folder a label": (labelled, "classify-images"),
    "a table of labels": (labels, "classify-images"),
    "questions": (questions, "match-images"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_is_known_for_what_it_is(shape, tmp_path):
    make, task = SHAPES[shape]
    path = str(make(tmp_path))
    guesses = recognise(gather(path))
    assert next(iter(guesses)) == task and guesses[task].likelihood > 0.9
    found, reason = find_task("auto", DataRecipe(train=path))
    assert found.name == task and task in reason


def test_a_short_name_means_the_task_of_pictures_where_there_are_some(tmp_path):
    assert find_task("classify", DataRecipe(train=str(labelled(tmp_path / "l"))))[0].name == "classify-images"
    (tmp_path / "q").mkdir()
    assert find_task("match", DataRecipe(train=str(questions(tmp_path / "q"))))[0].name == "match-images"


def test_texts_are_not_taken_for_pictures(tmp_path):
    rows = [(f"I like {number}.", "pos" if number % 2 else "neg") for number in range(30)]
    table = write_table(tmp_path / "t.csv", [("text", "label"), *rows])
    guesses = recognise(gather(str(table)))
    assert next(iter(guesses)) == "classify"
    assert all(guesses[task].likelihood < 0.1 for task in ("caption", "classify-images", "match-images"))
