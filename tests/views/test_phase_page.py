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
    return phase_view(states[:300], states[300:], states[300:350], ("x", "y", "z"), model="gru", data="lorenz")


@pytest.mark.spec("D06")
def test_a_browser_shows_portraits_and_climate(view, open_page):
    page = open_page(render_phase(view))
    assert page.locator(".verdict").inner_text() == "gru, rollout of 300 steps: stays on the attractor."
    assert page.locator("#portraits svg polyline.path").count() == 4
    assert page.locator("#portraits svg polyline.path.accent").count() == 2
    assert page.locator("#times svg").count() == 3
    assert page.locator("tbody tr").count() == 3


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
