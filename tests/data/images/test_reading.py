"""Folders and tables of images: every row is used or listed, with its file, its line and what mends it."""

import json
import os

import numpy as np
import pytest
from PIL import Image
from tests.data.images.image_files import SCENES, captioned, labelled, save, write_table

from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.images import CAPTIONED, IMAGE_QUESTIONS, LABELLED_IMAGES

SKIP = DataRecipe(bad_rows="skip", max_megapixels=0.05)


def rows_of(read, path, recipe=SKIP):
    found = read(recipe, str(path))
    assert len(found.pairs) + len(found.refused) == len(found.table.rows) + len(found.table.refused)
    return found


@pytest.mark.parametrize("images", ["", "Images", "a/b"])
def test_a_folder_with_a_table_of_captions(tmp_path, images):
    found = rows_of(CAPTIONED.rows, captioned(tmp_path, images=images))
    assert len(found.pairs) == 18 and not found.refused
    assert found.pairs[0] == (str(tmp_path / images / "0.png"), "a red circle")
    assert dict(found.keys) == {"source": "file", "target": "caption"}
    assert rows_of(CAPTIONED.rows, tmp_path / "captions.csv").pairs == found.pairs


def test_captions_as_flickr_and_coco_have_them(tmp_path):
    captioned(tmp_path / "f", images="Flicker8k_Dataset")
    (tmp_path / "f/captions.csv").unlink()
    lines = [f"{number}.png#{which}\tcaption {which} of {number}" for number in range(9) for which in range(2)]
    (tmp_path / "f/Flickr8k.token.txt").write_text("\n".join(lines) + "\n")
    found = rows_of(CAPTIONED.rows, tmp_path / "f")
    assert found.pairs[1] == (str(tmp_path / "f/Flicker8k_Dataset/0.png"), "caption 1 of 0") and len(found.pairs) == 18
    captioned(tmp_path / "c", images="val2017")
    (tmp_path / "c/captions.csv").unlink()
    images = [{"id": 100 + number, "file_name": f"{number}.png"} for number in range(9)]
    said = [{"image_id": 100 + number % 9, "caption": f"said {number}"} for number in range(18)]
    broken = [{"image_id": 100}, {"image_id": 7, "caption": "of no image"}]
    (tmp_path / "c/captions_val2017.json").write_text(json.dumps({"images": images, "annotations": said + broken}))
    coco = rows_of(CAPTIONED.rows, tmp_path / "c")
    assert coco.pairs[10] == (str(tmp_path / "c/val2017/1.png"), "said 10") and len(coco.pairs) == 18
    assert [refusal.line for refusal in coco.refused] == [19, 20]


def test_a_folder_with_a_sub_folder_a_label(tmp_path):
    save(labelled(tmp_path / "set") / "above.png")
    found = rows_of(LABELLED_IMAGES.rows, tmp_path / "set")
    assert sorted({label for _, label in found.pairs}) == ["circle", "square", "star"] and len(found.pairs) == 9
    assert (str(tmp_path / "set/star/2.png"), "star") in found.pairs
    assert any("each sub-folder is a label" in note for note in found.notes)
    assert any("not in a sub-folder, so not read: above.png" in note for note in found.notes)


def test_tables_of_labels_and_of_questions(tmp_path):
    labelled(tmp_path)
    paths = [f"{scene.split()[2]}/{number}.png" for number, scene in enumerate(SCENES)]
    write_table(tmp_path / "kinds.csv", [("path", "label")] + [(path, path.split("/")[0]) for path in paths])
    assert rows_of(LABELLED_IMAGES.rows, tmp_path / "kinds.csv").pairs[4] == (str(tmp_path / paths[4]), "square")
    asked = [(path, "is it a star?", "yes" if "star" in path else "no") for path in paths]
    write_table(tmp_path / "asked.csv", [("picture", "question", "answer"), *asked])
    found = rows_of(IMAGE_QUESTIONS.rows, tmp_path / "asked.csv")
    assert found.pairs[2] == (f"{tmp_path / paths[2]}\tis it a star?", "yes")
    drawn = [(scene, "red?", "yes" if "red" in scene else "no") for scene in SCENES]
    write_table(tmp_path / "drawn.csv", [("p", "q", "a"), *drawn])
    assert rows_of(IMAGE_QUESTIONS.rows, tmp_path / "drawn.csv").pairs[0] == (f"{SCENES[0]}\tred?", "yes")


def test_every_fault_is_named_with_its_line_and_stops_unless_it_is_skipped(tmp_path):
    save(tmp_path / "good.png")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "cut.png").write_bytes((tmp_path / "good.png").read_bytes()[:-60])
    (tmp_path / "text.jpg").write_text("not an image")
    save(tmp_path / "named.gif", format="PNG")
    Image.new("1", (300, 200)).save(tmp_path / "huge.png")
    save(tmp_path / "twice/a.png"), save(tmp_path / "again/a.png", SCENES[1])
    names = ["good.png", "empty.png", "cut.png", "text.jpg", "named.gif", "huge.png", "godo.png", "", "a.png"]
    rows = [(name, f"caption {number}") for number, name in enumerate(names)]
    table = write_table(tmp_path / "captions.csv", [("file", "caption"), *rows, ("good.png", "")])
    found = rows_of(CAPTIONED.rows, table)
    assert [pair[1] for pair in found.pairs] == ["caption 0"]
    said = {refusal.line: str(refusal) for refusal in found.refused}
    for line, words in {
        3: "captions.csv:3:1: empty.png: the file is empty.",
        4: "captions.csv:4:1: cut.png: the image is cut off or damaged.",
        5: "captions.csv:5:1: text.jpg: this is not an image.",
        6: "captions.csv:6:1: named.gif: its name says GIF, its bytes say PNG.",
        7: "captions.csv:7:1: huge.png: the image has more than 0.05 megapixels.",
        8: "captions.csv:8:1: there is no image 'godo.png'.",
        9: "captions.csv:9:1: the column 'file' is empty here.",
        10: "captions.csv:10:1: 2 images are named 'a.png'.",
        11: "captions.csv:11:10: the column 'caption' is empty here.",
    }.items():
        assert said[line] == words
    assert next(refusal for refusal in found.refused if refusal.line == 8).fix == "did you mean good.png?"
    with pytest.raises(InputError, match=r"(?s)captions.csv:3:1: empty.png.*7 more bad rows.*data.bad_rows=skip"):
        CAPTIONED.rows(DataRecipe(), str(table))
    huge = rows_of(CAPTIONED.rows, table, SKIP.model_copy(update={"max_megapixels": 0.06}))
    assert [caption for _, caption in huge.pairs] == ["caption 0", "caption 5"]


def test_paths_never_lead_out_of_the_folder(tmp_path):
    outside = save(tmp_path / "outside/secret.png")
    save(tmp_path / "set/in.png")
    os.symlink(outside, tmp_path / "set/link.png")
    os.symlink(tmp_path / "outside", tmp_path / "set/linked")
    names = ["in.png", "../outside/secret.png", str(outside), "link.png", "linked/secret.png", "https://a.b/c.png"]
    names.append(str(tmp_path / "set/in.png"))
    rows = [(name, f"caption {number}") for number, name in enumerate(names)]
    found = rows_of(CAPTIONED.rows, write_table(tmp_path / "set/captions.csv", [("file", "caption"), *rows]))
    assert [pair for pair in found.pairs] == [(str(tmp_path / "set/in.png"), f"caption {number}") for number in (0, 6)]
    assert all("leads out of" in refusal.problem for refusal in found.refused[:4])
    assert "not downloaded" in found.refused[4].problem


def test_what_is_done_to_images_is_said_once(tmp_path):
    exif = Image.Exif()
    exif[274] = 6
    save(tmp_path / "turned.jpg", exif=exif)
    for number in range(2):
        Image.new("L", (8 + number, 8), 3).save(tmp_path / f"grey{number}.png")
    Image.new("RGBA", (8, 8)).save(tmp_path / "glass.png")
    Image.fromarray(np.zeros((8, 8), dtype=np.uint16)).save(tmp_path / "deep.png")
    frames = [Image.new("RGB", (8, 8), (shade, 0, 0)) for shade in (9, 200)]
    frames[0].save(tmp_path / "video.gif", save_all=True, append_images=frames[1:])
    save(tmp_path / "unnamed.png")
    names = sorted(path.name for path in tmp_path.iterdir() if path.name != "unnamed.png")
    write_table(tmp_path / "t.csv", [("file", "caption")] + [(name, f"this is {name}") for name in names])
    found = rows_of(CAPTIONED.rows, tmp_path)
    notes = " | ".join(found.notes)
    assert "1 image rotated upright by EXIF; --set data.exif_rotation=no leaves them" in notes
    assert "converted to RGB of eight bits: 2 grey" in notes
    assert "1 with transparency" in notes and "1 of more than eight bits" in notes
    assert "1 image of several frames: the first is read" in notes
    assert "1 image named by no usable row, so not read: unnamed.png" in notes
    left = " | ".join(rows_of(CAPTIONED.rows, tmp_path, SKIP.model_copy(update={"exif_rotation": "no"})).notes)
    assert "1 image with an EXIF rotation, left as they are" in left


def test_columns_that_are_not_there_are_asked_for(tmp_path):
    captioned(tmp_path)
    with pytest.raises(InputError, match="no column holds questions"):
        IMAGE_QUESTIONS.rows(SKIP, str(tmp_path))
    with pytest.raises(InputError, match="no column looks like a label"):
        LABELLED_IMAGES.rows(SKIP, str(tmp_path))
    (tmp_path / "words.csv").write_text("a,b\nx,one\ny,two\n")
    with pytest.raises(InputError, match=r"(?s)no column holds images.*--set data.source"):
        CAPTIONED.rows(SKIP, str(tmp_path / "words.csv"))
