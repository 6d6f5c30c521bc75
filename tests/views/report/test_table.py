import xml.etree.ElementTree as xml

from atento.views import Row
from atento.views.report.table import results_table


def rows_of(board):
    table = xml.fromstring(results_table(board)).find("table")
    return table, list(table.find("tbody"))


def text_of(part):
    return " ".join(text.strip() for text in part.itertext() if text.strip())


def test_rows_are_best_first_and_failures_last_with_the_reason(board):
    _, rows = rows_of(board)

    names = ["".join(row.find("th/bdi").itertext()) for row in rows]
    assert names == [*(row.model for row in board.ranked()), "transformer-deep"]
    assert text_of(rows[0].find("th")) == "lstm+ additive tied"  # a name breaks after a + alone
    assert text_of(rows[1].find("th")) == "lstm+ dot tied"
    assert text_of(rows[6].find("th")) == "nearest baseline"
    assert "the loss became NaN at step 40" in text_of(rows[-1])


def test_every_column_has_a_heading_and_every_row_a_name(board):
    table, rows = rows_of(board)
    heads = table.findall("thead/tr/th")

    assert all(head.get("scope") == "col" for head in heads)
    assert [row.find("th").get("scope") for row in rows] == ["row"] * len(rows)
    assert all(len(row) == len(heads) for row in rows[:-1])
    assert int(rows[-1].find("td").get("colspan")) + 1 == len(heads)


def test_numbers_are_those_of_the_board(board):
    _, rows = rows_of(board)
    cells = {cell.get("data-label"): text_of(cell) for cell in rows[0].findall("td") if cell.get("data-label")}
    best = board.ranked()[0]

    assert cells["exact"] == f"0.987 {best.low:.3f}–{best.high:.3f}"
    assert cells["Parameters"] == "325,923"
    assert cells["chrf"] == f"{best.scores['chrf'][0]:.3f}"
    assert cells["Peak memory"] == f"{best.peak_mb:.0f} MB"


def test_a_board_where_all_failed_still_has_a_table(boards):
    board = boards.make_board(("lstm",))
    board.rows = [Row.from_json(boards.make_failure())]

    _, rows = rows_of(board)

    assert len(rows) == 1
