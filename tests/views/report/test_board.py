import json

from atento.views import Comparison, Row


def test_best_stand_first_and_failed_apart(board):
    values = [row.value for row in board.ranked()]

    assert values == sorted(values, reverse=True)
    assert [row.model for row in board.failed()] == ["transformer-deep"]
    assert len(board.ranked()) + len(board.failed()) == len(board.rows)


def test_the_winner_leads_its_equals_and_has_the_accent(board):
    dot = next(row for row in board.rows if row.model == "lstm+dot")
    dot.value = board.ranked()[0].value

    assert board.ranked()[0].model == "lstm+additive"
    assert board.series()["lstm+additive"] == 0
    assert sorted(board.series().values()) == list(range(7))


def test_standing_is_said_in_words(board):
    said = {row.model: board.standing(row) for row in board.ranked()}

    assert said["lstm+additive"] == said["lstm+dot"] == ["tied"]  # nobody is crowned
    assert said["nearest"] == ["baseline"]
    assert said["gru"] == []
    board.ties = ()
    board.rows[0].same_as = "ridge"
    assert board.rows[0].model == "lstm+additive" and board.standing(board.rows[0]) == ["winner", "= ridge"]


def test_a_run_alone_wins_nothing(boards):
    board = boards.make_board(("lstm",), with_failure=False)

    assert board.standing(board.rows[0]) == []


def test_a_board_survives_json_and_becomes_a_table(board):
    again = Comparison.from_json(json.loads(json.dumps(board.to_json())))

    assert json.dumps(again.to_json()) == json.dumps(board.to_json())
    table = again.to_columns()
    assert table["model"] == [row.model for row in [*board.ranked(), *board.failed()]]
    assert table["exact"][0] == board.ranked()[0].value and table["exact"][-1] is None
    assert len({len(column) for column in table.values()}) == 1


def test_what_a_row_does_not_know_is_kept():
    row = Row.from_json({"model": "gru", "value": 0.5, "threads": 2})

    assert row.other == {"threads": 2} and row.to_json()["threads"] == 2
    assert row.interval.value == 0.5 and row.interval.low != row.interval.low


def test_a_value_that_is_no_number_is_a_failure(board):
    board.rows[0].value = float("nan")

    assert board.rows[0] in board.failed()
