"""Which column is what: ids, counters and what stands still are no channels; names in many languages."""

from datetime import date

import numpy as np
import pytest
from tests.data.series.series_files import DAYS, DRIFT, ROWS, WAVE, table

from atento.data import read_table
from atento.data.series.column_words import SERIES_WORDS, TIME_WORDS, has_word
from atento.data.series.columns import describe_guesses, find_columns
from atento.data.series.typed_table import TypedTable
from atento.errors import InputError
from atento.spec import DataRecipe

half = ROWS // 2


def cast_of(folder, text, **keys):
    path = folder / "t.csv"
    path.write_text(text, encoding="utf-8")
    sheet = TypedTable(read_table(str(path)))
    return sheet, find_columns(sheet, DataRecipe(**keys))


def named(sheet, columns):
    return [sheet.name(at) for at in columns]


def test_what_stands_still_in_each_series_is_no_channel(tmp_path):
    text = table(
        "store,day,size,sales", np.repeat(["a", "b"], half), [*DAYS[:half]] * 2, np.repeat([40, 70], half), WAVE
    )
    sheet, cast = cast_of(tmp_path, text)
    assert named(sheet, cast.channels) == ["sales"]
    assert named(sheet, cast.unused) == ["size"]
    assert named(sheet, cast_of(tmp_path, text, target="size,sales")[1].channels) == ["size", "sales"]


@pytest.mark.parametrize("name", ["No", "index", "Unnamed: 0", ""])
def test_a_column_that_counts_rows_is_no_channel(name, tmp_path):
    sheet, cast = cast_of(tmp_path, table(f"{name},date,v", range(5, ROWS + 5), DAYS, WAVE))
    assert named(sheet, cast.channels) == ["v"]
    assert cast.row_counters == (0,)
    assert cast.unused == ()


def test_a_column_that_only_says_the_time_again_is_no_channel(tmp_path):
    """The number of a row under any name, the end of its step, and a year with decimals; not what merely rises."""
    end = [f"{1_700_000_000_000 + 86_400_000 * at}" for at in range(ROWS)]
    days = [date.fromisoformat(str(day)) for day in DAYS]
    year = [f"{day.year + (day.timetuple().tm_yday - 0.5) / 366:.3f}" for day in days]
    bent = [at + at * at for at in range(ROWS)]
    sheet, cast = cast_of(tmp_path, table("instant,date,end,decimal,level,v", range(ROWS), DAYS, end, year, bent, WAVE))
    assert named(sheet, cast.channels) == ["level", "v"]
    assert named(sheet, cast.row_counters) == ["instant", "end", "decimal"]
    alone = cast_of(tmp_path, table("date,level", DAYS, range(ROWS)))[1]
    assert alone.channels == (1,), "where there is nothing else, it is forecast"


def test_numbers_that_name_series(tmp_path):
    runs = [*range(half)] * 2
    for name in ("run", "sensor_id", "storeId", "Tienda"):
        sheet, cast = cast_of(tmp_path, table(f"{name},step,x", np.repeat([3, 9], half), runs, WAVE))
        assert (named(sheet, cast.series), named(sheet, cast.time), named(sheet, cast.channels)) == (
            [name],
            ["step"],
            ["x"],
        )


def test_a_name_without_times_parts_blocks_of_rows(tmp_path):
    sheet, cast = cast_of(tmp_path, table("track,x,y", np.repeat(["p", "q"], half), WAVE, DRIFT))
    assert (named(sheet, cast.series), cast.time, named(sheet, cast.channels)) == (["track"], (), ["x", "y"])
    turns = cast_of(tmp_path, table("weekday,x,y", ["Mo", "Di"] * half, WAVE, DRIFT))[1]
    assert turns.series == ()


def test_of_several_dates_the_one_named_as_times_are(tmp_path):
    sheet, cast = cast_of(tmp_path, table("shipped,order date,v", DAYS + 3, DAYS, WAVE))
    assert named(sheet, cast.time) == ["order date"]
    assert named(sheet, cast.unused) == ["shipped"]


def test_every_guess_is_said_with_its_key(tmp_path):
    text = table("unique_id,ds,y,note", np.repeat(["a", "b"], half), [*DAYS[:half]] * 2, WAVE, ["x"] * ROWS)
    sheet, cast = cast_of(tmp_path, text)
    said = "\n".join(describe_guesses(sheet, cast, DataRecipe()))
    for key in ("time", "series", "target", "future_covariates"):
        assert f"--set data.{key}=" in said
    keys = {"time": "ds", "series": "unique_id", "target": "y", "future_covariates": "note"}
    assert describe_guesses(*cast_of(tmp_path, text, **keys), DataRecipe(**keys)) == []


@pytest.mark.parametrize(
    "name, known",
    [
        *[(name, TIME_WORDS) for name in ("Order Date", "fecha", "Zeitstempel", "année", "日期", "timeStamp")],
        *[(name, SERIES_WORDS) for name in ("unique_id", "StoreID", "storeId", "Tienda 2", "товар")],
    ],
)
def test_names_in_many_languages(name, known):
    assert has_word(name, known)


def test_other_names_are_not_mistaken():
    assert not any(
        has_word(name, TIME_WORDS | SERIES_WORDS)
        for name in ("x", "HUFL", "Temperature", "sales", "updated", "identity")
    )


def test_a_column_that_is_missing_is_not_replaced_by_one_of_another_kind(tmp_path):
    """Times are no target and numbers no times: then the column itself is asked for."""
    with pytest.raises(InputError, match="add the column 'sales'"):
        cast_of(tmp_path, table("date", DAYS), target="sales")
    with pytest.raises(InputError, match="add the column 'day'"):
        cast_of(tmp_path, table("v", WAVE), time="day")
    with pytest.raises(InputError, match=r"data\.target=v"):
        cast_of(tmp_path, table("date,v", DAYS, WAVE), target="sales")
