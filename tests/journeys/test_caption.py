"""Pictures and captions as a user: train, evaluate, predict, look, report, check, and what is refused."""

import csv
import random
import re

import pytest
from PIL import Image

from atento.data.images import Scene, Shape, draw
from atento.data.images.drawing import COLOURS

SMALL = [
    word
    for key in (
        "model.hidden=8",
        "model.dropout=0",
        "train.steps=6",
        "train.validations=1",
        "train.threads=1",
        "data.image_size=16",
        "decode.max_tokens=6",
    )
    for word in ("--set", key)
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A folder of pictures and a table that says what is on each."""
    place, chance = tmp_path_factory.mktemp("captions"), random.Random(0)
    (place / "pictures").mkdir()
    with (place / "captions.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "caption"])
        for number in range(60):
            shapes = [
                Shape(chance.choice(list(COLOURS)), kind, x, chance.randint(4, 12), 3)
                for kind, x in (("circle", 4), ("star", 12))
            ]
            Image.fromarray(draw(Scene(16, tuple(shapes)))).save(place / "pictures" / f"{number}.png")
            said = " beside ".join(f"a {shape.colour} {shape.kind}" for shape in shapes)
            rows.writerow([f"pictures/{number}.png", said])
    return place / "captions.csv"


@pytest.fixture(scope="module")
def run(atento_command, table, tmp_path_factory):
    place = tmp_path_factory.mktemp("caption")
    done = atento_command.run("train", table, "--model", "conv/gru+dot", *SMALL, "--out", "run", cwd=place)
    assert done.code == 0, done.err
    assert "task: caption" in done.err
    return place / "run"


@pytest.mark.spec("K07")
def test_the_same_commands_work(atento_command, table, run, tmp_path):
    found = atento_command.run("evaluate", run, table, "--json", cwd=tmp_path).document
    assert (found["examples"], found["metric"]) == (60, "exact")
    assert set(found["scores"]) == {"exact", "chrf", "bleu"}
    done = atento_command.run("predict", run, table.parent / "pictures", "--out", "answers.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["image", "prediction", "log_probability"]
    assert len(rows) == 60
    picture = table.parent / "pictures" / "7.png"
    looked = atento_command.run("look", run, picture, "--json", cwd=tmp_path).document
    assert looked["grid"] == [8, 8]
    assert [sum(row) for row in looked["weights"][0][0]] == pytest.approx([1] * len(looked["output"]), abs=0.05)
    answers = {row["image"].rpartition("/")[2]: row["prediction"] for row in rows}
    assert looked["text"] == answers["7.png"]
    assert atento_command.run("check", run, cwd=tmp_path).code == 0


def test_where_it_looked_is_drawn(atento_command, table, run, tmp_path):
    picture = table.parent / "pictures" / "7.png"
    done = atento_command.run("look", run, picture, "--out", "look.png", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "········" in done.out or "░" in done.out
    with Image.open(tmp_path / "look.png") as drawn:
        assert drawn.width > 300
    assert atento_command.run("look", run, picture, "--out", "look.html", cwd=tmp_path).code == 0
    assert "showRegions" in (tmp_path / "look.html").read_text(encoding="utf-8")
    assert atento_command.run("report", run, "--out", "page.html", cwd=tmp_path).code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.search(r'"grid":\s*\[8,\s*8\]', page)
    steps = atento_command.run("look", run, picture, "--what", "steps", "--json", cwd=tmp_path).document["steps"]
    assert [step["title"] for step in steps[:3]] == ["pixels", "features", "encoder states"]


def test_names_that_are_no_captioner(atento_command, table, tmp_path):
    done = atento_command.here("train", table, "--model", "lstm+additive", cwd=tmp_path)
    assert done.code == 2
    assert "write conv/lstm+additive" in done.err
    assert "conv" in atento_command.here("models", cwd=tmp_path).out
