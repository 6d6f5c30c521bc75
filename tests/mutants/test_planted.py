"""The planted mutants still fit the sources; `make mutants` sees whether they are killed."""

import dataclasses
import importlib.util
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LEAST = 40
GROUPS = "LBREATOCX"


def load_planting():
    place = importlib.util.spec_from_file_location("planting", HERE / "planting.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


MUTANTS = load_planting().planted()


KNOWN = set(re.findall(r"^\| ([A-Z]\d\d) \|", (ROOT / "docs" / "coverage.md").read_text(), flags=re.MULTILINE))


def misfit(mutant):
    """Why a mutant no longer can be planted, or nothing."""
    try:
        text = mutant.broken()
        if mutant.file.endswith(".py"):  # others are scripts of pages
            compile(text, mutant.file, "exec")
    except (ValueError, SyntaxError, OSError) as error:
        return str(error)
    if not set(mutant.rows) <= KNOWN:
        return f"{mutant.what}: rows {mutant.rows}"
    lacking = [test for test in mutant.tests if not (ROOT / test).is_file()]
    return f"{mutant.what}: no tests {lacking}" if lacking or not mutant.tests else ""


@pytest.mark.parametrize("group", sorted({mutant.group for mutant in MUTANTS}))
def test_mutants_fit_their_files_and_name_rows_and_tests_that_are(group):
    assert not [why for mutant in MUTANTS if mutant.group == group and (why := misfit(mutant))]


def test_a_misfit_is_seen():
    good = MUTANTS[0]
    assert misfit(good) == ""
    assert "no longer fits" in misfit(dataclasses.replace(good, old="nowhere to be found"))
    assert "invalid syntax" in misfit(dataclasses.replace(good, new="in in"))
    assert "Z99" in misfit(dataclasses.replace(good, rows=("Z99",)))
    assert misfit(dataclasses.replace(good, rows=())) == ""
    assert "tests/none.py" in misfit(dataclasses.replace(good, tests=("tests/none.py",)))


def test_there_are_enough_in_every_group():
    assert len(MUTANTS) >= LEAST
    assert {row[0] for mutant in MUTANTS for row in mutant.rows} >= set(GROUPS)


def test_every_row_that_has_code_has_a_mutant():
    """Groups that are planned have none yet."""
    built = "".join(
        part for part in (ROOT / "docs" / "coverage.md").read_text().split("\n## ") if "(planned)" not in part[:200]
    )
    rows = set(re.findall(r"^\| ([A-Z]\d\d) \|", built, flags=re.MULTILINE))
    assert len(rows) > 100
    assert sorted(rows - {row for mutant in MUTANTS for row in mutant.rows}) == []
