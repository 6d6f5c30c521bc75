import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from atento.errors import InputError
from atento.views.gradients import draw_part, finish_axes, gradient_flow_figure


@pytest.fixture
def flow(boards):
    return boards.make_flow()


def test_the_line_is_the_numbers(boards):
    axes = Figure().subplots()
    part = boards.make_flow_part(0.5)
    draw_part(axes, part, "C0", bold=True)
    finish_axes(axes)
    line = axes.lines[0]
    assert line.get_xdata().tolist() == part.curve.lags
    assert line.get_ydata().tolist() == part.curve.median
    assert axes.get_yscale() == "log"
    assert axes.get_legend().get_texts()[0].get_text() == "encoder, forward (GRUCell): vanishes"


def test_what_is_next_to_nothing_ends_the_line(boards):
    axes = Figure().subplots()
    draw_part(axes, boards.make_flow_part(0.01), "C0", bold=False)
    assert np.isnan(axes.lines[0].get_ydata()).tolist() == [lag > 6 for lag in range(21)]


def test_a_png_holds_both_lines(flow, tmp_path):
    pixels = imread(gradient_flow_figure(flow, tmp_path / "flow.png"))[..., :3] * 255
    assert pixels.shape[:2] == (768, 1280)
    for colour in ((31, 119, 180), (255, 127, 14)):
        assert (np.abs(pixels - colour).max(axis=-1) < 2).sum() > 300


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_other_kinds_of_file_are_the_same_every_time(flow, tmp_path, kind):
    first, second = (gradient_flow_figure(flow, tmp_path / f"{name}.{kind}") for name in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_an_unknown_kind_is_refused(flow, tmp_path):
    with pytest.raises(InputError, match="cannot be saved as"):
        gradient_flow_figure(flow, tmp_path / "flow.bmp")
