"""Labelled sequences and frames to text as a user: train, evaluate, predict, look, check, compare."""

import csv
import json
import random

import pytest

from atento.data.builtin.signals import tune

SMALL = [
    *("--set", "model.hidden=8", "--set", "train.steps=4", "--set", "train.validations=1", "--set", "train.threads=1"),
]


def case(number, chance):
    """Two channels as text of a .ts line, and a label."""
    length = chance.randint(9, 14)
    label = ("rise", "fall")[number % 2]
    slope = 0.3 if label == "rise" else -0.3
    channels = [[slope * step + chance.gauss(0, 0.3) for step in range(length)] for _ in range(2)]
    return ":".join(",".join(f"{number:.3f}" for number in channel) for channel in channels) + f":{label}"


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A set as the UEA archive has it: two files beside each other."""
    place, chance = tmp_path_factory.mktemp("archive"), random.Random(0)
    head = "#Slopes\n@problemName Slopes\n@timeStamps false\n@univariate false\n@dimensions 2\n"
    head += "@classLabel true rise fall\n@data\n"
    for part, count in (("TRAIN", 60), ("TEST", 40)):
        rows = "".join(case(number, chance) + "\n" for number in range(count))
        (place / f"Slopes_{part}.ts").write_text(head + rows)
    return place


@pytest.fixture(scope="module")
def run(atento_command, archive, tmp_path_factory):
    place = tmp_path_factory.mktemp("series")
    words = ("train", archive / "Slopes_TRAIN.ts", "--task", "classify", "--model", "gru+additive")
    done = atento_command.run(*words, *SMALL, "--out", "run", cwd=place)
    assert done.code == 0, done.err
    assert "Slopes_TEST.ts beside it is data.test" in done.err
    assert done.out.startswith("accuracy ")
    return place / "run"


@pytest.mark.spec("K02")
def test_the_same_commands_work(atento_command, archive, run, tmp_path):
    found = atento_command.run("evaluate", run, archive / "Slopes_TEST.ts", "--json", cwd=tmp_path).document
    assert (found["examples"], found["metric"]) == (40, "accuracy")
    done = atento_command.run("predict", run, archive / "Slopes_TEST.ts", "--out", "answers.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["sequence", "label", "prediction", "probability"]
    assert {row["prediction"] for row in rows} <= {"rise", "fall"}
    looked = atento_command.run("look", run, "1,0 2,1 3,1", "--json", cwd=tmp_path).document
    assert sum(looked["weights"][0][0][0]) == pytest.approx(1, abs=0.01)
    assert atento_command.run("check", run, cwd=tmp_path).code == 0
    assert atento_command.run("report", run, "--out", "page.html", cwd=tmp_path).code == 0


@pytest.mark.spec("K02")
def test_simple_models_stand_beside_the_others(atento_command, archive, tmp_path):
    words = ("compare", archive / "Slopes_TRAIN.ts", "--models", "rnn", *SMALL, "--out", "board")
    done = atento_command.run(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    board = json.loads((tmp_path / "board" / "board.json").read_text())
    values = {row["model"]: row["value"] for row in board["rows"]}
    assert set(values) == {"majority", "shapes", "warping", "rnn"}
    assert values["majority"] == 0.5
    assert min(values["shapes"], values["warping"]) >= 0.9


def test_missing_numbers_stop_with_their_place_and_the_flag(atento_command, archive, tmp_path):
    text = (archive / "Slopes_TRAIN.ts").read_text().split("\n")
    cells = text[8].split(",")
    text[8] = ",".join([cells[0], "?", *cells[2:]])
    (tmp_path / "gaps.ts").write_text("\n".join(text))
    done = atento_command.here("train", "gaps.ts", *SMALL, cwd=tmp_path)
    assert done.code == 2
    assert f"gaps.ts:9:{len(cells[0]) + 2}: step 2 of channel 1 is missing." in done.err
    assert "--set data.gaps=linear" in done.err
    done = atento_command.run("train", "gaps.ts", *SMALL, "--set", "data.gaps=linear", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "1 missing number filled (data.gaps=linear)" in done.err


@pytest.mark.spec("K13")
def test_frames_become_text(atento_command, tmp_path):
    generator = random.Random(0)
    tunes = [tune(generator, generator.randint(2, 4)) for _ in range(60)]
    (tmp_path / "tunes.csv").write_text("frames,notes\n" + "".join(f'"{source}",{text}\n' for source, text in tunes))
    done = atento_command.run("train", "tunes.csv", "--model", "gru+dot", *SMALL, "--out", "run", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "task: transcribe (column 'frames' holds sequences of numbers and 'notes' texts)" in done.err
    assert done.out.startswith("exact ")
    assert atento_command.run("check", "run", cwd=tmp_path).code == 0
    looked = atento_command.run("look", "run", tunes[0][0], "--json", cwd=tmp_path).document
    assert len(looked["weights"][0][0][0]) == len(tunes[0][0].split())
    done = atento_command.run("predict", "run", "tunes.csv", "--out", "answers.csv", cwd=tmp_path)
    assert done.code == 0, done.err
