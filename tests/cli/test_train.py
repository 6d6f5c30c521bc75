"""train: every kind of file, own parts, rows left out and said so, another run's weights to start from."""

import csv
import json
import lzma
import shutil

import pyarrow
import pyarrow.parquet
import pytest

from atento.data.builtin.numbers import english, german

PAIRS = [(f"wort {n} {'abcdef'[n % 6]}", f"word {n} {'abcdef'[n % 6]} there") for n in range(40)]


def write(path, pairs=PAIRS, *, names=("de", "en")):
    """The pairs in the format of the name."""
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.table(dict(zip(names, zip(*pairs, strict=True), strict=True))), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(names, pair, strict=True))) + "\n" for pair in pairs))
    elif path.suffix == ".xz":
        path.write_bytes(lzma.compress("".join(f"{a}\t{b}\n" for a, b in pairs).encode()))
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([names, *pairs])
    else:
        path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs))


@pytest.fixture
def train(atento_command, small_words, tmp_path):
    """Run `atento train` with small settings in an empty folder."""
    return lambda *words: atento_command.run(
        "train", *words, "--model", "gru", *small_words, "--out", "r", cwd=tmp_path
    )


def test_every_kind_of_file_is_the_same_data(train, tmp_path):
    """The fingerprint is of texts and parts, not of bytes."""
    found = set()
    for name in ("p.csv", "p.tsv", "p.jsonl", "p.parquet", "p.tsv.xz"):
        write(tmp_path / name)
        done = train(name, "--json")
        assert done.code == 0, done.err
        assert done.document["data"]["parts"] == {"train": 36, "valid": 2, "test": 2}, name
        found.add(done.document["data"]["fingerprint"])
        shutil.rmtree(tmp_path / "r")
    assert len(found) == 1


def test_two_parallel_files(train, tmp_path):
    (tmp_path / "a.de").write_text("".join(f"{a}\n" for a, _ in PAIRS))
    (tmp_path / "a.en").write_text("".join(f"{b}\n" for _, b in PAIRS))
    done = train("a.de,a.en", "--json")
    assert done.code == 0, done.err
    assert "2 parallel files: columns are named de and en" in done.document["data"]["notes"]


def test_parts_with_files_of_their_own(train, tmp_path):
    write(tmp_path / "p.csv")
    write(tmp_path / "v.csv", [("neu 1", "new 1"), ("neu 2", "new 2"), PAIRS[0]])
    write(tmp_path / "t.csv", [("alt 1", "old 1"), PAIRS[1]])
    done = train("p.csv", "--set", "data.valid=v.csv", "--set", "data.test=t.csv", "--json")
    assert done.code == 0, done.err
    assert done.document["data"]["parts"] == {"train": 38, "valid": 3, "test": 2}
    assert any("2 training rows left out" in note for note in done.document["data"]["notes"])
    outputs = [json.loads(line)["source"] for line in (tmp_path / "r" / "predictions.jsonl").read_text().splitlines()]
    assert outputs == ["alt 1", PAIRS[1][0]]


def test_it_says_what_it_guessed(train, tmp_path):
    write(tmp_path / "p.csv")
    done = train("p.csv")
    assert done.code == 0
    reason = "columns 'de' and 'en' both hold varied text and are named as source and target are"
    assert f"task: translate ({reason})" in done.err
    assert "line 1 is a header: columns are named de and en" in done.err
    assert done.out.splitlines()[0].endswith("saved in r")


def test_rows_left_out_are_all_listed(train, tmp_path):
    write(tmp_path / "p.tsv")
    with (tmp_path / "p.tsv").open("a") as file:
        file.write("one field\n\tno source\nno target\t\nthree\tfields\there\n")
    assert train("p.tsv").code == 2
    done = train("p.tsv", "--set", "data.bad_rows=skip")
    assert done.code == 0, done.err
    refused = [line for line in done.err.splitlines() if line.startswith("left out")]
    assert [line.split(":")[1] for line in refused] == ["41", "42", "43", "44"]
    kept = json.loads((tmp_path / "r" / "metrics.json").read_text())["data"]
    assert len(kept["refused"]) == 4
    assert sum(kept["parts"].values()) == 40


def test_an_older_encoding_is_read_and_said(train, tmp_path):
    lines = "".join(f"größe für {n} männer\tsize for {n} men\n" for n in range(40))
    (tmp_path / "old.tsv").write_bytes(lines.encode("cp1252"))
    done = train("old.tsv")
    assert done.code == 0, done.err
    assert "old.tsv is not UTF-8; read as cp1252" in done.err
    saved = json.loads((tmp_path / "r" / "vocabulary.json").read_text(encoding="utf-8"))["input"]
    assert "ö" in json.dumps(saved, ensure_ascii=False)


def test_a_recipe_repeats_a_run(atento_command, small, processes, tmp_path):
    folder, made = small
    arguments = made.document["command"].split()
    assert arguments[:2] == ["atento", "train"]
    done = atento_command.run("train", folder / "recipe.toml", "--out", "again", cwd=tmp_path)
    assert done.code == 0, done.err
    name = "weights.safetensors"
    assert processes.digest(tmp_path / "again" / name) == processes.digest(folder / name)


def test_from_a_run_starts_with_its_weights(atento_command, trained_run, tmp_path):
    write(tmp_path / "more.tsv", [(german(n), english(n)) for n in range(20_000, 24_000, 37)])
    settings = ("--set", "train.steps=2", "--set", "train.lr=1e-5", "--set", "train.threads=1")
    more = ("--set", "data.split=20/70/10", "--set", "train.validations=2", "--json")
    command = ("train", "more.tsv", "--from", trained_run.folder, *settings, *more, "--out", "r")
    done = atento_command.run(*command, cwd=tmp_path)
    assert done.code == 0, done.err
    first = done.document["curve"][0]
    assert first["step"] == 1
    assert first["exact"] > 0.7, "one step from nothing knows nothing"
    assert done.document["model"] == "lstm+additive"


@pytest.mark.parametrize("key, value", [("model.hidden", 64), ("model.name", "gru"), ("model.layers", 3)])
def test_from_a_run_contradicts_nothing(atento_command, processes, trained_run, tmp_path, key, value):
    done = atento_command.here(
        "train", "numbers", "--from", trained_run.folder, "--set", f"{key}={value}", "--out", "r", cwd=tmp_path
    )
    assert done.code == 2
    assert f"{key} is already decided" in done.err
    assert f"leave {key} out" in done.err
    assert not list(tmp_path.iterdir())


def test_what_diverges_is_a_failed_run(train, tmp_path):
    write(tmp_path / "p.csv")
    done = train("p.csv", "--set", "train.lr=1e30", "--set", "train.warmup=0", "--set", "train.clip=0")
    assert done.code == 4, done
    assert "training diverged at step" in done.err
    assert "train.lr" in done.err
    assert not (tmp_path / "r" / "manifest.json").exists()


def test_no_validation_part_keeps_the_last_weights(train, tmp_path):
    write(tmp_path / "p.csv")
    done = train("p.csv", "--set", "data.split=95/0/5", "--set", "train.patience=1", "--json")
    assert done.code == 0, done.err
    assert done.document["steps"] == 6
    assert done.document["curve"] == []
