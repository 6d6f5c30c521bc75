from atento.views import Row
from atento.views.report.mistakes import in_line, is_right, marked, mistakes


def test_words_the_reference_lacks_are_marked():
    assert marked("ninety thousand <nine>", "ninety-nine thousand <nine>") == (
        "<mark>ninety</mark> thousand &lt;nine&gt;"
    )


def test_nothing_written_is_said():
    assert marked(" ", "eleven") == "<em>nothing</em>"


def test_a_very_long_output_is_shown_without_marks():
    assert "<mark>" not in marked("a " * 500, "b " * 500)


def test_any_reference_will_do():
    example = {"output": "b", "reference": "a", "references": ["a", "b"]}

    assert is_right(example)
    assert not is_right({"output": "b", "reference": "a"})


def test_lists_are_read_as_lines():
    assert is_right({"output": ["DET", "NOUN"], "reference": "DET\tNOUN"})
    assert not is_right({"output": ["DET", "VERB"], "reference": "DET\tNOUN"})
    assert in_line([["joy", "anger"], ["joy", "anger", "fear"]]) == "joy anger"


def test_wrong_ones_come_first(boards):
    html = mistakes(boards.make_row("lstm"), is_open=False)

    assert "2 mistakes, 3 shown" in html
    assert html.index("seventeen thousand eighty") < html.index("right, but least sure")


def test_forecasts_are_far_off_rather_than_wrong_and_not_marked():
    worst = [{"source": "until 2020", "output": "1, 2", "reference": "5, 6", "score": None}]
    shown = mistakes(Row(model="gru", worst=worst, mistakes=249), is_open=True, far=True)
    assert "the 1 farthest off" in shown and "249" not in shown and "<mark>" not in shown
    assert "Forecast" in shown and "Actual" in shown
