"""Number sequences as a user: train, evaluate, predict, look, report, compare, and what is refused."""

import csv
import json

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


@pytest.fixture(scope="module")
def sums(tmp_path_factory):
    """Two channels; the number is the sum of the first."""
    path = tmp_path_factory.mktemp("sums") / "sums.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["signal", "total"])
        for number in range(120):
            steps = [(number % 7 + place, place % 2) for place in range(2 + number % 5)]
            signal = " ".join(f"{value},{mark}" for value, mark in steps) + f" 0.{number},0"
            rows.writerow([signal, sum(value for value, _ in steps)])
    return path


@pytest.fixture(scope="module")
def run(atento_command, sums, tmp_path_factory):
    place = tmp_path_factory.mktemp("estimate")
    done = atento_command.run("train", sums, "--model", "gru+additive", *SMALL, "--out", "run", cwd=place)
    assert done.code == 0, done.err
    assert "task: estimate (column 'signal' holds sequences of numbers and 'total' numbers)" in done.err
    assert done.out.startswith("mse ")
    return place / "run"


def test_the_same_commands_work(atento_command, sums, run, tmp_path):
    found = atento_command.run("evaluate", run, sums, "--json", cwd=tmp_path).document
    assert (found["examples"], found["metric"], found["smaller_is_better"]) == (120, "mse", True)
    done = atento_command.run("predict", run, sums, "--out", "answers.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["signal", "total", "prediction"]
    assert all(float(row["prediction"]) for row in rows)
    looked = atento_command.run("look", run, "1,0 2,1", "--json", cwd=tmp_path).document
    assert sum(looked["weights"][0][0][0]) == pytest.approx(1, abs=0.01)
    steps = atento_command.run("look", run, "1,0 2,1", "--what", "steps", "--json", cwd=tmp_path).document["steps"]
    assert steps[0]["columns"] == ["x1", "x2"]
    assert atento_command.run("report", run, "--out", "page.html", cwd=tmp_path).code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "lower and earlier is better" in page
    assert "log-likelihood" not in page
    assert atento_command.run("check", run, cwd=tmp_path).code == 0


def test_lines_and_their_refusals(atento_command, run, tmp_path):
    (tmp_path / "typed").write_text("1,0 2,1\n3,0\n")
    done = atento_command.run("predict", run, "-", cwd=tmp_path, stdin=tmp_path / "typed")
    assert len([float(line) for line in done.out.split()]) == 2
    (tmp_path / "typed").write_text("1,0 two,1\n")
    done = atento_command.run("predict", run, "-", cwd=tmp_path, stdin=tmp_path / "typed")
    assert (done.code, done.out) == (2, "")
    assert "column 5: step 2 is not a number." in done.err
    (tmp_path / "bad.csv").write_text('signal,total\n"1,0 2,1",3\n"1,0 x,1",3\n')
    done = atento_command.here("train", "bad.csv", "--task", "estimate", cwd=tmp_path)
    assert done.code == 2
    assert "bad.csv:3:6: step 2 is not a number." in done.err
    assert not (tmp_path / "runs").exists()


def test_the_smaller_error_wins_a_comparison(atento_command, tmp_path):
    words = ("compare", "adding", "--models", "rnn,gru+additive", "--set", "data.length=8", *SMALL)
    done = atento_command.run(*words, "--out", "board", cwd=tmp_path)
    assert done.code == 0, done.err
    board = json.loads((tmp_path / "board" / "board.json").read_text())
    assert board["smaller_is_better"] is True
    assert {row["model"] for row in board["rows"]} == {"mean", "linear", "rnn", "gru+additive"}
    values = {row["model"]: row["value"] for row in board["rows"]}
    assert values[board["winner"]] == min(values.values())
    lines = [line.split() for line in done.out.splitlines() if line.strip()]
    first = next(at for at, words in enumerate(lines) if words[0] == "model") + 1
    ranks = [words[0] for words in lines[first : first + 4]]
    assert ranks == sorted(values, key=values.get)
