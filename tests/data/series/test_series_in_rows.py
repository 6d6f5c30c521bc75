"""A row for each series: M4's form, years and dates as names, lists beside a start; and what is none of them."""

import json
import math

import numpy as np
import pytest

from atento.data.series import read_series
from atento.data.series.series_in_rows import find_series_in_rows
from atento.data.sources.reading import read_source
from atento.errors import InputError
from atento.spec import DataRecipe

WAVE = [f"{100 + 20 * math.sin(step / 3):.2f}" for step in range(40)]


def read(folder, name, lines, **keys):
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_series(DataRecipe(**keys), str(folder / name))


@pytest.mark.parametrize("header", ["yes", "no"])
def test_rows_of_unlike_length_as_in_m4(header, tmp_path):
    pad = [""] * (5 if header == "yes" else 0)  # padded, or not
    lines = [",".join(["M1", *WAVE]), ",".join(["M2", *WAVE[:30], *pad, *pad]), ",".join(["M3", *WAVE[5:], *pad])]
    names = [",".join(f"V{at}" for at in range(1, 42))] if header == "yes" else []
    found = read(tmp_path, "Monthly-train.csv", [*names, *lines])
    assert [(one.name, len(one)) for one in found.series] == [("M1", 40), ("M2", 30), ("M3", 35)]
    np.testing.assert_array_equal(found.series[2].values[:, 0], [float(cell) for cell in WAVE[5:]])
    assert str(found.frequency) == "1 row" and any("each row is a series" in note for note in found.notes)


@pytest.mark.parametrize(
    "names, frequency, first",
    [
        (range(1981, 2021), "1y", "1981-01-01"),
        ([f"X{year}" for year in range(1981, 2021)], "1y", "1981-01-01"),
        ([f"{2018 + at // 12}-{at % 12 + 1:02}" for at in range(40)], "1mo", "2018-01-01"),
    ],
)
def test_years_and_dates_as_names(names, frequency, first, tmp_path):
    header = ",".join(["country", "code", *map(str, names)])
    rows = [",".join([name, "x", *WAVE]) for name in ("Chile", "Kenya", "Norway")]
    rows[1] = ",".join(["Kenya", "x", "", "", *WAVE[2:]])
    found = read(tmp_path, "wide.csv", [header, *rows])
    assert [one.name for one in found.series] == ["Chile", "Kenya", "Norway"]
    assert str(found.frequency) == frequency and found.series[0].times[0] == np.datetime64(first)
    assert found.series[1].times[0] == found.series[0].times[2] and len(found.series[1]) == 38
    gap = [header, rows[0].replace(f",{WAVE[7]},", ",,")]
    with pytest.raises(InputError, match="missing between others") as caught:
        read(tmp_path, "gap.csv", gap)
    assert caught.value.settings == {"data.gaps": "linear"}
    assert len(read(tmp_path, "gap.csv", gap, gaps="linear").series[0]) == 40


def test_decimal_commas_in_rows(tmp_path):
    rows = [";".join([name, *(cell.replace(".", ",") for cell in WAVE)]) for name in "ab"]
    found = read(tmp_path, "de.csv", [";".join(["Land", *map(str, range(1981, 2021))]), *rows])
    assert found.series[0].values[0, 0] == 100 and any("commas" in note for note in found.notes)


def test_lists_beside_a_start(tmp_path):
    tsf = ["# a comment", "@relation r", "@attribute series_name string", "@attribute start_timestamp date",
           "@frequency monthly", "@data", f"T1:1979-03-01 00-00-00:{','.join(WAVE)}",
           f"T2:1980-01-01 00-00-00:{','.join([*WAVE[:9], '?', *WAVE[10:]])}"]  # fmt: skip
    with pytest.raises(InputError, match="missing between others"):
        read(tmp_path, "t.tsf", tsf)
    found = read(tmp_path, "t.tsf", tsf, gaps="previous")
    assert [(one.name, len(one), str(one.times[1])[:10]) for one in found.series] == [
        ("T1", 40, "1979-04-01"), ("T2", 40, "1980-02-01"),
    ]  # fmt: skip
    entries = [{"start": "2020-01-01", "target": [float(cell) for cell in WAVE], "freq": "1d"} for _ in range(3)]
    found = read(tmp_path, "gluon.jsonl", [json.dumps(entry) for entry in entries])
    assert [len(one) for one in found.series] == [40] * 3 and str(found.frequency) == "1d"


@pytest.mark.parametrize("line", ["T1:1,2,3", "T1:1979-01-01:1,x,3"])
def test_a_bad_line_of_tsf_is_refused_at_its_place(line, tmp_path):
    head = ["@attribute series_name string", "@attribute start_timestamp date", "@data"]
    (tmp_path / "t.tsf").write_text("\n".join([*head, line]) + "\n")
    assert read_source(str(tmp_path / "t.tsf")).refused[0].line == 4
    (tmp_path / "no.tsf").write_text("T1:1,2,3\n")
    with pytest.raises(InputError, match="there is no line @data"):
        read_source(str(tmp_path / "no.tsf"))


@pytest.mark.parametrize(
    "lines",
    [
        ["date," + ",".join(f"s{at}" for at in range(12)), *(f"2026-01-0{day}" + ",1" * 12 for day in range(1, 9))],
        [",".join(["name", "age", "height"]), "a,1,2", "b,3,4"],
        [",".join(f"V{at}" for at in range(12)), *(",".join(map(str, range(12))) for _ in range(9))],
    ],
    ids=["a row a step", "few columns", "no names"],
)  # fmt: skip
def test_other_tables_are_none(lines, tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    assert find_series_in_rows(read_source(str(tmp_path / "t.csv"))) is None
