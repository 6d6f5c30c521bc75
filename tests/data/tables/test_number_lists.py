"""Text that is numbers, and exactly where it is not."""

import random

import numpy as np
import pytest

from atento.data.tables.number_lists import (
    ParseProblem,
    is_missing,
    is_sequence,
    parse_number,
    read_fast,
    read_steps,
    require_numbers,
)
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
    assert require_numbers(text).tolist() == steps


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
        ("1 -2e30", 2, "this number is too large to compute with."),
        ("0x10", 0, "step 1 is not a number."),
        ("1_000", 0, "step 1 is not a number."),
        ("٣", 0, "step 1 is not a number."),
        ("   ", 0, "there are no steps."),
    ],
)
def test_what_is_no_number_is_found_where_it_stands(text, at, problem):
    found = read_steps(text)
    assert isinstance(found, ParseProblem)
    assert (found.at, found.problem) == (at, problem)
    with pytest.raises(InputError, match=f"column {at + 1}: "):
        require_numbers(text)


def test_a_known_number_of_channels_is_required_of_the_first_step_too():
    assert read_steps("1,2", channels=2) == [[1.0, 2.0]]
    assert read_steps("1 2", channels=2).problem == "step 1 has 1 channels where 2 are read."


def test_one_number_is_no_sequence():
    assert is_sequence("1 2")
    assert not is_sequence("1,2")
    assert not is_sequence("one two")
    assert parse_number("1,5") is None


def test_all_at_once_is_number_by_number():
    chance = random.Random(0)
    pieces = ["0.5", "-2", "+.5", "7.", "3e-2", "1E5", "nan", "x", "", "1.2.3", "--1", "1e", "1_0", "٣", "1e999", "inf"]
    for _ in range(400):
        width = chance.choice([1, 1, 2, 3])
        odd = chance.random() < 0.4
        steps = [",".join(chance.choices(pieces if odd else pieces[:6], k=width)) for _ in range(chance.randint(0, 5))]
        text = chance.choice([" ", "  ", "\t"]).join(steps)
        for channels in (0, width):
            slow, fast = read_steps(text, channels=channels), read_fast(text, channels=channels)
            assert fast is None or fast.tolist() == slow
            assert fast is not None or odd or not steps
    assert read_fast("1 x") is None
    assert read_fast("1,2 3 4,5,6") is None, "as many numbers as three steps of two, but not two each"
    np.testing.assert_array_equal(require_numbers("0.53,0 0.91,1"), [[0.53, 0.0], [0.91, 1.0]])
    with pytest.raises(InputError, match="column 3: step 2 is not a number"):
        require_numbers("1 x")


def test_a_sequence_may_lack_numbers():
    assert is_sequence("1 nan 3")
    assert is_sequence("1,? 2,3")
    assert not is_sequence("nan nan")
    assert not is_sequence("1 of 3")
    assert is_missing("-Inf") and not is_missing("0")
