"""No damage to a file of any format gives anything but a message; a planted fault is named by line and column."""

import pytest
from tests.data.mutated_files import FAULTS, FORMATS, run_mutation, run_planted


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.name)
def test_damaged_files_are_read_or_refused(tmp_path, kind):
    for number in range(8):
        run_mutation(kind, f"suite {number}", tmp_path)


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_named_by_place(tmp_path, name):
    for number in range(3):
        run_planted(name, f"suite {number}", tmp_path)
