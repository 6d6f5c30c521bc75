import json
import re
from dataclasses import replace

import numpy as np
import pytest

from atento.data.dynamics import lorenz
from atento.views.phase import phase_view
from atento.views.phase_page import plane_scales, render_phase


@pytest.fixture(scope="module")
def view():
    states = lorenz(600)
    names = ("x", "y", "z")
    return phase_view(states[:300], states[300:], states[300:350], names, model="gru", data="lorenz", lyapunov=0.02)


@pytest.mark.spec("D06")
def test_a_browser_shows_portraits_and_climate(view, open_page):
    page = open_page(render_phase(view))
    assert page.locator(".verdict").inner_text() == "gru, rollout of 300 steps: stays on the attractor."
    assert page.locator("#portraits svg polyline.path").count() == 4
    assert page.locator("#portraits svg polyline.path.accent").count() == 2
    assert page.locator("#times svg.interactive").count() == 3
    assert page.locator("tbody tr").count() == 3


@pytest.fixture
def diverging():
    """A run whose error doubles each step: 0.4 standard deviations are exceeded after 9 steps."""
    truth = lorenz(400)
    std = truth[:300].std(axis=0)
    errors = 0.4 * 2.0 ** np.arange(-8.5, 11.5)
    run = truth[300:320] + errors[:, None] * std
    return phase_view(truth[:300], run, truth[300:], ("x", "y", "z"), model="gru", lyapunov=0.25), errors


@pytest.mark.spec("V07")
def test_divergence_is_told_in_lyapunov_times(diverging, open_page):
    view, errors = diverging
    np.testing.assert_allclose(view.divergence.errors, errors, rtol=1e-5)
    assert view.divergence.valid_steps == 9
    page = open_page(render_phase(view))
    assert "after 2.25 Lyapunov times (9 steps)" in page.locator("#divergence p").first.text_content()
    data = json.loads(page.locator("#chart-divergence").text_content())
    columns = data["series"][0]["tables"]["points"]
    np.testing.assert_allclose(columns["lyapunov"], 0.25 * np.arange(1, 21))
    np.testing.assert_allclose(columns["error"], errors, rtol=1e-5)
    page.locator("#divergence select[name=x]").select_option(index=1)
    page.locator("#divergence svg.interactive").focus()
    page.keyboard.press("ArrowRight")
    assert "error in standard deviations" in page.locator("#divergence .readout").text_content()


@pytest.mark.spec("V07")
def test_the_portrait_turns_by_drag_and_by_keys(view, open_page):
    page = open_page(render_phase(view))
    canvas = page.locator("#space canvas").first
    drawn = [canvas.evaluate("one => one.toDataURL()")]
    assert view.space.names == ["x", "y", "z"] and np.shape(view.space.true) == (300, 3)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 100, steps=6)
    page.mouse.up()
    drawn.append(canvas.evaluate("one => one.toDataURL()"))
    assert page.locator(".space-readout").text_content().startswith(f"turned by {round(0.6 * 180 / np.pi)}°")
    canvas.focus()
    page.keyboard.press("ArrowDown")
    drawn.append(canvas.evaluate("one => one.toDataURL()"))
    page.keyboard.press("0")
    drawn.append(canvas.evaluate("one => one.toDataURL()"))
    assert len(set(drawn[:3])) == 3 and drawn[3] == drawn[0]
    narrow = open_page(render_phase(view), width=360, color_scheme="dark")
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.spec("V07")
def test_one_coordinate_in_space_by_delay_embedding():
    states = lorenz(600)[:, :1]
    view = phase_view(states[:400], states[400:], states[:0], ("x",))
    lag = view.lag
    expected = [[states[at, 0], states[at - lag, 0], states[at - 2 * lag, 0]] for at in range(2 * lag, 400)]
    np.testing.assert_allclose(view.space.true, expected, atol=1e-3)
    assert view.divergence is None


def test_points_stand_where_the_scales_say(view):
    plane = view.planes[0]
    across, up = plane_scales(plane)
    line = re.search(r'polyline class="path true" points="([^"]+)"', render_phase(view))[1]
    points = np.array([tuple(map(float, point.split(","))) for point in line.split()])
    wanted = [(across.place(x), up.place(y)) for x, y in plane.true]
    np.testing.assert_allclose(points, wanted, atol=0.06)
    both = np.array([*plane.true, *plane.generated])
    assert (both.min(axis=0) > (across.low, up.low)).all() and (both.max(axis=0) < (across.high, up.high)).all()


def test_names_cannot_break_the_page(view):
    page = render_phase(replace(view, model="<b>gru", channels=["<i>", "y", "z"]))
    assert "<b>gru" not in page and "<i>" not in page
