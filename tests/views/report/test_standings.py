from atento.views.report.standings import failed, ranked, series, standing


def test_best_stand_first_and_failed_apart(board):
    values = [row["value"] for row in ranked(board)]

    assert values == sorted(values, reverse=True)
    assert [row["model"] for row in failed(board)] == ["transformer-deep"]
    assert len(ranked(board)) + len(failed(board)) == len(board["rows"])


def test_the_winner_leads_its_equals_and_has_the_accent(board):
    dot = next(row for row in board["rows"] if row["model"] == "lstm+dot")
    dot["value"] = ranked(board)[0]["value"]

    assert ranked(board)[0]["model"] == "lstm+additive"
    assert series(board)["lstm+additive"] == 0
    assert sorted(series(board).values()) == list(range(7))


def test_standing_is_said_in_words(board):
    said = {row["model"]: standing(board, row) for row in ranked(board)}

    assert said["lstm+additive"] == ["winner"]
    assert said["lstm+dot"] == ["tied"]
    assert said["nearest"] == ["baseline"]
    assert said["gru"] == []


def test_a_run_alone_wins_nothing(boards):
    board = boards.make_board(("lstm",), with_failure=False)

    assert standing(board, board["rows"][0]) == []


def test_a_value_that_is_no_number_is_a_failure(board):
    board["rows"][0]["value"] = float("nan")

    assert board["rows"][0] in failed(board)
