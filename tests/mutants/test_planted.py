"""The planted mutants still fit the sources; `make mutants` sees whether they are killed."""

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


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.group}: {mutant.what}")
def test_a_mutant_fits_its_file_and_names_rows_and_tests_that_are(mutant):
    compile(mutant.broken(), mutant.file, "exec")
    known = set(re.findall(r"^\| ([A-Z]\d\d) \|", (ROOT / "docs" / "coverage.md").read_text(), flags=re.MULTILINE))
    assert mutant.rows
    assert set(mutant.rows) <= known
    assert all((ROOT / test).is_file() for test in mutant.tests)


def test_there_are_enough_in_every_group():
    assert len(MUTANTS) >= LEAST
    assert {row[0] for mutant in MUTANTS for row in mutant.rows} >= set(GROUPS)
