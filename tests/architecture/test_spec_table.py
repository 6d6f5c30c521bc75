"""`make spec` fails while a row has no proof, and lets only planned groups wait."""

import ast
import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = """## A · first

| row | idea |
|---|---|
| A01 | one |
| A02 | two |

## Z · later (planned)

| row | idea |
|---|---|
| Z01 | last |
"""


def script():
    spec = importlib.util.spec_from_file_location("spec_table", ROOT / "tests" / "spec_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def table(tmp_path, monkeypatch):
    """The script on a small project of its own; call it with {test: (rows, outcome)}."""
    module = script()
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results.json")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "some.py").write_text("")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "coverage.md").write_text(PAGE)

    def judge(results, *, at=10.0**10):
        tests = {name: {"rows": rows, "outcome": outcome, "at": at} for name, (rows, outcome) in results.items()}
        (tmp_path / "results.json").write_text(json.dumps({"tests": tests}))
        return module.main(run=False, brief=True)

    return judge


def test_all_rows_but_planned_ones_proved_is_enough(table, capsys):
    assert table({"a": (["A01", "A02"], "passed")}) == 0
    assert capsys.readouterr().out == "2 of 3 rows proved, 1 planned\n"


def test_a_row_without_a_test_is_missing(table, capsys):
    assert table({"a": (["A01"], "passed")}) == 1
    assert "MISSING A02 two" in capsys.readouterr().out


def test_a_row_with_a_test_that_fails_is_missing(table):
    assert table({"a": (["A01", "A02"], "passed"), "b": (["A02"], "failed")}) == 1


def test_a_planned_row_that_fails_is_missing(table):
    assert table({"a": (["A01", "A02"], "passed"), "b": (["Z01"], "failed")}) == 1


def test_results_older_than_the_sources_prove_nothing(table):
    assert table({"a": (["A01", "A02"], "passed")}, at=0.0) == 2


def test_a_row_that_the_page_does_not_know_is_named(table, capsys):
    assert table({"a": (["A01", "A02", "Q77"], "passed")}) == 2
    assert "Q77" in capsys.readouterr().out


def test_one_group_alone_is_planned():
    page = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    assert script().planned_in(page) <= {"V"}, "whatever is built stays proved"
    assert len(script().rows_of(page)) >= 135


def test_marks_are_on_tests_alone():
    """A mark on a function that only helps proves nothing, and nobody would see it."""
    helpers = []
    for file in (ROOT / "tests").rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and not function.name.startswith("test"):
                marks = [ast.unparse(one) for one in function.decorator_list]
                helpers += [f"{file.name}: {function.name}" for mark in marks if mark.startswith("pytest.mark.spec")]
    assert helpers == []
