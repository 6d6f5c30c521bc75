import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from atento.metrics.classes import one_label_report
from atento.views import AlignmentView, Comparison, Row, render_report

LIMIT = 3_000_000
HOSTILE = "</script><img src=x onerror=alert(1)>\u2028 <b>&amp; ‮שלום مرحبا 😀\x1b[2J " + "Donaudampfschiff" * 40


def widths(page):
    return page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")


def make_hostile(board):
    """Put the worst text in every place that holds text."""

    def spoil(value):
        if isinstance(value, str):
            return value + HOSTILE
        if isinstance(value, dict):
            return {key: item if key in KEPT else spoil(item) for key, item in value.items()}
        return [spoil(item) for item in value] if isinstance(value, list) else value

    KEPT = {"metric", "metrics", "weights", "kind", "failed"}
    spoiled = spoil(board.to_json())
    spoiled["metrics"] = {name: HOSTILE for name in board.metrics}
    spoiled["rows"][1]["failed"] = HOSTILE
    return Comparison.from_json(spoiled)


def test_the_answer_stands_first(board, open_page):
    page = open_page(render_report(board))

    scroll, client = widths(page)
    assert scroll <= client
    assert page.title() == "numbers: report"
    assert page.inner_text("h1") == "numbers"
    assert page.inner_text(".verdict") == board.verdict[0]
    assert page.locator(".verdict").bounding_box()["y"] < 400
    facts = "8 models · 60 s of training each · 2,000 test examples · on cpu · 2026-11-15 09:00"
    assert page.inner_text("header .note") == facts
    assert page.locator("svg.curves:visible").count() == 2
    assert page.locator(".panels figure").count() == 7
    assert page.locator("#mistakes details").count() == 7
    assert page.locator("#repeat details").count() == 8


def test_errors_that_are_not_shown_are_told(board):
    rows = [row for row in board.rows if not row.failed]
    for row in rows:
        row.value, row.low, row.high, row.curve, row.baseline = 0.3, 0.29, 0.31, [], False
    rows[0].curve = [{"elapsed": 1.0, "value": 0.28}, {"elapsed": 2.0, "value": 0.27}]
    rows[1].baseline = True
    rows[2].value, rows[2].low, rows[2].high, rows[2].baseline = 1.5, 1.4, 1.6, True
    page = render_report(replace(board, smaller_is_better=True))
    assert f"Too large to be shown: {rows[2].model} 1.500." in page
    assert "an arrow stands for what is far off" in page
    page = render_report(board).partition('<script type="module"')[0]
    assert "Too large" not in page and "an arrow" not in page


def test_headings_go_down_one_step_at_a_time_and_drawings_can_be_listened_to(board, open_page):
    page = open_page(render_report(board))

    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(heading => Number(heading.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    mute = "svg:not([aria-hidden]):not([aria-label]), canvas:not([aria-label]), select:not([aria-label]):not([id])"
    assert page.locator(mute).count() == 0


@pytest.mark.parametrize("width", [360, 800])
def test_no_page_scrolls_sideways(board, open_page, width):
    page = open_page(render_report(board), width=width)

    scroll, client = widths(page)

    assert scroll <= client


def test_every_text_is_shown_as_text(board, open_page):
    page = open_page(render_report(make_hostile(board)), width=360)

    assert page.evaluate("document.querySelectorAll('img, b').length") == 0
    assert "</script><img src=x onerror=alert(1)>" in page.text_content("h1")
    for part in ("#attention", "#results", "#costs", "#learning", "#mistakes", "#facts"):
        assert "</script><img src=x onerror=alert(1)>" in page.text_content(part)
    assert page.locator("canvas").count() > 0
    scroll, client = widths(page)
    assert scroll <= client


def test_nothing_but_our_own_script_may_run(board, open_page):
    html = render_report(board)

    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html).group(1)
    assert "default-src &#x27;none&#x27;" in policy
    assert "unsafe" not in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|//cdn|@import|url\((?!#)", html)
    page = open_page(html.replace("<main>", "<main><p id=victim>safe</p><script>victim.textContent = 'run'</script>"))
    assert page.inner_text("#victim") == "safe"
    assert "Executing inline script violates" in open_page.troubles.pop()


def test_charts_and_words_need_no_script(board, open_page):
    page = open_page(render_report(board), java_script_enabled=False)

    assert page.locator("svg.curves:visible").count() == 2
    assert page.locator("svg.strip:visible").count() == 8
    assert "The maps need JavaScript" in page.inner_text("noscript")


def test_a_page_of_seven_models_and_many_heads_stays_small(boards):
    board = boards.make_board()
    noise = np.random.default_rng(0)
    board.alignments = [
        AlignmentView(
            model=row.model,
            kind="chosen",
            source=list("abcdef" * 11),
            output=[f"word{number}" for number in range(12)],
            reference=f"example {example}",
            correct=True,
            weights=noise.dirichlet(np.ones(66), size=(layers, heads, 12)).tolist(),
        )
        for row, (layers, heads) in zip(board.rows, [(1, 1)] * 4 + [(2, 4), (3, 4), (6, 8), (1, 1)], strict=True)
        for example in range(8)
    ]

    assert 500_000 < len(render_report(board).encode()) < LIMIT


def test_a_single_run_has_the_same_report(boards, open_page):
    board = boards.make_board(("transformer",), with_failure=False)
    board.verdict = []

    page = open_page(render_report(board))

    assert page.inner_text(".kicker") == "atento run · translate"
    assert page.inner_text(".verdict").startswith("transformer: exact 0.942")
    assert page.locator("canvas").count() == 1


def test_classes_stand_below_the_results_and_fit_a_phone(board, open_page):
    """Of each model in a fold of its own, the best model's open; hostile names of classes stay text, and fit."""
    labels = [f"class {number} {HOSTILE}" for number in range(12)]
    report = one_label_report(labels, [[label] for label in labels[1:] + labels[:1]], [0.5] * 12)
    for row in board.rows:
        row.other["class_report"] = report
    page = open_page(render_report(board), width=390)
    assert page.locator("#details details").count() == len(board.ranked())
    assert page.locator("#details details[open]").count() == 1
    assert page.locator("#details details[open] table.details").count() == 3
    scroll, client = widths(page)
    assert scroll <= client


def test_a_row_without_test_examples_has_no_score(boards):
    board = boards.make_board(("lstm",), with_failure=False)
    row = boards.make_row("lstm", value=None, low=None, high=None, scores={"exact": [None] * 3}, lengths=[])
    page = render_report(replace(board, rows=[row], winner=None, verdict=[]))
    assert "there are no test examples" in page and "0.000" not in page.partition("Learning")[0]
    alone = boards.make_row(
        "lstm", low=None, high=None, lengths=[{**one, "low": None, "high": None} for one in row_bands(boards)]
    )
    assert (
        "nan" not in render_report(replace(board, rows=[alone])).partition("<main")[2].partition("Repeat it")[0].lower()
    )


def row_bands(boards):
    return boards.make_row("lstm").lengths


def test_parts_without_content_are_left_out(boards, open_page):
    board = boards.make_board(("nearest",))
    board.alignments = [AlignmentView(model="lstm", source=["a"], output=["b"], weights=[])]
    board.rows = [Row.from_json(boards.make_failure())]
    board.winner, board.verdict, board.share, board.budget = None, [], None, None

    page = open_page(render_report(board))

    assert page.inner_text(".verdict") == "No model finished."
    assert page.locator("section").evaluate_all("parts => parts.map(part => part.id)") == ["results", "repeat", "facts"]


def test_paper_shows_what_was_folded_and_is_light_even_from_a_dark_screen(board, open_page):
    page = open_page(render_report(board), color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    page.evaluate(
        """() => addEventListener("beforeprint", () => {
            const canvas = document.querySelector("canvas");
            const { left, top, cell, width } = canvas.attention;
            const detail = canvas.width / width;
            const far = canvas.getContext("2d").getImageData((left + 10.5 * cell) * detail, (top + 5) * detail, 1, 1);
            const folded = document.querySelectorAll("details:not([open])").length;
            window.paper = { folded, far: [...far.data], detail };
        })"""
    )

    pdf = page.pdf(format="A4", print_background=False)

    assert pdf.startswith(b"%PDF")
    assert 4 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 14
    paper = page.evaluate("window.paper")
    assert paper["folded"] == 0
    assert paper["detail"] >= 2.9
    assert min(paper["far"]) > 200
    assert page.locator("#mistakes details[open]").count() == 1
