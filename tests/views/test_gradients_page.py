import math
import re
from itertools import pairwise

import pytest

from atento.models.diagnostics import GradientFlow
from atento.views import GradientFlowView
from atento.views.gradients import render_gradient_flow


@pytest.fixture
def flow(boards):
    return boards.make_flow()


@pytest.mark.spec("V06")
def test_a_browser_shows_the_curves_and_the_numbers(flow, open_page):
    page = open_page(render_gradient_flow(flow))
    assert page.locator(".verdict").inner_text() == flow.flow.words
    assert page.locator(".more").inner_text() == flow.flow.remedy
    assert page.locator("svg.curves polyline.line:visible").count() == 2
    assert page.locator("svg.curves polygon.shade:visible").count() == 2
    ticks = page.locator("svg.curves .tick:visible").all_text_contents()
    assert "1" in ticks and "0.001" in ticks and not any(len(tick) > 6 for tick in ticks if tick[0].isdigit())
    rows = page.locator("tbody tr")
    assert rows.count() == 2
    assert "halves every 1 steps" in rows.nth(1).inner_text()
    assert "update 25 % nearly shut, 3 % nearly open" in rows.nth(1).inner_text()


@pytest.mark.spec("V06")
def test_points_stand_where_the_logarithm_says(flow):
    """The worst first: 0.5 a step, straight down to where next to nothing is left; lag 19 is below a millionth."""
    line = re.search(r'polyline class="line" points="([^"]+)"', render_gradient_flow(flow))[1]
    points = [tuple(map(float, point.split(","))) for point in line.split()]
    assert len(points) == 20
    powers = [math.log10(0.5**lag) for lag in range(20)]
    drop = (points[-1][1] - points[0][1]) / (powers[-1] - powers[0])
    for (_, height), power in zip(points, powers, strict=True):
        assert abs(height - points[0][1] - drop * power) < 0.1
    steps = {round(after[0] - before[0], 0) for before, after in pairwise(points)}
    assert len(steps) <= 2


def test_names_cannot_break_the_page(boards):
    flow = GradientFlow((boards.make_flow_part(name="<i>"),), attends=False)
    page = render_gradient_flow(GradientFlowView(model="<b>gru", flow=flow))
    assert "<b>gru" not in page and "<i>" not in page


@pytest.mark.spec("V06")
def test_it_reads_on_a_phone(flow, open_page):
    """The chart is as wide as the page, its letters are not shrunk, and pointing at it tells a norm with quartiles."""
    page = open_page(render_gradient_flow(flow), width=380, color_scheme="dark")
    svg = page.locator("#flow svg.interactive")
    box = svg.bounding_box()
    assert box["width"] > 320 and svg.get_attribute("viewBox").split()[2] == f"{round(box['width'])}"
    svg.focus()
    page.keyboard.press("ArrowRight")
    said = page.locator("#flow .readout").text_content()
    assert "norm of the gradient" in said and "–" in said and "lag" in said
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
