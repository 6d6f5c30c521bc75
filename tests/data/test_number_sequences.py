"""Text that is numbers, and exactly where it is not."""

import pytest

from atento.data.number_sequences import Problem, as_number, is_sequence, read_steps, require_steps
from atento.errors import InputError


@pytest.mark.parametrize(
    "text, steps",
    [
        ("0.5", [[0.5]]),
        (" 1 -2  3e-2\t+.5 ", [[1.0], [-2.0], [0.03], [0.5]]),
        ("0.53,0 0.91,1", [[0.53, 0.0], [0.91, 1.0]]),
        ("7.", [[7.0]]),
    ],
)
def test_numbers_are_read(text, steps):
    assert read_steps(text) == steps
    assert require_steps(text) == steps


@pytest.mark.parametrize(
    "text, at, problem",
    [
        ("0.5 x 3", 4, "step 2 is not a number."),
        ("0.5,1 0.2,y", 10, "step 2 is not a number."),
        ("0.5,1 0.2", 6, "step 2 has 1 channels where 2 are read."),
        ("1 2,3", 2, "step 2 has 2 channels where 1 are read."),
        ("1,,2", 2, "step 1 is not a number."),
        ("1 nan", 2, "step 2 is not a number."),
        ("1 inf", 2, "step 2 is not a number."),
        ("1 1e999", 2, "step 2 is not a number."),
        ("0x10", 0, "step 1 is not a number."),
        ("1_000", 0, "step 1 is not a number."),
        ("٣", 0, "step 1 is not a number."),
        ("   ", 0, "there are no steps."),
    ],
)
def test_what_is_no_number_is_found_where_it_stands(text, at, problem):
    found = read_steps(text)
    assert isinstance(found, Problem)
    assert (found.at, found.problem) == (at, problem)
    with pytest.raises(InputError, match=f"column {at + 1}: "):
        require_steps(text)


def test_a_known_number_of_channels_is_required_of_the_first_step_too():
    assert read_steps("1,2", channels=2) == [[1.0, 2.0]]
    assert read_steps("1 2", channels=2).problem == "step 1 has 1 channels where 2 are read."


def test_one_number_is_no_sequence():
    assert is_sequence("1 2")
    assert not is_sequence("1,2")
    assert not is_sequence("one two")
    assert as_number("1,5") is None
