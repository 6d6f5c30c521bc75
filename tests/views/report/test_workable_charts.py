"""Charts one can work with: what a reader points at, drags, types and copies, in a real browser."""

import csv
import io
import json
import math
import xml.etree.ElementTree as xml

import pytest

from atento.views import render_report

PLAN = """figure => {
    const { across, up, lines, left } = figure.querySelector("svg.interactive").plan;
    return { x: [across.low, across.high], y: [up.low, up.high], log: [across.log, up.log],
        series: Object.fromEntries(lines.map(({ series, points }) =>
            [series.name, points.map(({ x, y, raw, px, py, front }) => ({ x, y, raw, px, py, front: !!front }))])) };
}"""


@pytest.fixture
def training(boards):
    """A board whose models have told of their training every second, with a loss that jumps up and down."""
    board = boards.make_board()
    for row in board.rows:
        if row.curve:
            row.training = [
                {
                    "elapsed": at * 0.5,
                    "step": at * 10,
                    "loss": 3.0 / at + 0.5 + 0.1 * (-1) ** at,
                    "learning rate": 1e-3 * min(1, at / 20),
                }
                for at in range(1, 121)
            ]
    return board


def chart(page, name):
    return page.locator(f"figure[data-chart={name}]")


def plan_of(figure):
    return figure.evaluate(PLAN)


def hover(page, figure, place):
    box = figure.locator("svg.interactive").bounding_box()
    page.mouse.move(box["x"] + place["px"], box["y"] + place["py"] + 1)


def copied(page, figure, form):
    """What a button of the copy menu puts on the clipboard."""
    figure.locator(".menu summary").click()
    figure.get_by_role("button", name=f"as {form}").first.click()
    page.wait_for_function("document.querySelector('.menu[open] .form button').parentElement && true")
    text = page.evaluate("navigator.clipboard.readText()")
    page.keyboard.press("Escape")
    return text


def test_a_point_is_read_out_under_the_pointer_and_by_the_keyboard(training, open_page):
    page = open_page(render_report(training))
    figure = chart(page, "learning")
    figure.scroll_into_view_if_needed()
    row = training.ranked()[2]
    place = plan_of(figure)["series"][row.model][7]

    hover(page, figure, place)
    point = row.curve[7]
    words = figure.locator(".readout").inner_text()
    value = float(f"{point['value']:.4g}")
    assert words.startswith(f"{row.model} · exact on validation data {value:g}")
    assert f"step {point['step']:,}" in words and f"{point['elapsed']:g}" in words and "epochs" in words

    svg = figure.locator("svg.interactive")
    svg.focus()
    page.keyboard.press("Escape")
    assert figure.locator(".readout").inner_text() == ""
    page.keyboard.press("ArrowRight")
    first = training.ranked()[0]
    assert figure.locator(".readout").inner_text().startswith(f"{first.model} · ")
    assert f"step {first.curve[-1]['step']:,}" in figure.locator(".readout").inner_text()
    page.keyboard.press("ArrowLeft")
    assert f"step {first.curve[-2]['step']:,}" in figure.locator(".readout").inner_text()
    page.keyboard.press("ArrowDown")
    assert figure.locator(".readout").inner_text().startswith(training.ranked()[1].model)


def test_zoom_by_drag_and_by_keys_and_back(training, open_page):
    page = open_page(render_report(training))
    figure = chart(page, "learning")
    figure.scroll_into_view_if_needed()
    whole = plan_of(figure)
    name = training.ranked()[0].model
    start, stop = whole["series"][name][3], whole["series"][name][8]
    box = figure.locator("svg.interactive").bounding_box()

    page.mouse.move(box["x"] + start["px"], box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + stop["px"], box["y"] + 204, steps=4)
    page.mouse.up()
    assert plan_of(figure)["x"] == pytest.approx([start["x"], stop["x"]], rel=0.01)
    figure.get_by_role("button", name="Reset zoom").click()
    assert plan_of(figure)["x"] == whole["x"]

    figure.locator("svg.interactive").focus()
    page.keyboard.press("+")
    low, high = plan_of(figure)["x"]
    assert (high - low) * 1.6 == pytest.approx(whole["x"][1] - whole["x"][0], rel=0.01)
    page.keyboard.press("0")
    assert plan_of(figure)["x"] == whole["x"]


def test_axes_logarithms_and_smoothing(training, open_page):
    page = open_page(render_report(training))
    figure = chart(page, "learning")
    names = figure.get_by_label("vertical axis").locator("option").all_inner_texts()
    assert names == ["exact on validation data", "chrf on validation data", "training loss", "learning rate"]
    figure.get_by_label("vertical axis").select_option(label="training loss")
    figure.get_by_label("horizontal axis").select_option(label="epochs")
    row = training.ranked()[0]
    shown = plan_of(figure)["series"][row.model]
    assert [point["y"] for point in shown] == pytest.approx([one["loss"] for one in row.training], rel=1e-6)
    share = row.epochs / row.steps
    assert [point["x"] for point in shown] == pytest.approx([one["step"] * share for one in row.training], rel=1e-6)

    figure.get_by_label("log y").check()
    plan = plan_of(figure)
    ratio = (math.log(shown[0]["y"]) - math.log(shown[60]["y"])) / (math.log(shown[0]["y"]) - math.log(shown[119]["y"]))
    heights = [point["py"] for point in plan["series"][row.model]]
    assert plan["log"] == [False, True]
    assert (heights[60] - heights[0]) / (heights[119] - heights[0]) == pytest.approx(ratio, rel=0.01)

    assert figure.locator("polyline.raw").count() == 0
    figure.get_by_label("smoothing").fill("0.9")
    smooth = [point["y"] for point in plan_of(figure)["series"][row.model]]
    wanted, last = [], 0.0
    for count, one in enumerate(row.training, start=1):
        last = 0.9 * last + 0.1 * one["loss"]
        wanted.append(last / (1 - 0.9**count))
    assert smooth == pytest.approx(wanted, rel=1e-5)
    assert figure.locator("polyline.raw").count() == 6


def test_the_validation_loss_stands_beside_the_training_loss(training, open_page):
    for row in training.rows:
        for at, point in enumerate(row.curve):
            point["validation loss"] = 2.0 - 0.1 * at
    page = open_page(render_report(training), permissions=["clipboard-read", "clipboard-write"])
    figure = chart(page, "learning")
    figure.get_by_label("vertical axis").select_option(label="loss (dashed: on validation data)")
    assert figure.locator("g.dashed polyline").count() == 6
    rows = json.loads(copied(page, figure, "JSON"))
    own = [one for one in rows if one["series"] == "gru"]
    assert len(own) == 120 + 12 and own[-1]["validation loss"] == pytest.approx(0.9) and "loss" not in own[-1]
    figure.locator("svg.interactive").focus()
    page.keyboard.press("ArrowRight")
    assert "· training loss" in figure.locator(".readout").inner_text()
    page.keyboard.press("ArrowDown")
    assert "· validation loss" in figure.locator(".readout").inner_text()


def test_data_and_drawing_of_a_chart_can_be_copied(training, open_page):
    page = open_page(render_report(training), permissions=["clipboard-read", "clipboard-write"])
    figure = chart(page, "learning")
    rows = list(csv.DictReader(io.StringIO(copied(page, figure, "CSV"))))
    row = training.ranked()[1]
    own = [one for one in rows if one["series"] == row.model]
    assert [float(one["exact"]) for one in own] == pytest.approx([point["value"] for point in row.curve], rel=1e-6)
    assert [int(one["step"]) for one in own] == [point["step"] for point in row.curve]
    assert len(json.loads(copied(page, figure, "JSON"))) == len(rows)
    drawing = xml.fromstring(copied(page, figure, "SVG"))
    lines = [part for part in drawing.iter() if part.tag.endswith("polyline")]
    assert drawing.tag.endswith("svg") and all(line.get("stroke", "").startswith("rgb") for line in lines)
    page.locator("#repeat pre").first.scroll_into_view_if_needed()
    page.get_by_role("button", name="Copy command").first.click()
    assert page.evaluate("navigator.clipboard.readText()") == training.command


def test_a_run_of_ten_thousand_events_stays_small_and_says_that_it_is_thinned(boards):
    board = boards.make_board()
    for row in board.rows:
        if row.curve:
            losses = [9.0 if at == 7_777 else 1 / at for at in range(1, 10_001)]
            row.training = [{"elapsed": at, "step": at, "loss": loss} for at, loss in enumerate(losses, start=1)]
            row.curve = [{**row.curve[0], "elapsed": at, "step": at, "value": at / 2_000} for at in range(1, 1_001)]
    page = render_report(board)
    assert len(page.encode()) < 3_000_000
    assert "Long curves are thinned to 400 points" in page
    data = json.loads(page.partition('id="chart-learning">')[2].partition("</script>")[0])
    losses = next(one for one in data["series"] if one["name"] == "lstm")["tables"]["training"]["loss"]
    assert 300 < len(losses) <= 400 and max(losses) == 9.0 and losses[-1] == 1e-4  # no peak is lost
    assert "thinned" not in render_report(boards.make_board()).partition("<script")[0]


@pytest.mark.parametrize("width, scheme", [(360, "dark"), (1600, "light")])
def test_charts_fit_their_page_and_numbers_are_not_cut_off(training, open_page, width, scheme):
    page = open_page(render_report(training), width=width, color_scheme=scheme)
    for name in ("costs", "learning"):
        outside = chart(page, name).evaluate(
            """figure => { const box = figure.querySelector("svg.interactive").getBoundingClientRect();
            return [...figure.querySelectorAll("svg.interactive text")].map(text => text.getBoundingClientRect())
                .filter(text => text.left < box.left - 1 || text.right > box.right + 1
                    || text.bottom > box.bottom + 1).length }"""
        )
        assert outside == 0
    legend = chart(page, "learning").locator(".legend button")
    if width == 360:
        assert legend.count() == 7
        legend.first.click()
        assert training.ranked()[0].model not in plan_of(chart(page, "learning"))["series"]
    else:
        label = chart(page, "learning").locator("svg.interactive g.label").first
        label.focus()
        page.keyboard.press("Enter")
        assert training.ranked()[0].model not in plan_of(chart(page, "learning"))["series"]
