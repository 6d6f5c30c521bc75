"""What was typed wrongly gets the command that is meant; streams that are closed, full or poor in characters."""

import os
import shlex
import subprocess
import sys
from importlib.metadata import version

import pytest

from atento.cli.options import target_key

MEANT = {
    "train numbers --lr 1": "atento train numbers --set train.lr=1",
    "train numbers --lr=1 --seed 3": "atento train numbers --set train.lr=1 --seed 3",
    "train numbers --learning-rate 1": "atento train numbers --set train.lr=1",
    "train numbers --epochs 3": "atento train numbers --set train.epochs=3",
    "train numbers --steps 3 --quiet": "atento train numbers --set train.steps=3 --quiet",
    "compare numbers --hidden 64": "atento compare numbers --set model.hidden=64",
    "tune numbers --dropout 0.1": "atento tune numbers --set model.dropout=0.1",
    "train numbers --batch-size 32": "atento train numbers --set train.batch_tokens=4000",  # of tokens, not examples
    "train numbers --modl lstm": "atento train numbers --model lstm",
    "train 'my file.csv' --gpu --seed 1": "atento train 'my file.csv' --device cuda --seed 1",
    "train numbers --output r": "atento train numbers --out r",
    "trian numbers": "atento train numbers",
    "train numbers --xyzzy": "atento train --help lists the options",
    "schema --lr 1": "atento schema --help lists the options",
    "predict r f.csv --target y --proba": "atento predict r f.csv --proba",
    "train numbers --devices 0 --quiet": "atento train numbers --devices 1 --quiet",
    "train numbers --devices=two": "atento train numbers --devices=1",
    "train numbers --seed -3": "atento train numbers --seed 0",
    "serve runs/a --port 99999": "atento serve runs/a --port 65535",
    "train": "atento train --help",
}


@pytest.mark.parametrize("typed", MEANT)
def test_what_is_meant(atento_command, tmp_path, typed):
    done = atento_command.here(*shlex.split(typed), cwd=tmp_path)
    assert done.code == 2
    assert done.err.rstrip("\n").split("\n")[-1] == f"  fix:   {MEANT[typed]}"
    assert not list(tmp_path.iterdir())


def test_a_wrong_option_as_a_document(atento_command, tmp_path):
    done = atento_command.here("train", "numbers", "--lr", "1", "--json", cwd=tmp_path)
    assert done.document["error"]["fix"] == "atento train numbers --set train.lr=1 --json"


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(atento_command, tmp_path, option):
    done = atento_command.here(option, cwd=tmp_path)
    assert (done.code, done.out) == (0, f"atento {version('atento')}\n")


def test_help_shows_no_type_behind_a_switch(atento_command, tmp_path):
    for words in (["--help"], ["train", "--help"], ["compare", "--help"], ["backtest", "--help"]):
        done = atento_command.here(*words, cwd=tmp_path)
        assert "bool" not in done.out
    assert "--install-completion" in atento_command.here("--help", cwd=tmp_path).out


@pytest.mark.parametrize("rank, said", [("0", "torchrun is for atento train"), ("1", "")])
def test_torchrun(atento_command, tmp_path, rank, said):
    env = {"WORLD_SIZE": "2", "RANK": rank, "MASTER_ADDR": "localhost", "MASTER_PORT": "1"}
    done = atento_command.here("compare", "numbers", cwd=tmp_path, env=env)
    assert done.code == 2
    assert said in done.err and bool(said) == bool(done.err)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "shell, code, said",
    [
        ("schema > /dev/full", 3, b"standard output could not be written"),
        ("schema --json > /dev/full", 3, b"standard output could not be written"),
        ("schema >&-", 3, b"standard output is closed"),
        ("schema 2>&- | cat > /dev/null", 0, b""),
        ("schema <&- > /dev/null", 0, b""),
        ("nonsense 2> /dev/full", 2, b""),
        ("schema | head -1 > /dev/null", 0, b""),
        ("train 'ñ.tsv'", 3, b"fix:   export PYTHONUTF8=1"),
        ("parts > out.txt", 0, b""),  # with a locale that has no dashes
    ],
)
def test_streams_that_fail(tmp_path, shell, code, said):
    env = {**os.environ, "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = f"set -o pipefail; {shlex.quote(sys.executable)} -m atento {shell}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=tmp_path, env=env, check=False)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert b"Traceback" not in done.stderr and b"mistake" not in done.stderr and b"Exception ignored" not in done.stderr
    if shell.endswith("out.txt"):
        assert "-|q - k|" in (tmp_path / "out.txt").read_text(encoding="ascii")


def test_target_is_the_key_that_the_task_has(tmp_path):
    reviews, series = tmp_path / "reviews.csv", tmp_path / "series.csv"
    lines = [f"{word} film number {number},{'good' if number % 2 else 'bad'}" for number in range(40) for word in "ab"]
    reviews.write_text("review,verdict\n" + "\n".join(lines), encoding="utf-8")
    days = [f"2020-{month:02}-{day:02},{day % 7 + 0.5},{day}" for month in range(1, 6) for day in range(1, 29)]
    series.write_text("date,sales,staff\n" + "\n".join(days), encoding="utf-8")
    assert target_key(str(reviews), "auto", "", "verdict") == "label"
    assert target_key(str(series), "auto", "", "sales") == "target"
    assert target_key("numbers", "auto", "", "es") == "target"
    assert [target_key("x.csv", task, "", "y") for task in ("classify", "translate", "tag", "forecast")] == [
        "label", "target", "label", "target",
    ]  # fmt: skip
