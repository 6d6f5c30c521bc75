"""Texts with labels as a user: one label a text, and several."""

import csv
import json
import random

import pytest

SMALL = ("model.hidden=8", "train.steps=12", "train.validations=2", "train.threads=1", "train.warmup=2")
SETTINGS = tuple(word for value in SMALL for word in ("--set", value))


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """Reviews of two sentences in a table with another column beside."""
    chance = random.Random(0)
    path = tmp_path_factory.mktemp("films") / "films.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["review", "year", "opinion"])
        for number in range(120):
            good = chance.random() < 0.5
            told = chance.choice(["great", "lovely"] if good else ["dull", "awful"])
            rows.writerow([f"I saw it in {number}. It was {told}!", 1950 + number % 70, "good" if good else "bad"])
    return path


@pytest.fixture(scope="module")
def topics(tmp_path_factory):
    """Texts with none, one or two topics, parted by semicolons."""
    chance = random.Random(0)
    path = tmp_path_factory.mktemp("topics") / "topics.tsv"
    lines = ["text\ttopics"]
    for number in range(160):
        some = chance.sample(["sport", "music", "money"], chance.choice([0, 1, 1, 2]))
        lines.append(f"news {number} of {' and '.join(some) or 'nothing'}\t{';'.join(some)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def runs(atento_command, films, topics, tmp_path_factory):
    place = tmp_path_factory.mktemp("labels")
    for name, file, task, model in (
        ("film", films, "classify", "gru+additive+hierarchical"),
        ("topic", topics, "label", "gru+additive"),
    ):
        done = atento_command.run("train", file, "--model", model, *SETTINGS, "--out", name, cwd=place)
        assert done.code == 0, done.err
        assert f"task: {task}" in done.err
    return place


@pytest.mark.spec("K01")
def test_one_label_a_text_through_the_same_commands(atento_command, films, runs, tmp_path):
    run = runs / "film"
    found = atento_command.run("evaluate", run, films, "--json", cwd=tmp_path).document
    assert (found["examples"], found["metric"]) == (120, "accuracy")
    assert set(found["scores"]) == {"accuracy", "macro_f1"}
    done = atento_command.run("predict", run, films, "--out", "answers.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0])[:4] == ["review", "year", "opinion", "prediction"]
    assert {row["prediction"] for row in rows} <= {"good", "bad"}
    right = sum(row["prediction"] == row["opinion"] for row in rows) / len(rows)
    assert right == pytest.approx(found["scores"]["accuracy"][0], abs=1e-6)
    counts = found["class_report"]["confusion"]["counts"]
    assert sum(map(sum, counts)) == 120 and sum(counts[at][at] for at in range(2)) == round(120 * right)
    assert 0 <= found["class_report"]["calibration"]["error"] <= 1
    looked = atento_command.run("look", run, "It was great. I saw it!", "--json", cwd=tmp_path).document
    assert looked["source"].count("¶") == 1
    assert len(looked["weights"]) == 2, "words in their sentence, and sentences"
    steps = atento_command.run("look", run, "It was great", "--what", "steps", "--json", cwd=tmp_path).document["steps"]
    assert [step["title"] for step in steps] == ["tokens", "states", "weights", "summary", "outputs", "probabilities"]
    assert atento_command.run("check", run, cwd=tmp_path).code == 0
    assert atento_command.run("report", run, "--out", "page.html", cwd=tmp_path).code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Confusion matrix" in page and "expected calibration error" in page


def test_probabilities_classes_and_labels_of_another_file(atento_command, films, runs, tmp_path):
    """--proba has a column for each label; what was never seen in training is told, and refused where it is all."""
    run, lines = runs / "film", films.read_text(encoding="utf-8").split("\n")
    done = atento_command.here("predict", run, films, "--proba", "--out", "p.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    for row in csv.DictReader((tmp_path / "p.csv").read_text(encoding="utf-8").splitlines()):
        both = {label: float(row[f"proba_{label}"]) for label in ("good", "bad")}
        assert sum(both.values()) == pytest.approx(1, abs=1e-5)
        assert max(both.values()) == both[row["prediction"]]
        assert float(row["probability"]) == pytest.approx(both[row["prediction"]], abs=2e-6)  # both are rounded
    (tmp_path / "some.csv").write_text("\n".join([*lines[:9], lines[9].rpartition(",")[0] + ",odd"]) + "\n")
    done = atento_command.here("evaluate", run, "some.csv", cwd=tmp_path)
    assert "1 label in some.csv was never seen in training: 'odd'" in done.err.replace("\n", " ")
    assert "Confusion matrix" in done.out and "support" in done.out
    shouted = [lines[0], *(f"{before},{label.upper()}" for before, _, label in (x.rpartition(",") for x in lines[1:9]))]
    (tmp_path / "case.csv").write_text("\n".join(shouted) + "\n")
    done = atento_command.here("evaluate", run, "case.csv", cwd=tmp_path)
    assert done.code == 2 and "case or spaces alone" in done.err.replace("\n", " "), done.err
    (tmp_path / "bare.csv").write_text("review,year\nIt was great,1999\n")
    done = atento_command.here("evaluate", run, "bare.csv", cwd=tmp_path)
    assert done.code == 2 and "there is no column 'opinion'" in done.err
    assert atento_command.here("predict", run, "bare.csv", cwd=tmp_path).out.startswith("review,year,prediction,prob")


@pytest.mark.spec("K03")
def test_several_labels_a_text_through_the_same_commands(atento_command, topics, runs, tmp_path):
    run = runs / "topic"
    found = atento_command.run("evaluate", run, topics, "--json", cwd=tmp_path).document
    assert found["metric"] == "macro_f1"
    assert {"micro_f1", "whole_sets", "hamming", "precision_at_1", "precision_at_3"} <= set(found["scores"])
    (tmp_path / "typed").write_text("news of sport\nnews of nothing\n")
    done = atento_command.run("predict", run, "-", cwd=tmp_path, stdin=tmp_path / "typed")
    assert len(done.out.splitlines()) == 2, done.err
    lines = [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]
    assert all(len(line["output"]) == 2 for line in lines)
    looked = atento_command.run("look", run, "news of sport", "--json", cwd=tmp_path).document
    assert sum(looked["weights"][0][0][0]) == pytest.approx(1, abs=0.01)
    assert atento_command.run("check", run, cwd=tmp_path).code == 0
    assert atento_command.run("report", run, "--out", "page.html", cwd=tmp_path).code == 0


@pytest.mark.spec("L04")
def test_one_network_against_one_a_label_in_one_comparison(atento_command, topics, tmp_path):
    words = ("compare", topics, "--models", "gru,gru+one-each", *SETTINGS, "--set", "model.ngrams=0", "--out", "board")
    done = atento_command.run(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    board = json.loads((tmp_path / "board" / "board.json").read_text())
    rows = {row["model"]: row for row in board["rows"]}
    assert set(rows) == {"majority", "tf-idf", "gru", "gru+one-each"}
    assert rows["gru+one-each"]["parameters"] > 2 * rows["gru"]["parameters"]
    assert not any(row["failed"] for row in board["rows"])
