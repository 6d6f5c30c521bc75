"""The commands of benchmarks/reliability: each is on the page with its figure, and the quick ones run here in short.

Kills, failing writes and signals have tests of their own: test_resume.py, test_stop_and_go.py and cli/test_faults.py.
"""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "reliability"
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
SHARED = ("measure.py", "clients.py")
QUICK = {"kills": 3, "damaged_folders": 40, "nothing_is_executed": 5, "damaged_files": 40, "every_row": 40}


@pytest.mark.parametrize("name", QUICK)
def test_a_command_prints_its_figure_and_its_target(name, monkeypatch, capsys):
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setattr(sys, "path", [*sys.path])  # the command adds the folder of the tests
    code = importlib.import_module(name).main(["--count", str(QUICK[name]), "--seed", "5"])
    *_, said = capsys.readouterr().out.splitlines()
    assert code == 0 and re.fullmatch(r"F\d+: .+; target: .+: met", said), said


def test_a_miss_is_an_exit_code(monkeypatch, capsys):
    monkeypatch.syspath_prepend(FOLDER)
    assert importlib.import_module("measure").verdict("F0", "1 lost", "0 lost", met=False) == 1
    assert capsys.readouterr().out == "F0: 1 lost; target: 0 lost: MISSED\n"


def test_every_command_stands_on_the_page():
    commands = sorted(path.name for path in FOLDER.glob("*.py") if path.name not in SHARED)
    assert len(commands) == 15
    assert sorted(set(re.findall(r"reliability/(\w+\.py)", PAGE))) == commands
