"""Tables as they come from elsewhere: decimal commas, odd headers, wrong names; and what another file must be like."""

import shlex

import numpy as np
import pytest

from atento.data.series import read_series
from atento.data.tables.headers import looks_like_header
from atento.errors import InputError
from atento.spec import DataRecipe


@pytest.mark.parametrize(
    "lines",
    [
        ["Zeit;T [°C];Leistung (kW)", *(f"{day:02}.01.2021;{day},5;{day},{day:03}" for day in range(1, 31))],
        ["Zeit;Leistung (kW);Netz", *(f"{day:02}.01.2021;{day},{day:03};{day},125" for day in range(1, 31))],
        ["Zeit,T,Leistung", *(f'{day:02}.01.2021,"{day},5","{day},{day:03}"' for day in range(1, 31))],
    ],
    ids=["another column shows it", "semicolons show it", "quoted cells"],
)
def test_decimal_commas_of_three_digits_are_no_thousands(lines, tmp_path):
    (tmp_path / "de.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = read_series(DataRecipe(), str(tmp_path / "de.csv"))
    assert len(found.channels) == 2
    expected = [float(cell.strip('"').replace(",", ".")) for cell in cut(lines[3])]
    np.testing.assert_allclose(found.series[0].values[2], expected)
    assert any(note.startswith("decimals are written with commas in") for note in found.notes)


def cut(line):
    """The two last cells of a line."""
    return line.split(";")[1:] if ";" in line else line.split(",", 1)[1].split('","')


@pytest.mark.parametrize("name", ["#Passengers", "% humidity", "°C", "(kW)", "$ a day"])
def test_a_header_whose_names_begin_with_a_sign(name, tmp_path):
    rows = [f"{1949 + month // 12}-{month % 12 + 1:02},{100 + month}" for month in range(40)]
    (tmp_path / "air.csv").write_text(f"Month,{name}\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = read_series(DataRecipe(), str(tmp_path / "air.csv"))
    assert found.channels == (name,) and len(found.series[0]) == 40 and found.season_length == 12
    assert looks_like_header(["Month", name], [row.split(",") for row in rows[:3]])  # too few rows to tell otherwise


def test_a_file_of_a_header_alone_has_no_rows(tmp_path):
    (tmp_path / "only.csv").write_text("date,v\n")
    with pytest.raises(InputError, match=r"only\.csv:1:1: the file has no rows"):
        read_series(DataRecipe(), str(tmp_path / "only.csv"))


@pytest.mark.parametrize(
    "key, wrong, fix",
    [("target", "z", "data.target=y"), ("target", "load", "'data.target=load MW'"), ("time", "when", "data.time=ds")],
)
def test_a_column_that_is_not_there_is_replaced_by_one_that_could_be_meant(key, wrong, fix, tmp_path):
    rows = [f"2020-01-{day:02},{day},{day * day}" for day in range(1, 29)]
    (tmp_path / "t.csv").write_text("ds,y,load MW\n" + "\n".join(rows) + "\n")
    with pytest.raises(InputError) as caught:
        read_series(DataRecipe(**{key: wrong}), str(tmp_path / "t.csv"))
    assert caught.value.fix == f"pass --set {fix}"
    typed = shlex.split(fix)[0].partition("=")[2]
    assert read_series(DataRecipe(**{key: typed}), str(tmp_path / "t.csv")).series


def test_another_file_is_read_at_the_distance_of_the_first(tmp_path):
    days = [f"2020-01-{day:02},{day % 7}" for day in range(1, 29)]
    hours = [f"2020-01-01 {hour:02}:00,{hour % 5}" for hour in range(24)]
    (tmp_path / "days.csv").write_text("ds,y\n" + "\n".join(days) + "\n")
    (tmp_path / "hours.csv").write_text("ds,y\n" + "\n".join(hours) + "\n")
    keys = dict(read_series(DataRecipe(), str(tmp_path / "days.csv")).keys)
    assert keys == {"time": "ds", "target": "y", "frequency": "1d"}
    with pytest.raises(InputError, match=r"hours\.csv:3:1: this time is not at a time step") as caught:
        read_series(DataRecipe(**keys), str(tmp_path / "hours.csv"))
    assert "1d is usual" in caught.value.found and "data.frequency" not in caught.value.fix


def test_each_series_knows_its_first_line(tmp_path):
    rows = [f"{name},2020-01-{day:02},{day % 5}" for name in "ab" for day in range(1, 12)]
    (tmp_path / "long.csv").write_text("unique_id,ds,y\n" + "\n".join(rows) + "\n")
    assert [one.line for one in read_series(DataRecipe(), str(tmp_path / "long.csv")).series] == [2, 13]


def test_signs_and_thousands_are_read_and_said(tmp_path):
    rows = [f'2020-01-{day:02},"${900 + 20 * day:,}",{day}%' for day in range(1, 29)]
    (tmp_path / "shop.csv").write_text("date,sales,share\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = read_series(DataRecipe(), str(tmp_path / "shop.csv"))
    np.testing.assert_array_equal(found.series[0].values[[0, 27]], [[920, 1], [1460, 28]])
    said = "; ".join(found.notes)
    assert "commas separate thousands in 'sales'" in said
    assert "the sign $ of 'sales' is left out; the sign % of 'share' is left out" in said


def test_what_could_be_thousands_or_decimals_is_not_guessed(tmp_path):
    rows = [f'2020-01-{day:02},"1,{day:03}"' for day in range(1, 29)]
    (tmp_path / "shop.csv").write_text("date,sales\n" + "\n".join(rows) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"shop.csv:2:12: the numbers of 'sales' can be read in two ways") as caught:
        read_series(DataRecipe(), str(tmp_path / "shop.csv"))
    assert caught.value.fix == "pass --set data.decimal=point for 1001, or --set data.decimal=comma for 1.001"
    for decimal, first in (("point", 1001), ("comma", 1.001)):
        read = read_series(DataRecipe(decimal=decimal), str(tmp_path / "shop.csv"))
        assert read.series[0].values[0, 0] == first and dict(read.keys)["decimal"] == decimal
