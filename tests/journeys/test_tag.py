"""Tagged words as a user: train on a CoNLL file, evaluate, predict text and files, look, check, compare."""

import csv
import json
import random

import pytest

from atento.data.builtin.language import grammar_sentence

SMALL = [
    *("--set", "model.hidden=8", "--set", "model.characters=8", "--set", "train.steps=4"),
    *("--set", "train.validations=1", "--set", "train.threads=1", "--set", "model.heads=2"),
]


@pytest.fixture(scope="module")
def conll(tmp_path_factory):
    """Sentences of the small grammar, names marked as spans."""
    path, chance = tmp_path_factory.mktemp("conll") / "names.conll", random.Random(0)
    blocks = []
    for _ in range(120):
        words, tags = (part.split("\t") for part in grammar_sentence(chance))
        lines = [f"{word}\t{'B-name' if tag == 'NAME' else 'O'}" for word, tag in zip(words, tags, strict=True)]
        blocks.append("\n".join(lines) + "\n\n")
    path.write_text("Ann\tB-name\nLee\tI-name\nwant\tO\n\n" * 3 + "".join(blocks), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(atento_command, conll, tmp_path_factory):
    place = tmp_path_factory.mktemp("tag")
    done = atento_command.run("train", conll, "--model", "transformer+crf", *SMALL, "--out", "run", cwd=place)
    assert done.code == 0, done.err
    assert "task: tag" in done.err and "tags mark spans (iob2)" in done.err
    assert done.out.startswith("span_f1 ")
    return place / "run"


@pytest.mark.spec("K04")
def test_the_same_commands_work(atento_command, conll, run, tmp_path):
    found = atento_command.run("evaluate", run, conll, "--json", cwd=tmp_path).document
    assert (found["examples"], found["metric"]) == (123, "span_f1")
    assert {"span_precision", "span_recall", "accuracy", "sentences", "unseen_accuracy"} <= set(found["scores"])
    looked = atento_command.run("look", run, "Ann see the light", "--json", cwd=tmp_path).document
    assert looked["source"] == ["Ann", "see", "the", "light"]
    assert sum(looked["weights"][0][0][0]) == pytest.approx(1, abs=0.01)
    steps = atento_command.run("look", run, "Ann see", "--what", "steps", "--json", cwd=tmp_path).document["steps"]
    assert "transitions" in [step["title"] for step in steps]
    assert atento_command.run("report", run, "--out", "page.html", cwd=tmp_path).code == 0
    done = atento_command.run("check", run, cwd=tmp_path)
    assert done.code == 0, done.out


@pytest.mark.spec("K04")
def test_text_and_files_are_answered(atento_command, conll, run, tmp_path):
    (tmp_path / "typed").write_text("the old watch!\nAnn want to walk\n")
    done = atento_command.run("predict", run, "-", cwd=tmp_path, stdin=tmp_path / "typed")
    assert [len(line.split()) for line in done.out.splitlines()] == [4, 4], done.err
    done = atento_command.run("predict", run, conll, "--out", "said.conll", cwd=tmp_path)
    assert done.code == 0, done.err
    given, said = (path.read_text().split("\n\n") for path in (conll, tmp_path / "said.conll"))
    assert len(given) == len(said)
    for before, after in zip(given, said, strict=True):
        rows = [line.split("\t") for line in after.splitlines()]
        assert ["\t".join(row[:2]) for row in rows] == before.splitlines()
        assert all(row[2] in ("O", "B-name", "I-name") for row in rows)
    (tmp_path / "words.txt").write_text("Ann\nwant\nto\nwalk\n\nthe\nold\nwatch\n")  # a word on each line
    done = atento_command.run("predict", run, "words.txt", cwd=tmp_path)
    typed = atento_command.run("predict", run, "-", cwd=tmp_path, stdin=tmp_path / "typed").out.splitlines()
    assert "2 sentences" in done.err
    assert " ".join(line.split()[1] for line in done.out.split("\n\n")[0].splitlines()) == typed[1]
    done = atento_command.run("predict", run, conll, "--out", "said.csv", cwd=tmp_path)
    rows = list(csv.DictReader((tmp_path / "said.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["words", "tags", "prediction", "log_probability"]
    assert len(rows[0]["prediction"].split()) == 3


def test_baselines_are_in_every_comparison(atento_command, conll, tmp_path):
    words = ("compare", conll, "--models", "gru,gru+crf", *SMALL, "--out", "board")
    done = atento_command.run(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    board = json.loads((tmp_path / "board" / "board.json").read_text())
    assert {row["model"] for row in board["rows"]} == {"frequent-tag", "perceptron", "gru", "gru+crf"}
    assert not any(row["failed"] for row in board["rows"])
    assert board["winner"] in ("frequent-tag", "perceptron")  # after four steps nobody else knows anything


def test_what_cannot_be_used_is_said_with_its_place(atento_command, run, tmp_path):
    (tmp_path / "bad.conll").write_text("Ann\tB-name\nsleeps\n\n" + "we\tO\nmet\tO\n\n" * 9)
    done = atento_command.here("train", "bad.conll", "--task", "tag", cwd=tmp_path)
    assert done.code == 2 and "bad.conll:2" in done.err
    assert not (tmp_path / "runs").exists()
    done = atento_command.here("train", "grammar", "--model", "lstm+cfr", cwd=tmp_path)
    assert done.code == 2 and "cfr" in done.err
