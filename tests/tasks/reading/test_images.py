"""The three parts of a set of pictures: no picture in two of them, whatever its name."""

import shutil

import pytest
from tests.data.images.image_files import SCENES, captioned, labelled, save, write_table

from atento.data.images.finding import any_path_allowed
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.images import (
    CAPTIONED,
    IMAGE_ESTIMATES,
    IMAGE_QUESTIONS,
    LABEL_SET_IMAGES,
    LABELLED_IMAGES,
    digest_of,
)

HALVES = "60/20/20"


def parts_of(reading):
    held = [{question.source for question in part} for part in (reading.valid, reading.test)]
    return [{source for source, _ in reading.train}, *held]


def test_several_captions_of_a_picture_are_one_question(tmp_path):
    reading = CAPTIONED.read(DataRecipe(train=str(captioned(tmp_path)), split=HALVES), 0)
    train, valid, test = parts_of(reading)
    assert not (train & valid or train & test or valid & test)
    assert len(train) + len(valid) + len(test) == 9
    assert all(len(question.references) == 2 for question in (*reading.valid, *reading.test))


def test_the_same_bytes_under_two_names_are_one_picture(tmp_path):
    labelled(tmp_path)
    for number in range(9):
        kind = SCENES[number].split()[2]
        shutil.copy(tmp_path / kind / f"{number}.png", tmp_path / kind / f"copy{number}.png")
    for seed in range(5):
        recipe = DataRecipe(train=str(tmp_path), split=HALVES)
        parts = parts_of(LABELLED_IMAGES.read(recipe, seed))
        digests = [{digest_of(source, recipe) for source in part} for part in parts]
        assert sum(map(len, digests)) == 9 and sum(map(len, parts)) == 18


def test_a_held_out_picture_is_left_out_of_training_and_counted(tmp_path):
    captioned(tmp_path / "train")
    save(tmp_path / "test/other.png", SCENES[4]), save(tmp_path / "test/new.png", "drawn:16 red star 6 7 4")
    write_table(tmp_path / "test/t.csv", [("file", "caption"), ("other.png", "a thing"), ("new.png", "a new thing")])
    recipe = DataRecipe(train=str(tmp_path / "train"), test=str(tmp_path / "test/t.csv"), split="80/20/0")
    reading = CAPTIONED.read(recipe, 0)
    assert len(reading.test) == 2
    held = digest_of(str(tmp_path / "test/other.png"), recipe)
    assert held not in {digest_of(source, recipe) for source, _ in reading.train}
    left = [note for note in reading.notes if "the same image is in validation or test" in note]
    in_valid = any(digest_of(question.source, recipe) == held for question in reading.valid)
    assert in_valid or left == ["2 training rows left out: the same image is in validation or test"]


def test_the_fingerprint_is_of_the_pictures_too(tmp_path):
    recipe = DataRecipe(train=str(captioned(tmp_path)), split=HALVES)
    first = CAPTIONED.read(recipe, 0).fingerprint
    assert CAPTIONED.read(recipe, 0).fingerprint == first
    save(tmp_path / "3.png", "drawn:16 purple star 8 8 5")
    assert CAPTIONED.read(recipe, 0).fingerprint != first


def test_parts_in_sub_folders_and_pictures_to_be_answered(tmp_path):
    for part in ("train", "val", "test"):
        labelled(tmp_path / part)
    recipe = DataRecipe(train=str(tmp_path / "train"), valid=str(tmp_path / "val"))
    asked = LABELLED_IMAGES.read_labelled(recipe, str(tmp_path / "test"), 0)
    assert len(asked.questions) == 9
    opened = LABELLED_IMAGES.read_unlabelled(
        recipe.model_copy(update={"source": "path"}), str(tmp_path / "test/star"), 0
    )
    assert opened.sources == [str(tmp_path / "test/star" / f"{number}.png") for number in (2, 5, 8)]
    alone = CAPTIONED.read_unlabelled(recipe, str(tmp_path / "test/star/5.png"), 0)
    assert alone.sources == [str(tmp_path / "test/star/5.png")] and alone.columns == {"image": ["5.png"]}


def test_questions_to_be_answered_need_no_answers(tmp_path):
    save(tmp_path / "a.png")
    write_table(tmp_path / "q.csv", [("picture", "question"), ("a.png", "is it red?"), ("b.png", "is it blue?")])
    with pytest.raises(InputError, match=r"q\.csv:3:1: there is no image 'b\.png'"):
        IMAGE_QUESTIONS.read_unlabelled(DataRecipe(), str(tmp_path / "q.csv"), 0)
    opened = IMAGE_QUESTIONS.read_unlabelled(DataRecipe(bad_rows="skip"), str(tmp_path / "q.csv"), 0)
    assert opened.sources == [f"{tmp_path / 'a.png'}\tis it red?"] and len(opened.refused) == 1
    built_in = IMAGE_QUESTIONS.read_unlabelled(DataRecipe(length=1), "scenes-questions", 0)
    assert set(built_in.columns) == {"image", "answer"} and "\t" in built_in.sources[0]


def test_a_program_may_name_its_own_files_anywhere(tmp_path):
    path = save(tmp_path / "elsewhere/a.png")
    table = write_table(tmp_path / "here/t.csv", [("file", "caption"), (path, "a thing"), (path, "one thing")])
    with any_path_allowed():
        assert len(CAPTIONED.read_labelled(DataRecipe(), str(table), 0).questions) == 1
    with pytest.raises(InputError, match="leads out of"):
        CAPTIONED.read_labelled(DataRecipe(), str(table), 0)


def test_several_labels_or_a_number_of_each_image(tmp_path):
    rows = [(scene, ";".join(scene.split()[1 : 2 + at % 2]), f"{at}.5") for at, scene in enumerate(SCENES)]
    path = str(write_table(tmp_path / "t.csv", [("file", "tags", "age"), *rows]))
    asked = LABEL_SET_IMAGES.read_labelled(DataRecipe(label="tags", separator=";"), path, 0)
    assert asked.questions[3] == (SCENES[3], tuple(SCENES[3].split()[1:3]))
    asked = IMAGE_ESTIMATES.read_labelled(DataRecipe(target="age"), path, 0)
    assert asked.questions[3] == (SCENES[3], ("3.5",))
    train, valid, test = parts_of(IMAGE_ESTIMATES.read(DataRecipe(train=path, target="age", split=HALVES), 0))
    assert not (train & valid or train & test or valid & test)
