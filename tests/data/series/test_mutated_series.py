"""A sample of the damaged files: no traceback, no number that is none, no time that does not rise."""

import itertools

import pytest
from tests.data.series.mutated_series import PLANTED, WRONG, run_mutation, run_planted
from tests.data.series.series_files import SHAPES

from cases import in_case


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_damage_ends_in_a_message_or_in_whole_series(shape, tmp_path):
    for number in range(8):
        run_mutation(shape, f"test {number}", tmp_path)


@pytest.mark.spec("K08")
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_named_at_its_place(name, tmp_path):
    (shape,) = [shape for shape in SHAPES if shape.name == name]
    for fault, number in itertools.product([*WRONG, "twin", "gap"], range(4)):
        with in_case(fault, number):
            run_planted(shape, fault, f"planted {number}", tmp_path)
