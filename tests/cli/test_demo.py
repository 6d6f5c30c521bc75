"""`atento demo`: from start to end with little time to learn, and its stages with a model that has learned."""

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from atento.cli import demo
from atento.cli.app import app
from atento.version import __version__

COMMANDS = {entry.name or entry.callback.__name__ for entry in app.registered_commands}
PATIENCE = 300  # seconds, on a busy machine


@pytest.fixture
def browser(tmp_path):
    """A program that writes down the address that it is given."""
    path = tmp_path / "browser"
    path.write_text(f'#!/bin/sh\nprintf %s "$1" > {shlex.quote(str(tmp_path / "opened"))}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_it_learns_and_opens_the_page_and_writes_over_nothing(browser, processes, tmp_path):
    mine = tmp_path / "runs" / "demo-1"
    mine.mkdir(parents=True)
    (mine / "thesis.txt").write_text("years of work")
    words = [sys.executable, "-m", "atento", "demo", "--budget", "1s", "--json"]
    env = {**os.environ, "BROWSER": str(browser), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = processes.Done(0, done.stdout, "").document
    page = tmp_path / found["page"]
    assert found["run"] == "runs/demo-2" and page == tmp_path / "runs" / "demo-2" / "attention.html"
    assert (page.parent / "manifest.json").exists() and page.read_text(encoding="utf-8").startswith("<!")
    assert [set(one) for one in found["answers"]] == [{"source", "output", "reference", "right"}] * demo.ANSWERS
    assert found["examples"] == 2000 and found["versions"]["atento"] == __version__
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]
    processes.until((tmp_path / "opened").exists, what="the browser")
    assert (tmp_path / "opened").read_text() == page.as_uri()


def test_its_stages_are_told_in_eighty_columns(trained_run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(trained_run, "folder", tmp_path)
    (tmp_path / "predictions.jsonl").write_bytes(
        (trained_run.predictor.bundle.folder / "predictions.jsonl").read_bytes()
    )
    page = demo.tell(trained_run)
    demo.say_next(Path("runs/demo-1"))
    told = capsys.readouterr().out
    assert page == tmp_path / "attention.html" and page.read_text(encoding="utf-8").startswith("<!")
    assert told.count("(right)") + told.count("(wrong: it is ") == demo.ANSWERS and told.count("(right)") > 1
    drawn = demo.drawn_source(trained_run)
    assert len(drawn) <= demo.LONGEST_SOURCE and f"\n{drawn} → " in told and "█" in told
    offered = [shlex.split(line, comments=True) for line in told.partition("\nnext:\n")[2].strip().split("\n")]
    assert len(offered) == 3 and all(words[0] == "atento" and words[1] in COMMANDS for words in offered)
    stages = (demo.DATA, demo.LEARNING, demo.ANSWERING, demo.ATTENTION)
    assert [text.strip()[:6] for text in stages] == [f"{number} of 4" for number in (1, 2, 3, 4)]
    lines = [line for text in (*stages, told) for line in text.split("\n") if str(tmp_path) not in line]
    assert max(map(len, lines)) <= 80


def test_where_there_is_no_browser_the_page_is_named(tmp_path, monkeypatch, capsys):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    demo.open_page(tmp_path / "attention.html")
    assert "no browser was found" in capsys.readouterr().err
