import xml.etree.ElementTree as xml
from itertools import pairwise

import pytest

from atento.views import Comparison
from atento.views.report import charts

WIDTH, HEIGHT = 1000.0, 420.0


def parts(svg, *, name, class_):
    found = [part for part in xml.fromstring(svg).iter(name) if class_ in part.get("class", "").split()]
    assert found, f"no {name}.{class_}"
    return found


def points(part):
    return [tuple(map(float, pair.split(","))) for pair in part.get("points").split()]


def straight(pairs):
    """The one line through (number, place) pairs, as a function from number to place."""
    (first, at_first), (last, at_last) = pairs[0], pairs[-1]
    return lambda number: at_first + (number - first) * (at_last - at_first) / (last - first)


def axis(svg, *, coordinate):
    """Read the scale off the labels of the ticks."""
    ticks = parts(svg, name="text", class_="tick")
    numbers = [tick for tick in ticks if tick.text.replace(".", "").isdigit()]
    wanted = "end" if coordinate == "y" else "middle"
    shift = -4 if coordinate == "y" else 0
    return straight(
        [(float(t.text), float(t.get(coordinate)) + shift) for t in numbers if t.get("text-anchor") == wanted]
    )


def test_dot_and_whisker_stand_where_the_axis_says(board):
    scale = charts.strip_scale(board)
    row, best = board.ranked()[4], board.ranked()[0]
    place = axis(charts.strip_axis(scale), coordinate="x")

    svg = charts.interval_strip(row, scale, band=best, accent=False)

    dot = parts(svg, name="circle", class_="dot")[0]
    whisker = parts(svg, name="path", class_="whisker")[0].get("d")
    band = parts(svg, name="rect", class_="band")[0]
    assert float(dot.get("cx")) == pytest.approx(place(row.value), abs=0.02)
    assert whisker.startswith(f"M{place(row.low):.2f} 23.00L{place(row.high):.2f} 23.00")
    assert float(band.get("x")) == pytest.approx(place(best.low), abs=0.02)
    assert float(band.get("width")) == pytest.approx(place(best.high) - place(best.low), abs=0.02)


def test_every_curve_goes_through_its_validations(board):
    svg = charts.learning_curves(board, width=WIDTH, height=HEIGHT)
    trained = [row for row in board.ranked() if row.curve]
    across, up = axis(svg, coordinate="x"), axis(svg, coordinate="y")

    lines = parts(svg, name="polyline", class_="line")

    assert len(lines) == len(trained) == 6
    for line, row in zip(lines, trained, strict=True):
        wanted = [(across(point["elapsed"]), up(point["value"])) for point in row.curve]
        assert points(line) == [pytest.approx(pair, abs=0.1) for pair in wanted]


def test_baselines_are_level_lines_and_every_line_has_its_name(board):
    svg = charts.learning_curves(board, width=WIDTH, height=HEIGHT)
    nearest = board.ranked()[-1]

    level = parts(svg, name="line", class_="baseline")[0]
    names = {label.find("text").text for label in parts(svg, name="g", class_="label")}

    assert float(level.get("y1")) == pytest.approx(axis(svg, coordinate="y")(nearest.value), abs=0.1)
    assert names == {row.model for row in board.ranked()}


def test_names_do_not_run_into_each_other_or_out_of_the_picture(boards):
    board = boards.make_board()
    for number in range(13):
        board.rows.append(boards.make_row("lstm+dot", model=f"a model with a rather long name {number}"))

    for width in (WIDTH, 340.0):
        svg = charts.learning_curves(board, width=width, height=HEIGHT)
        labels = [label.find("text") for label in parts(svg, name="g", class_="label")]
        heights = sorted(float(label.get("y")) for label in labels)

        assert len(labels) == 20
        assert min(after - before for before, after in pairwise(heights)) > 15
        assert heights[0] > 0
        assert heights[-1] < HEIGHT
        assert max(float(label.get("x")) + charts.LETTER * len(label.text) for label in labels) <= width


def test_two_models_never_share_both_colour_and_marker():
    styles = set()
    for number in range(20):
        group = xml.fromstring(charts.curve([charts.Point(0, 0), charts.Point(1, 1)], number))
        styles.add((group.get("class").split()[1], group.find("path").get("d")))

    assert len(styles) == 20


def test_validations_without_a_number_are_left_out(board):
    row = board.ranked()[0]
    row.curve[0]["value"] = None
    row.curve[1]["value"] = float("nan")

    assert len(charts.curve_points(row)) == len(row.curve) - 2


def test_without_curves_there_is_no_chart(boards):
    assert charts.learning_curves(boards.make_board(("nearest",)), width=WIDTH, height=HEIGHT) == ""


@pytest.mark.parametrize("seconds, unit", [(60.0, "seconds"), (600.0, "minutes"), (36_000.0, "hours")])
def test_time_is_told_in_a_unit_that_suits(board, seconds, unit):
    for row in board.rows:
        for point in row.curve:
            point["elapsed"] *= seconds / 60

    assert f"{unit} of training" in charts.learning_curves(board, width=WIDTH, height=HEIGHT)


def test_length_panel_shows_the_fall_of_a_fixed_vector(board):
    rows = {row.model: row for row in board.ranked()}
    limits = charts.length_limits(list(rows.values()))

    for row in (rows["lstm"], rows["lstm+additive"]):
        svg = charts.length_panel(row, [rows["gru"]], limits, accent=False)
        up = axis(svg, coordinate="y")
        dots = parts(svg, name="circle", class_="dot")
        values = [group["value"] for group in row.lengths]
        assert [float(dot.get("cy")) for dot in dots] == pytest.approx([up(value) for value in values], abs=0.1)
        labels = [tick.text for tick in parts(svg, name="text", class_="tick")]
        assert labels[-3:] == ["3–35", "36–48", "49–66"]


def test_charts_say_their_numbers_to_those_who_listen(board):
    rows = board.ranked()
    svg = xml.fromstring(charts.length_panel(rows[0], [], charts.length_limits(rows), accent=True))

    assert svg.get("role") == "img"
    assert svg.get("aria-label").startswith("lstm+additive: 1.000 for lengths 3–35")


def test_a_small_error_is_not_written_as_none():
    values = (0.0, 0.0024, 0.5, 12.346)
    assert [charts.short(value) for value in values] == ["0.00", "0.0024", "0.50", "12.35"]


def errors_of(values, learned):
    """A board of errors: baselines by name, and the validations of one model that ends at the first of them."""
    rows = [
        {"model": name, "baseline": True, "value": value, "low": 0.9 * value, "high": 1.1 * value, "lengths": []}
        for name, value in values.items()
    ]
    curve = [{"elapsed": float(at), "value": value} for at, value in enumerate(learned)]
    model = {"model": "gru", "value": learned[-1], "low": learned[-1], "high": learned[-1], "curve": curve}
    document = {"title": "", "task": "forecast", "metric": "mse", "metrics": {}, "rows": [*rows, model]}
    return Comparison.from_json({**document, "smaller_is_better": True, "winner": "gru"})


def test_errors_far_off_leave_room_for_the_others():
    board = errors_of({"ridge": 0.32, "seasonal": 0.37, "drift": 1.5, "last-value": 1.4}, [0.27, 0.26])
    assert [row.model for row in charts.beyond(board)] == ["last-value", "drift"]
    svg = charts.learning_curves(board, width=WIDTH, height=HEIGHT)
    assert {label.find("text").text for label in parts(svg, name="g", class_="label")} == {"gru", "ridge", "seasonal"}
    assert axis(svg, coordinate="y")(0.5) < 14.0  # above the picture

    scale, best = charts.strip_scale(board), board.ranked()[0]
    marks = {row.model: charts.interval_strip(row, scale, band=best, accent=False) for row in board.ranked()}
    assert [name for name, svg in marks.items() if "whisker off" in svg] == ["last-value", "drift"]
    assert [name for name, svg in marks.items() if 'class="dot"' in svg] == ["gru", "ridge", "seasonal"]


def test_errors_that_are_powers_apart_are_all_shown():
    board = errors_of({"polynomial": 6e-13, "ridge": 1.4}, [2e-9, 3e-10])
    assert charts.beyond(board) == []
    svg = charts.learning_curves(board, width=WIDTH, height=HEIGHT)
    places = [float(line.get("y1")) for line in parts(svg, name="line", class_="baseline")]
    curve = points(parts(svg, name="polyline", class_="line")[0])
    assert places[1] < curve[0][1] < curve[1][1] < places[0]
    assert curve[1][1] - curve[0][1] > 0.04 * HEIGHT
    assert not charts.is_off(board.ranked()[-1], charts.strip_scale(board))
