"""Two texts as a user: train, evaluate, predict with evidence, look, try, check, and what is refused."""

import csv
import json
import random

import pytest

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
WORDS = ["casa", "perro", "gato", "río", "sol", "pan", "luz", "mar", "pez", "flor"]


@pytest.fixture(scope="module")
def couples(tmp_path_factory):
    """Spanish couples in columns of other names: does the second follow from the first?"""
    path = tmp_path_factory.mktemp("couples") / "parejas.csv"
    chance = random.Random(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["frase1", "frase2", "sigue"])
        for number in range(120):
            first = chance.sample(WORDS, 5)
            second = first[:3] if number % 2 else chance.sample(WORDS, 3)
            rows.writerow(
                [f"Hay {' '.join(first)}. Nada más.", f"Hay {' '.join(second)} {number}", ["no", "sí"][number % 2]]
            )
    return path


@pytest.fixture(scope="module")
def run(atento_command, couples, tmp_path_factory):
    place = tmp_path_factory.mktemp("match")
    done = atento_command.run(
        "train", couples, "--task", "match", "--model", "lstm+dot+co", *SMALL, "--out", "run", cwd=place
    )
    assert done.code == 0, done.err
    assert done.out.startswith("accuracy ")
    assert "2 labels" in done.err
    return place / "run"


@pytest.mark.spec("K09", "K10")
def test_the_same_commands_work(atento_command, couples, run, tmp_path):
    found = atento_command.run("evaluate", run, couples, "--json", cwd=tmp_path).document
    assert (found["examples"], found["metric"]) == (120, "accuracy")
    assert list(found["scores"]) == ["accuracy", "macro_f1"]
    done = atento_command.run("predict", run, couples, "--out", "answers.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0])[:4] == ["frase1", "frase2", "sigue", "prediction"]
    assert all(row["prediction"] in ("sí", "no") for row in rows)
    assert all(row["evidence"] in row["frase1"].replace(". ", ".|").split("|") for row in rows)
    text = "Hay casa perro. Nada más.\tHay perro"
    looked = atento_command.run("look", run, text, "--json", cwd=tmp_path).document
    assert (looked["source"][:3], looked["output"]) == (["Hay", "casa", "perro"], ["Hay", "perro"])
    assert sum(looked["weights"][0][0][1]) == pytest.approx(1, abs=0.01)
    steps = atento_command.run("look", run, text, "--what", "steps", "--json", cwd=tmp_path).document["steps"]
    assert steps[0]["columns"] == ["number", "overlap"]
    assert atento_command.run("report", run, "--out", "page.html", cwd=tmp_path).code == 0
    checked = atento_command.run("check", run, cwd=tmp_path)
    assert checked.code == 0, checked.out


def test_lines_have_a_tab_or_bars_between(atento_command, run, tmp_path):
    (tmp_path / "typed").write_text("Hay casa\tHay pan\nHay sol ||| Hay sol\n", encoding="utf-8")
    done = atento_command.run("predict", run, "-", cwd=tmp_path, stdin=tmp_path / "typed")
    assert len(done.out.split()) == 2
    (tmp_path / "typed").write_text("Hay casa y pan\n", encoding="utf-8")
    done = atento_command.run("predict", run, "-", cwd=tmp_path, stdin=tmp_path / "typed")
    assert (done.code, done.out) == (2, "")
    assert "two texts, with a tab between" in done.err


def test_a_comparison_holds_its_baselines(atento_command, couples, tmp_path):
    words = ("compare", couples, "--task", "match", "--models", "transformer+co", *SMALL)
    done = atento_command.run(*words, "--out", "board", cwd=tmp_path)
    assert done.code == 0, done.err
    board = json.loads((tmp_path / "board" / "board.json").read_text())
    assert {row["model"] for row in board["rows"]} == {"majority", "word-overlap", "tf-idf", "transformer+co"}
