"""Pictures as a user: train, evaluate, predict, look, check, and what is refused."""

import csv
import random
import shutil

import pytest
from PIL import Image

from atento.data.builtin.scenes import labelled
from atento.data.images import draw, parse_scene

SMALL = (
    "--set",
    "model.hidden=8",
    "--set",
    "train.steps=6",
    "--set",
    "train.validations=2",
    "--set",
    "train.threads=1",
)
LONGER = ("--set", "train.steps=150", "--set", "train.lr=0.01", "--set", "model.hidden=16", "--set", "model.dropout=0")


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    """A folder with a sub-folder a label, photographs of two sizes, one of them turned."""
    folder, chance = tmp_path_factory.mktemp("pictures") / "formas", random.Random(0)
    for number in range(60):
        source, label = labelled(chance, 2)
        (folder / label).mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray(draw(parse_scene(source), side=44 + 8 * (number % 2)))
        exif = Image.Exif()
        if number == 5:
            exif[274] = 3
        picture.save(folder / label / f"{number}.jpg", exif=exif, quality=95)
    return folder


@pytest.fixture(scope="module")
def questions(shapes):
    """A table beside the folder: a question about each picture."""
    path = shapes.parent / "preguntas.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["imagen", "pregunta", "respuesta"])
        for number, picture in enumerate(sorted(shapes.rglob("*.jpg"))):
            kind = picture.parent.name if number % 2 else "star"
            answer = "sí" if kind == picture.parent.name else "no"
            rows.writerow([picture.relative_to(shapes.parent), f"is it a {kind}?", answer])
    return path


@pytest.fixture(scope="module")
def run(atento_command, shapes, tmp_path_factory):
    place = tmp_path_factory.mktemp("run")
    done = atento_command.run("train", shapes, "--model", "conv+additive", *SMALL, "--out", "run", cwd=place)
    assert done.code == 0, done.err
    assert done.out.startswith("accuracy ")
    assert "task: classify-images (images, one sub-folder for each of 4 labels)" in done.err
    assert "are read at 48 × 48" in done.err and "1 image rotated upright by EXIF" in done.err
    return place / "run"


@pytest.mark.spec("K14")
def test_a_folder_of_pictures_through_the_same_commands(atento_command, shapes, run, tmp_path):
    found = atento_command.run("evaluate", run, shapes, "--json", cwd=tmp_path).document
    assert (found["examples"], found["metric"]) == (60, "accuracy")
    done = atento_command.run("predict", run, shapes / "star", "--out", "answers.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == len(list((shapes / "star").iterdir()))
    assert all(row["prediction"] in ("circle", "square", "star", "triangle") for row in rows)
    assert all("of 6 × 6" in row["evidence"] for row in rows)
    one = next(shapes.rglob("*.jpg"))
    looked = atento_command.run("look", run, one, "--json", cwd=tmp_path).document
    assert sum(looked["weights"][0][0][0]) == pytest.approx(1, abs=0.01)
    assert looked["text"] in ("circle", "square", "star", "triangle")
    steps = atento_command.run("look", run, one, "--what", "steps", "--json", cwd=tmp_path).document["steps"]
    assert [step["title"] for step in steps] == [
        "pixels", "features", "states", "weights", "summary", "outputs", "probabilities"
    ]  # fmt: skip
    assert atento_command.run("report", run, "--out", "page.html", cwd=tmp_path).code == 0
    checked = atento_command.run("check", run, cwd=tmp_path)
    assert checked.code == 0, checked.out


def test_a_bad_picture_stops_and_is_listed_where_skipped(atento_command, shapes, run, tmp_path):
    (tmp_path / "new").mkdir()
    good = next(shapes.rglob("*.jpg")).read_bytes()
    (tmp_path / "new/good.jpg").write_bytes(good)
    (tmp_path / "new/half.jpg").write_bytes(good[: len(good) // 2])
    done = atento_command.run("predict", run, "new", "--set", "data.bad_rows=stop", cwd=tmp_path)
    assert done.code == 2 and "half.jpg:1:1: the image is cut off or damaged." in done.err
    skipped = atento_command.run("predict", run, "new", cwd=tmp_path)
    assert skipped.code == 0, skipped.err
    assert len(skipped.out.splitlines()) == 3 and "half.jpg:1:1" in skipped.err  # its row has an empty prediction
    seen = atento_command.run("inspect", "new", "--json", cwd=tmp_path).document
    assert seen["kind"] == "images"
    missing = atento_command.run("look", run, "new/nobody.jpg", cwd=tmp_path)
    assert missing.code == 2 and "there is no file new/nobody.jpg" in missing.err


@pytest.mark.spec("K15")
def test_questions_about_pictures_through_the_same_commands(atento_command, questions, tmp_path):
    args = ("--model", "conv/gru+dot+co", *SMALL, *LONGER, "--out", "run")
    done = atento_command.run("train", questions, *args, cwd=tmp_path)
    assert done.code == 0, done.err
    assert "task: match-images" in done.err and "column 'pregunta' holds the questions" in done.err
    answered = atento_command.run("predict", "run", questions, "--out", "answers.csv", cwd=tmp_path)
    assert answered.code == 0, answered.err
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0])[:4] == ["imagen", "pregunta", "respuesta", "prediction"] and len(rows) == 60
    assert all(row["prediction"] in ("sí", "no") and row["evidence"].startswith("regions ") for row in rows)
    asked = [row for row in rows if row["pregunta"] == "is it a star?"]  # the picture alone decides these
    right = sum(row["prediction"] == row["respuesta"] for row in asked)
    usual = max(sum(row["respuesta"] == answer for row in asked) for answer in ("sí", "no"))
    assert right > usual + 0.5 * (len(asked) - usual), "half of what a guess by the question alone gets wrong"
    typed = f"{questions.parent / rows[0]['imagen']} ||| is it a star?"
    looked = atento_command.run("look", "run", typed, "--json", cwd=tmp_path).document
    assert looked["output"] == ["is", "it", "a", "star", "?"] and len(looked["source"]) == 36
    checked = atento_command.run("check", "run", cwd=tmp_path)
    assert checked.code == 0, checked.out


def test_names_and_sizes_that_make_no_sense_leave_no_folder(atento_command, shapes, tmp_path):
    for args, words in (
        (("--model", "gru+additive"), "image encoder"),
        (("--model", "conv", "--set", "data.image_size=4"), "8 to 1024 pixels a side"),
        (("--model", "conv/gru"), "has one part"),
    ):
        done = atento_command.here("train", shapes, *args, "--out", "none", cwd=tmp_path)
        assert done.code == 2 and words in done.err
        assert not (tmp_path / "none").exists()


@pytest.mark.spec("K14")
def test_an_archive_of_pictures_is_the_folder_packed(atento_command, shapes, run, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "formas"), "zip", shapes)
    done = atento_command.run("train", archive, "--model", "conv+additive", *SMALL, "--out", "run", cwd=tmp_path)
    assert done.code == 0, done.err
    weights = [(place / "weights.safetensors").read_bytes() for place in (run, tmp_path / "run")]
    assert weights[0] == weights[1]
    found = atento_command.run("evaluate", "run", archive, "--json", cwd=tmp_path).document
    assert found["scores"] == atento_command.run("evaluate", run, shapes, "--json", cwd=tmp_path).document["scores"]
    one = next(shapes.rglob("*.jpg")).relative_to(shapes)
    done = atento_command.run("predict", "run", f"formas.zip!/{one}", cwd=tmp_path)
    assert done.code == 0 and done.out.splitlines()[1].startswith(f"{one},")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["formas.zip", "run"]  # nothing is unpacked
