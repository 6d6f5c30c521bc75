"""Missing numbers: found where they stand, or filled; checked against numpy's own interpolation and pandas' fill."""

import numpy as np
import pytest

from atento.data.sequences.long import FilledSequence, SequenceProblem, fill_missing, offset_of
from atento.data.tables.number_lists import require_numbers

TIME, CHANNELS = 13, 3


@pytest.mark.parametrize(
    "text, at, step, channel, problem",
    [
        ("1 nan 3", 2, 1, 0, "step 2 is missing."),
        ("1,2 3,? 5,6", 6, 1, 1, "step 2 of channel 2 is missing."),
        ("1,,3 4,5,6", 2, 0, 1, "step 1 of channel 2 is missing."),
        ("1 -inf", 2, 1, 0, "step 2 is missing."),
        ("nan x 3", 4, 1, 0, "step 2 is not a number."),
        ("1,2 nan 3,4", 4, 1, 0, "step 2 has 1 channels where 2 are read."),
        ("", 0, 0, 0, "there are no steps."),
    ],
)
def test_a_fault_is_found_where_it_stands(text, at, step, channel, problem):
    found = fill_missing(text, "stop")
    assert isinstance(found, SequenceProblem)
    assert (found.problem.at, found.step, found.channel, found.problem.problem) == (at, step, channel, problem)


def test_the_refusal_names_the_flag_that_mends():
    assert "--set data.gaps=linear" in fill_missing("1 nan", "stop").problem.fix


def test_whole_sequences_stay_as_they_are():
    assert fill_missing("1.50,2 3e0,4", "stop") == FilledSequence("1.50,2 3e0,4", 0, 2)
    assert isinstance(fill_missing("1,2 3,4", "linear", channels=3), SequenceProblem)


@pytest.mark.parametrize("gaps", ["linear", "previous"])
def test_filled_as_others_fill(gaps):
    pandas = pytest.importorskip("pandas")
    chance = np.random.default_rng(1)
    values = chance.normal(size=(TIME, CHANNELS)).round(3)
    values[chance.random((TIME, CHANNELS)) < 0.4] = np.nan
    text = " ".join(",".join("nan" if np.isnan(number) else str(number) for number in step) for step in values)
    frame = pandas.DataFrame(values)
    filled = frame.interpolate(limit_direction="both") if gaps == "linear" else frame.ffill().bfill()
    mended = fill_missing(text, gaps)
    np.testing.assert_allclose(require_numbers(mended.text), filled.to_numpy(), rtol=1e-12)
    assert mended.filled == int(np.isnan(values).sum())


def test_a_channel_of_nothing_cannot_be_filled():
    found = fill_missing("1,nan 2,nan", "linear")
    assert found.problem.problem == "channel 2 has no number at all."
    assert offset_of("10,20  30,40", 1, 1) == 10
