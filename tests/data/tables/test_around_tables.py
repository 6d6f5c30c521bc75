"""Lines that belong to no row of a table: left out with a note, and never a row of it."""

import pytest

from atento.data import read_table

ROWS = [f"2020-01-{day:02},{day}.5,{day}" for day in range(1, 21)]
HEADER = "date,price,volume"


def table_of(tmp_path, lines, name="t.csv"):
    (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_table(str(tmp_path / name))


@pytest.mark.parametrize(
    "lines, said",
    [
        (["Account:,GB29", "Period:,2020", HEADER, *ROWS], "lines above line 3, the header, are left out: 'Account:'"),
        (["# made by a program", HEADER, *ROWS], "lines above line 2, the header, are left out: '# made by a program'"),
        (["My report,,", ",,", HEADER, *ROWS], "the header, are left out: 'My report'"),
        ([HEADER, *ROWS, "Total,210.5,210"], "line 22 is a total and is left out: 'Total'"),
        ([HEADER + ",,", *(row + ",," for row in ROWS)], "2 empty columns at the end"),
        ([HEADER, *(row + "," for row in ROWS)], "1 empty column at the end"),
        (["date,price,volume", "ticker,A,A", *ROWS], "line 2 belongs to the header"),
    ],
)  # fmt: skip
def test_what_stands_around_a_table_is_left_out_and_said(lines, said, tmp_path):
    table = table_of(tmp_path, lines)
    assert table.columns == ("date", "price", "volume") and not table.refused
    assert [",".join(row) for row in table.rows] == ROWS
    assert any(said in note for note in table.notes)


def test_further_lines_of_a_header_that_differ_are_parts_of_names(tmp_path):
    table = table_of(tmp_path, ["Price,Close,Close", "Ticker,A,B", "Date,,", *ROWS])
    assert table.columns[1:] == ("Close A", "Close B") and len(table.rows) == 20


def test_row_names_of_r(tmp_path):
    table = table_of(tmp_path, ["month,rate", *(f"{at},2020-{at:02}-01,{at}.5" for at in range(1, 10))])
    assert table.columns == ("1", "month", "rate") and table.rows[0] == ("1", "2020-01-01", "1.5")


@pytest.mark.parametrize(
    "first, columns",
    [
        ("date,0,1", ("date", "0", "1")),
        ('"Time","load{job=""a"", x=""1""}","How satisfied are you with the room, all in all?"', None),
    ],
)
def test_names_that_are_numbers_or_long(first, columns, tmp_path):
    table = table_of(tmp_path, [first, *ROWS])
    assert table.header and len(table.rows) == 20
    assert columns is None or table.columns == columns


@pytest.mark.parametrize(
    "lines",
    [
        ROWS,
        ["1,2,3", *(f"{at},{at * 7 % 5},{at * 3 % 11}" for at in range(2, 20))],
    ],
    ids=["no header", "numbers that happen to count"],
)
def test_rows_stay_rows(lines, tmp_path):
    assert len(table_of(tmp_path, lines).rows) == len(lines)
