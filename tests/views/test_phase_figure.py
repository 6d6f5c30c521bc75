import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from atento.data.dynamics import lorenz
from atento.views.phase import phase_view
from atento.views.phase_page import draw_times, draw_trajectory, phase_figure


@pytest.fixture(scope="module")
def view():
    states = lorenz(600)
    return phase_view(states[:300], states[300:], states[300:350], ("x", "y", "z"), model="gru")


@pytest.mark.spec("D06")
def test_the_lines_are_the_numbers(view):
    axes = Figure().subplots()
    draw_trajectory(axes, view.planes[1], "generated")
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), view.planes[1].generated)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "z")
    times = Figure().subplots()
    draw_times(times, view.times[2], first=True, last=True)
    true, generated = times.lines
    assert true.get_ydata().tolist() == view.times[2].true
    assert generated.get_ydata().tolist() == view.times[2].generated
    assert true.get_xdata()[0] == 1


def test_a_png_holds_both_paths(view, tmp_path):
    pixels = imread(phase_figure(view, tmp_path / "phase.png"))[..., :3] * 255
    half = pixels.shape[1] // 2
    top = slice(0, pixels.shape[0] // 2)
    blue = np.abs(pixels - (31, 119, 180)).max(axis=-1) < 40
    dark = np.abs(pixels - 64).max(axis=-1) < 20
    assert blue[top, half:].sum() > 300 > blue[top, :half].sum()
    assert dark[top, :half].sum() > 300


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_other_kinds_of_file_are_the_same_every_time(view, tmp_path, kind):
    first, second = (phase_figure(view, tmp_path / f"{name}.{kind}") for name in "ab")
    clip = re.compile(rb"\bp[0-9a-f]{10}\b")  # matplotlib numbers clip paths by where they lie in memory
    assert clip.sub(b"", first.read_bytes()) == clip.sub(b"", second.read_bytes())
