"""Images in a zip archive: read as the folder would be, nothing unpacked, nothing from outside."""

import shutil
import zipfile

import numpy as np
import pytest
from tests.data.images.image_files import SCENES, captioned, labelled, save, write_table

from atento.data import read_source
from atento.data.images import load_image
from atento.data.images.loading import image_size
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.images import CAPTIONED, LABELLED_IMAGES

SKIP = DataRecipe(bad_rows="skip")


def zipped(folder):
    """The folder packed beside it."""
    return shutil.make_archive(str(folder), "zip", folder)


@pytest.mark.parametrize("images", ["", "Images/ñ"])
def test_captions_in_an_archive_are_those_of_the_folder(tmp_path, images):
    folder = captioned(tmp_path / "set", images=images)
    archive = zipped(folder)
    before = sorted(tmp_path.rglob("*"))
    plain, packed = CAPTIONED.rows(SKIP, str(folder)), CAPTIONED.rows(SKIP, archive)
    assert [(source.removeprefix(f"{archive}!/"), said) for source, said in packed.pairs] == [
        (source.removeprefix(f"{folder}/"), said) for source, said in plain.pairs
    ]
    for (one, _), (other, _) in zip(plain.pairs, packed.pairs, strict=True):
        np.testing.assert_array_equal(load_image(one, side=16), load_image(other, side=16))
        assert image_size(one) == image_size(other) == (16, 16)
    assert any("set.zip: captions.csv names the images" in note for note in packed.notes)
    assert sorted(tmp_path.rglob("*")) == before  # nothing is unpacked


def test_labels_parts_and_one_image_of_an_archive(tmp_path):
    folder = labelled(tmp_path / "set")
    archive = zipped(folder)
    plain = LABELLED_IMAGES.read(DataRecipe(train=str(folder), split="60/20/20"), 0)
    packed = LABELLED_IMAGES.read(DataRecipe(train=archive, split="60/20/20"), 0)
    assert [label for _, label in plain.train] == [label for _, label in packed.train]
    assert [source.split("set/")[1] for source, _ in plain.train] == [
        source.split("set.zip!/")[1] for source, _ in packed.train
    ]
    opened = LABELLED_IMAGES.read_unlabelled(DataRecipe(), f"{archive}!/star/2.png", 0)
    assert opened.columns == {"image": ["star/2.png"]} and list(opened.sources) == [f"{archive}!/star/2.png"]
    assert read_source(archive).kind == "images"


def test_every_fault_in_an_archive_is_named(tmp_path):
    folder = captioned(tmp_path / "set")
    rows = [("file", "caption"), *((f"{n}.png", f"an image of {n}") for n in range(9))]
    write_table(
        folder / "captions.csv",
        [
            *rows,
            ("gone.png", "not there"),
            ("7.pgn", "mistyped"),
            ("../0.png", "out"),
            ("/0.png", "root"),
            ("8.png", ""),
        ],
    )
    (folder / "3.png").write_bytes((folder / "3.png").read_bytes()[:60])
    (folder / "4.png").write_text("no image")
    save(folder / "unnamed.png")
    found = CAPTIONED.rows(SKIP, zipped(folder))
    assert len(found.pairs) == 7
    said = {refusal.line: f"{refusal} {refusal.fix}" for refusal in found.refused}
    assert "3.png: the image is cut off" in said[5] and "4.png: this is not an image" in said[6]
    assert "there is no image 'gone.png'" in said[11] and "leads out" in said[13] and "leads out" in said[14]
    assert "did you mean 7.png?" in said[12]
    assert any("named by no usable row, so not read: unnamed.png" in note for note in found.notes)
    with pytest.raises(InputError, match="the image is cut off"):
        CAPTIONED.rows(DataRecipe(), zipped(folder))


@pytest.mark.parametrize("name", ["/etc/0.png", "../0.png"])
def test_a_image_whose_name_leads_out_is_refused_by_its_row(tmp_path, name):
    outside = save(tmp_path / "0.png", SCENES[4])
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        for number, kind in enumerate(("star", "moon") * 3):
            archive.writestr(f"{kind}/{number}.png", outside.read_bytes())
        archive.writestr(name, outside.read_bytes())
        archive.writestr("captions.csv", f"file,caption\n{name},a way out\n0.png,the same name\nstar/0.png,a star\n")
    found = CAPTIONED.rows(SKIP, str(tmp_path / "set.zip"))
    assert [said for _, said in found.pairs] == ["a star"]
    assert all("lead" in str(one) or "2 images" in str(one) for one in found.refused) and len(found.refused) == 2


def test_the_same_bytes_in_an_archive_stay_in_one_part(tmp_path):
    folder = captioned(tmp_path / "set")
    shutil.copy(folder / "0.png", folder / "again.png")
    with (folder / "captions.csv").open("a") as table:
        table.write("again.png,the same once more\n")
    reading = CAPTIONED.read(DataRecipe(train=zipped(folder), split="60/20/20"), 1)
    parts = [
        {source.rpartition("/")[2] for source in part}
        for part in (
            [source for source, _ in reading.train],
            [question.source for question in reading.valid],
            [question.source for question in reading.test],
        )
    ]
    assert sum("0.png" in part for part in parts) == 1
    assert all(("0.png" in part) == ("again.png" in part) for part in parts)


def test_labels_of_a_bomb_are_not_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/1.png", b"\0" * 3_000_000)
        archive.writestr("b/2.png", b"x")
    with pytest.raises(InputError, match="1000 times as large"):
        LABELLED_IMAGES.rows(SKIP, str(tmp_path / "bomb.zip"))
