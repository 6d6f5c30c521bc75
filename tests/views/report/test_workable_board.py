"""The board in a browser: its numbers are those of the comparison everywhere; rows are sorted, filtered and hidden."""

import json

import pytest

from atento.metrics.classes import one_label_report
from atento.views import render_report
from atento.views.report.costs import COSTS, cost_data, pareto_front

COLUMNS = {
    "Parameters": "parameters",
    "Training": "seconds",
    "Trained examples/s": "examples_per_second",
    "Predictions/s": "predictions_per_second",
    "Peak memory": "peak_mb",
}


def names(page):
    rows = page.locator("table.results tbody tr:visible")
    return rows.evaluate_all("rows => rows.map(row => row.dataset.model)")


def plan_of(page, name):
    return page.locator(f"figure[data-chart={name}]").evaluate(
        """figure => Object.fromEntries(figure.querySelector("svg.interactive").plan.lines.map(({ series, points }) =>
        [series.name, points.map(({ x, y, low, high, front }) => ({ x, y, low, high, front: !!front }))[0]]))"""
    )


@pytest.mark.spec("V09")
def test_page_table_scatter_and_copied_data_hold_the_numbers_of_the_board(board, open_page):
    """Quality with its interval, time, memory, parameters and quality against length, everywhere the same."""
    for row in board.ranked():
        row.exposure = {"forced": {"tokens": 0.9, "exact": 0.8}, "free": {"tokens": row.value, "exact": 0.7}}
    page = open_page(render_report(board), permissions=["clipboard-read", "clipboard-write"])
    page.locator("#results .menu summary").click()
    page.get_by_role("button", name="Copy results as JSON").click()
    copied = {one["Model"]: one for one in json.loads(page.evaluate("navigator.clipboard.readText()"))}

    assert list(copied) == [row.model for row in [*board.ranked(), *board.failed()]]
    for row in board.ranked():
        one = copied[row.model]
        assert [one["exact"], one["exact low"], one["exact high"]] == [row.value, row.low, row.high]
        assert [one[name] for name in COLUMNS] == [getattr(row, key) for key in COLUMNS.values()]
        assert one["bleu"] == row.scores["bleu"][0] and one["Token accuracy, free running"] == row.value
    figure = page.locator("figure[data-chart=costs]")
    for cost in COSTS:
        figure.get_by_label("horizontal axis").select_option(label=cost.name)
        places = plan_of(page, "costs")
        front = pareto_front(board.ranked(), cost, smaller_is_better=False)
        for row in board.ranked():
            found, wanted = places[row.model], (getattr(row, cost.key), row.value, row.low, row.high)
            assert [found["x"], found["y"], found["low"], found["high"]] == pytest.approx(wanted, rel=1e-6)
            assert found["front"] == (row in front)
    spoken = page.locator(".panels svg").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert spoken[0] == "lstm+additive: 1.000 for lengths 3–35; 0.995 for lengths 36–48; 0.966 for lengths 49–66."
    assert len(spoken) == len(board.ranked())


def test_the_front_holds_those_that_no_other_beats(board):
    """Recomputed by comparing every pair."""
    rows = board.ranked()
    for cost in COSTS:
        for smaller in (False, True):

            def beats(one, other, cost=cost, smaller=smaller):
                dear = [getattr(row, cost.key) * (1 if cost.smaller_is_better else -1) for row in (one, other)]
                bad = [row.value * (1 if smaller else -1) for row in (one, other)]
                return dear[0] <= dear[1] and bad[0] <= bad[1] and (dear[0] < dear[1] or bad[0] < bad[1])

            wanted = {row.model for row in rows if not any(beats(other, row) for other in rows)}
            assert {row.model for row in pareto_front(rows, cost, smaller_is_better=smaller)} == wanted
    data = cost_data(board).to_json()
    assert [axis["key"] for axis in data["x"]] == [axis.key for axis in COSTS]


def test_rows_are_sorted_filtered_and_hidden_and_charts_follow(board, open_page):
    page = open_page(render_report(board))
    best_first = names(page)
    heading = page.locator("table.results thead th", has_text="Parameters")
    heading.get_by_role("button").focus()
    page.keyboard.press("Enter")
    counts = {row.model: row.parameters for row in board.ranked()}
    assert names(page)[:-1] == sorted(counts, key=lambda model: -counts[model])  # the failed one stays last
    assert heading.get_attribute("aria-sort") == "descending"
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending" and names(page)[0] == "nearest"
    assert names(page)[-1] == "transformer-deep"
    assert page.locator("[aria-sort]").count() == 1

    page.get_by_label("Filter models").fill("LSTM")
    assert sorted(names(page)) == ["lstm", "lstm+additive", "lstm+dot"]
    assert sorted(plan_of(page, "costs")) == ["lstm", "lstm+additive", "lstm+dot"]
    page.get_by_label("Filter models").fill("")
    page.locator("table.results").get_by_role("button", name="Hide gru+general").press("Enter")
    assert "gru+general" not in names(page) and "gru+general" not in plan_of(page, "learning")
    page.get_by_role("button", name="Show 1 hidden").click()
    page.locator("table.results thead th", has_text="exact").get_by_role("button").click()
    assert names(page) == best_first


def test_a_phone_sorts_too(board, open_page):
    page = open_page(render_report(board), width=360)
    page.get_by_label("Sort by").select_option(label="Predictions/s")
    rates = [row.predictions_per_second for row in sorted(board.ranked(), key=lambda row: -row.predictions_per_second)]
    found = page.locator("table.results tbody tr:not(.failed) td[data-label='Predictions/s']")
    assert [float(text) for text in found.evaluate_all("all => all.map(one => one.dataset.value)")] == rates


def test_a_confusion_matrix_is_read_out_and_wrong_predictions_are_marked(board, open_page):
    true, said = ["yes"] * 6 + ["no"] * 4, ["yes", "yes", "no", "yes", "no", "yes", "no", "no", "yes", "no"]
    report = one_label_report(said, [[one] for one in true])
    for row in board.rows:
        row.other["class_report"] = report
        row.worst = [
            {"source": "a", "output": "no", "reference": "yes", "probabilities": {"no": 0.75, "yes": 0.25}},
            {"source": "b", "output": "yes", "reference": "no", "score": -2.0},
        ]
    page = open_page(render_report(board))
    table = page.locator("#details details[open] table.matrix")
    table.locator("td").nth(1).hover()
    readout = page.locator("#details details[open] .readout")
    assert readout.inner_text() == "2 of 6 examples of yes are taken for no: 33.3 %"
    table.locator("td").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert readout.inner_text() == "3 of 4 examples of no are found: 75.0 %"

    worst = page.locator("#mistakes details[open]")
    assert worst.locator(".wrong").all_inner_texts() == ["wrong", "wrong"]
    assert worst.locator(".chances dt").all_inner_texts() == ["no", "yes (true)"]
    assert worst.locator(".chances dd").all_inner_texts() == ["75 %", "25 %"]
    worst.get_by_label("true class").select_option("no")
    assert worst.locator("li:visible").count() == 1
    by_class = page.locator("#details > .scroll table tbody tr").first.locator("td").all_inner_texts()
    assert by_class == ["6", *["0.727"] * 7]


def test_notes_are_a_list_and_many_refusals_are_folded(board, open_page):
    board.data = {**board.data, "refused": [f"line {number}: no target" for number in range(31)]}
    page = open_page(render_report(board))
    facts = page.locator(".facts > div")
    assert facts.filter(has_text="Notes").locator("li").all_inner_texts() == board.data["notes"]
    refused = facts.filter(has_text="Refused")
    assert refused.locator("li:visible").count() == 8
    refused.locator("summary").click()
    assert refused.locator("li:visible").count() == 31


def test_a_name_breaks_after_a_plus_alone(boards, open_page):
    board = boards.make_board(("lstm+additive", "gru"), with_failure=False)
    for row in board.rows:
        row.model = "lstm+additive+sparsemax" if row.model == "lstm+additive" else row.model
    board.winner = "lstm+additive+sparsemax"
    page = open_page(render_report(board))
    lines = page.locator("table.results bdi").first.evaluate(
        """name => { name.parentElement.style.width = "60px"; name.parentElement.style.minWidth = "0";
        return [...name.childNodes].filter(node => node.nodeType === 3).map(node => {
            const own = document.createRange();
            own.selectNodeContents(node);
            return own.getClientRects().length; }); }"""
    )
    assert lines == [1, 1, 1]
