"""Tables of series are told from tables of anything else, with no option."""

import numpy as np
import pytest
from tests.data.series.series_files import DAYS, SHAPES, table
from tests.tasks.shapes import SHAPES as TEXTS

from atento.data.evidence.evidence import gather
from atento.spec import DataRecipe
from atento.tasks.finding import LIKELY, recognise
from atento.tasks.recognising.series import forecast_series

ROWS = 120
CHANCE = np.random.default_rng(5)
NUMBERS = CHANCE.normal(size=(ROWS, 6)).round(3)
KINDS = np.sort(CHANCE.integers(0, 3, ROWS))
WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "saw", "no", "dog")
PROSE = [" ".join(CHANCE.choice(WORDS, 6)) for _ in range(ROWS)]
SPREAD = (KINDS[:, None] + 0.1 * NUMBERS).round(3)
OTHERS = {
    "rows of a thing each": table("area,rooms,baths,age,garage,price", *NUMBERS.T),
    "the same with an id": table("Id,area,rooms,baths,age,garage,price", range(ROWS), *NUMBERS.T),
    "flowers sorted by kind": table("length,width,kind", *SPREAD[:, :2].T, np.array(["lily", "rose", "iris"])[KINDS]),
    "the same with numbers for kinds": table("length,width,height,target", *SPREAD[:, :3].T, KINDS),
    "labelled rows of steps": table(
        "label," + ",".join(f"t{at}" for at in range(20)), KINDS, *CHANCE.normal(size=(20, ROWS)).round(3)
    ),
    "sequences and numbers": table("sequence,target", ["0.5 0.25 0.75 0.5"] * ROWS, NUMBERS[:, 0]),
    "texts with a day": table("date,tweet,likes", DAYS[:ROWS], PROSE, CHANCE.integers(0, 99, ROWS)),
    "texts with stars": table("date,review,stars", DAYS[:ROWS], PROSE, CHANCE.integers(1, 6, ROWS)),
    "steps of labelled cases": table(
        "case,t,x,label", np.repeat(range(12), 10), [*range(10)] * 12, NUMBERS[:, 0], np.repeat(np.arange(12) % 2, 10)
    ),
}


def guesses(path):
    return recognise(gather(str(path)))


@pytest.mark.spec("K08")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_series_are_forecast(shape, tmp_path):
    found = guesses(shape.write(tmp_path))
    best, runner_up = list(found)[:2]
    assert best == "forecast", found
    assert found[best].likelihood >= 0.9
    assert found[best].likelihood - found[runner_up].likelihood >= 0.1
    if shape.name not in ("melted.csv", "lines.txt"):
        assert all(repr(channel) in found[best].reason for channel in shape.channels)


@pytest.mark.parametrize("name", OTHERS)
def test_other_tables_are_not(name, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(OTHERS[name])
    found = guesses(path)
    assert found["forecast"].likelihood < LIKELY, found["forecast"]
    assert found["forecast"].reason


@pytest.mark.parametrize("task", sorted(set(TEXTS) - {"", "forecast"}))
def test_texts_are_not(task, tmp_path):
    for number, make in enumerate(TEXTS[task].values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert forecast_series(gather(make(folder))).likelihood < LIKELY


def test_the_reason_names_every_column(tmp_path):
    (frame,) = [shape for shape in SHAPES if shape.name == "stores.csv"]
    reason = guesses(frame.write(tmp_path))["forecast"].reason
    assert (
        reason
        == "column 'sales' holds numbers at the times in 'date', 1d apart, series told apart by 'store' and 'item'"
    )


@pytest.mark.parametrize("name, best", [("category", "forecast"), ("type", "forecast"), ("label", "classify-series")])
def test_what_is_true_of_a_whole_series_with_dates(name, best, tmp_path):
    path = tmp_path / "table.csv"
    ids, kinds = np.repeat(range(12), 10), np.repeat(np.arange(12) % 2, 10)
    path.write_text(table(f"unique_id,ds,y,{name}", ids, [*DAYS[:10]] * 12, NUMBERS[:, 0], kinds))
    assert next(iter(guesses(path))) == best


def test_a_time_that_is_named_is_forecast(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(OTHERS["the same with an id"])
    found = recognise(gather(str(path)), DataRecipe(time="Id"))
    assert next(iter(found)) == "forecast"
    assert "data.time=Id" in found["forecast"].reason
