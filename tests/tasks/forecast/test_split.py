"""Parts of series by time, by hand."""

import re

import pytest
from tests.tasks.hand_series import series

from atento.data.series import Frequency
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.forecast.split import borders_of, divide, parse_sharing
from atento.tasks.forecast.windows import WindowSpec

FRAME = WindowSpec(5, 3, ("a",), (), Frequency(1, "h"), 1)


def sharing(text, **own):
    return parse_sharing(text, **{"own_valid": False, "own_test": False, **own})


@pytest.mark.parametrize(
    "text, rows, borders",
    [
        ("70/10/20", 100, (70, 80, 100)),
        ("0.7,0.1,0.2", 2820, (1974, 2256, 2820)),
        ("40/20/20", 100, (40, 60, 80)),  # rows are counted, the rest is not used
        ("8640/2880/2880", 17_420, (8640, 11_520, 14_400)),
        ("50%/10%/20%", 100, (50, 60, 80)),
        ("100/0/0", 50, (50, 50, 50)),
        ("90/10/0", 50, (45, 50, 50)),
    ],
)
def test_shares_percents_and_counts(text, rows, borders):
    assert borders_of(rows, sharing(text), FRAME)[:3] == borders


def test_what_is_too_short_for_shares_holds_out_its_last_horizons():
    assert borders_of(20, sharing("70/10/20"), FRAME) == (13, 16, 20, True)  # 2 rows could not validate: 3 do
    assert borders_of(14, sharing("70/10/20"), FRAME) == (8, 11, 14, True)
    assert borders_of(12, sharing("70/10/20"), FRAME) == (9, 9, 12, True)  # rather learn than validate
    assert borders_of(14, sharing("90/10/0"), FRAME) == (11, 14, 14, True)


def test_a_part_with_a_file_of_its_own_takes_no_rows():
    assert borders_of(80, sharing("70/10/20", own_test=True), FRAME)[:3] == (70, 80, 80)
    assert borders_of(80, sharing("70/10/20", own_test=True, own_valid=True), FRAME)[:3] == (80, 80, 80)


@pytest.mark.parametrize("text", ["70/10", "a/b/c", "0/50/50", "0/2000/30", "60%/50%/10%", "-5/100/5"])
def test_other_shares_are_refused(text):
    with pytest.raises(InputError, match=r"data\.split"):
        sharing(text)


def test_a_short_series_is_named_with_the_key_that_mends_it():
    parts = (series(range(100), "long"), series(range(9), "short"), series(range(5), "tiny"))
    with pytest.raises(InputError) as caught:
        divide("f.csv", parts, FRAME, DataRecipe(split="70/10/20"))
    message = str(caught.value)
    assert "f.csv" in message and "'short'" in message and "data.look_back=1" in message and "1 more" in message
    found = divide("f.csv", parts, FRAME, DataRecipe(split="70/10/20", bad_rows="skip"))
    assert [one.name for one in found.series] == ["long"]
    assert ["'short'" in found.refused[0].problem, "data.horizon=" in found.refused[1].fix] == [True, True]
    with pytest.raises(InputError, match="too short"):
        divide("f.csv", parts[1:], FRAME, DataRecipe(bad_rows="skip"))  # none is left
    with pytest.raises(InputError, match="400/100/100 rows"):
        divide("f.csv", parts[:1], FRAME, DataRecipe(split="400/100/100"))


@pytest.mark.parametrize(
    "rows, look_back, horizon",
    [(600, 5000, 7), (600, 1, 5000), (600, 590, 7), (23, 40, 3), (23, 7, 30), (9, 8, 3), (5, 6, 3), (4, 9, 1)],
)
def test_what_the_refusal_proposes_works_when_it_is_typed(rows, look_back, horizon):
    frame = FRAME._replace(look_back=look_back, horizon=horizon)
    for recipe in (DataRecipe(split=split) for split in ("70/10/20", "90/10/0", "50%/10%/20%")):
        with pytest.raises(InputError) as caught:
            divide("f.csv", (series(range(rows)),), frame, recipe)
        typed = dict(re.findall(r"--set data\.(\w+)=(\d+)", caught.value.fix))
        assert typed and "bad_rows" not in caught.value.fix  # leaving the only series out would leave none
        mended = frame._replace(**{key: int(value) for key, value in typed.items()})
        (borders,) = divide("f.csv", (series(range(rows)),), mended, recipe).borders
        assert borders.train >= mended.window, recipe.split


def test_a_series_of_too_few_rows_for_any_window_is_told_to_grow():
    with pytest.raises(InputError) as caught:
        divide("f.csv", (series(range(2)),), FRAME, DataRecipe(split="70/10/20"))
    assert caught.value.fix == "add rows: 3 are the least"


def test_what_became_of_the_rows_is_said():
    (note, unused) = divide("f.csv", (series(range(100)),), FRAME, DataRecipe(split="40/20/20")).notes
    assert "40 rows to train, 20 to validate (from 2024-01-02 16:00), 20 to test (from 2024-01-03 12:00)" in note
    assert unused.startswith("20 rows after the test part")
    parts = (series(range(100), "a"), series(range(14), "b"))
    notes = divide("f.csv", parts, FRAME, DataRecipe(split="70/10/20")).notes
    assert notes[0] == "2 series, each split by time: 78 rows to train, 13 to validate, 23 to test"
    assert "1 of 2 series are too short for shares: the last 3 rows" in notes[1]
