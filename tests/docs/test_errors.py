"""docs/errors.md: every example is run, and what it prints is what the page shows, word for word."""

import doctest
import errno
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from runpy import run_path
from unittest import mock

import pytest

from atento.errors import MachineError, failure_of
from atento.tuning.search import load_optuna

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "errors.md").read_text(encoding="utf-8")
FILES = run_path(str(HERE / "error_files.py"))["FILES"]
ENTRY = re.compile(
    r"### (?P<title>[^\n]+)\n\n(?:    (?P<command>atento[^\n]*)\n\n)?```text\n(?P<seen>.*?)\n```\n\n"
    r"\*\*Why\.\*\* (?P<why>[^\n]+) \*\*Fix\.\*\* (?P<fix>[^\n]+)\n",
    flags=re.DOTALL,
)
PIECES = [ENTRY.match(piece) for piece in re.split(r"(?=^### )", PAGE, flags=re.MULTILINE) if "```text" in piece]
TYPED = {entry["title"]: entry for entry in PIECES if entry and entry["command"]}
TOLD = {entry["title"]: entry["seen"] for entry in PIECES if entry and not entry["command"]}


def without_optuna():
    """What is said where an extra is missing."""
    with mock.patch.dict(sys.modules, {"optuna": None}), pytest.raises(MachineError) as caught:
        load_optuna()
    return caught.value


FAULTS = {  # what a machine may refuse, which no test can bring about at will
    "Out of memory": MemoryError(),
    "A full disk": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "runs/reviews/weights.safetensors"),
    "A package that is not installed": without_optuna(),
    "No permission to write": OSError(errno.EACCES, os.strerror(errno.EACCES), "runs/reviews/recipe.toml"),
}
ROUNDED = ("Training diverged",)  # its numbers are a matter of rounding


@pytest.fixture(scope="module")
def trained(processes, tmp_path_factory):
    """The run that examples speak of, trained for a moment."""
    place = tmp_path_factory.mktemp("errors")
    (place / "reviews.csv").write_text(FILES["reviews.csv"], encoding="utf-8")
    options = "--target opinion --model gru --quiet --set model.hidden=6 --set train.steps=3 --set data.split=60/20/20"
    words = ("train", "reviews.csv", *options.split(), "--out", "runs/reviews")
    done = processes.Commands(place).here(*words, cwd=place)
    assert done.code == 0, done.err
    return place / "runs"


@pytest.mark.parametrize("title", TYPED)
def test_a_command_fails_as_the_page_says(title, request, processes, tmp_path):
    entry = TYPED[title]
    words = re.split(r"[\s,]+", f"{entry['command']} {entry['seen'] if 'in this folder' in entry['seen'] else ''}")
    for name in FILES.keys() & set(words):
        (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    if "runs/reviews" in words:
        shutil.copytree(request.getfixturevalue("trained"), tmp_path / "runs")

    commands = processes.Commands(tmp_path)
    done = commands.here(*shlex.split(entry["command"])[1:], cwd=tmp_path, env={"CUDA_VISIBLE_DEVICES": ""})

    seen, found = entry["seen"], done.err.strip()
    if title in ROUNDED:
        seen, found = (re.sub(r"\d+\.?\d*|inf|nan", "N", text) for text in (seen, found))
    assert found == seen
    assert done.code in (2, 3, 4) and not done.out


def test_what_the_machine_refuses_is_told_in_these_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert {title: str(failure_of(fault)) for title, fault in FAULTS.items()} == TOLD


def test_the_python_of_the_page_fails_as_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "errors.md", None, 0)
    done = doctest.DocTestRunner(verbose=False).run(examples)
    assert done.attempted >= 20 and not done.failed


def test_every_entry_has_its_parts():
    """A heading without an example, a reason and a fix would be passed over by the tests above."""
    headings = re.findall(r"^### (.+)$", PAGE, flags=re.MULTILINE)
    in_python = re.findall(r"^### (.+)$", PAGE.split("\n## In Python\n")[1], flags=re.MULTILINE)
    assert headings == [*(entry["title"] for entry in PIECES), *in_python]
    assert len(set(headings)) == len(headings) >= 40
