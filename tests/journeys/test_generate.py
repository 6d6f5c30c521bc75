"""Plain text as a user: train at every level, complete, score, fill, look, check, compare, start another task."""

import json

import pytest

SMALL = [
    part
    for setting in (
        "model.hidden=16",
        "model.layers=1",
        "train.threads=1",
        "train.sequence_length=16",
        "train.batch_tokens=256",
    )
    for part in ("--set", setting)
]
BRIEF = [*SMALL, "--set", "train.steps=12", "--set", "train.validations=2"]
LINE = "Who goes there? said the guard, and nobody said a word.\n\nIt is I, said the fox; and the guard let it in.\n\n"


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "tale.txt"
    path.write_text("".join(LINE.replace("fox", name) for name in ("fox", "cat", "owl", "hare") * 8), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(atento_command, text):
    done = atento_command.run(
        "train", text, "--model", "lstm", *BRIEF, "--set", "tokens.source=char", "--out", "run", cwd=text.parent
    )
    assert done.code == 0, done.err
    assert "task: generate" in done.err
    assert done.out.startswith("nats_per_char ")
    return text.parent / "run"


@pytest.mark.spec("K06")
def test_complete_score_fill_look_and_check(atento_command, text, run, tmp_path):
    prefixes = tmp_path / "prefixes.txt"
    prefixes.write_text("Who goes\nIt is ___, said the fox\n", encoding="utf-8")
    opened = atento_command.run("predict", run, prefixes, "--set", "data.documents=lines", "--json", cwd=tmp_path)
    rows = opened.document["rows"]
    assert rows[0]["prediction"].startswith("Who goes")
    assert len(rows[0]["prediction"]) == len("Who goes") + 200
    assert "___" not in rows[1]["prediction"]
    drawn = atento_command.run(
        "predict",
        run,
        prefixes,
        "--set",
        "data.documents=lines",
        "--set",
        "decode.temperature=1",
        "--json",
        cwd=tmp_path,
    ).document["rows"]
    assert drawn[0]["prediction"] != rows[0]["prediction"]
    found = atento_command.run("evaluate", run, text, "--json", cwd=tmp_path).document
    assert found["metric"] == "nats_per_char"
    value, low, high = found["scores"]["nats_per_char"]
    assert low < value < high < 4.2
    assert found["scores"]["bits_per_char"][0] == pytest.approx(value / 0.6931472, abs=1e-4)
    assert atento_command.run("look", run, "Who", "--json", cwd=tmp_path).document["text"].startswith("Who")
    steps = atento_command.run("look", run, "Who", "--what", "steps", "--json", cwd=tmp_path).document["steps"]
    assert steps[0]["rows"] == ["<end>", "W", "h", "o"]
    assert atento_command.run("check", run, cwd=tmp_path).code == 0
    assert atento_command.run("report", run, "--out", "page.html", cwd=tmp_path).code == 0


@pytest.mark.spec("K06")
def test_every_level_is_compared_in_nats_a_character(atento_command, text, tmp_path):
    for level in ("word", "subword"):
        done = atento_command.run(
            "train",
            text,
            "--task",
            "generate",
            "--model",
            "transformer",
            *BRIEF,
            "--set",
            f"tokens.source={level}",
            "--set",
            "tokens.vocab_size=120",
            "--out",
            level,
            "--json",
            cwd=tmp_path,
        )
        assert done.code == 0, done.err
        assert 0.5 < done.document["scores"]["nats_per_char"][0] < 4
        looked = atento_command.run("look", level, "Who goes there", "--json", cwd=tmp_path).document
        weights = looked["weights"][0][0]
        assert len(weights) == len(looked["source"]) and sum(weights[-1]) == pytest.approx(1, abs=0.02)


@pytest.mark.spec("K06")
def test_a_comparison_has_the_counts_in_it(atento_command, text, tmp_path):
    done = atento_command.run(
        "compare",
        text,
        "--models",
        "gru",
        *SMALL,
        "--set",
        "train.steps=8",
        "--set",
        "data.split=80/10/10",
        "--out",
        "board",
        "--json",
        cwd=tmp_path,
    )
    assert done.code == 0, done.err
    rows = {row["model"]: row["value"] for row in done.document["rows"]}
    assert set(rows) == {"kneser-ney", "kneser-ney-words", "unigram", "gru"}
    assert rows["kneser-ney"] < rows["unigram"] < 3.5
    assert done.document["winner"] == "kneser-ney-words"
    refused = atento_command.run(
        "compare", text, *SMALL, "--set", "train.objective=masked", "--out", "other", cwd=tmp_path
    )
    assert refused.code == 2
    assert "masked" in refused.err


@pytest.mark.spec("T10")
def test_another_task_starts_from_it(atento_command, run, tmp_path):
    rows = [f"{label}, who goes {word}\t{label}\n" for word in ("here", "there", *"abcdefg") for label in ("yes", "no")]
    (tmp_path / "few.tsv").write_text("text\tlabel\n" + "".join(rows), encoding="utf-8")
    done = atento_command.run(
        "train",
        "few.tsv",
        "--task",
        "classify",
        "--from",
        run,
        "--set",
        "train.steps=3",
        "--set",
        "train.threads=1",
        "--out",
        "started",
        "--json",
        cwd=tmp_path,
    )
    assert done.code == 0, done.err
    assert any("tensors start from" in note for note in done.document["data"]["notes"])
    assert json.loads((tmp_path / "started" / "vocabulary.json").read_text())["input"]["vocabulary"]["level"] == "char"
