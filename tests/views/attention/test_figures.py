import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from matplotlib.image import imread

from atento.errors import InputError
from atento.layers import SinusoidalPositions
from atento.views import alignment_figure, positions_figure
from atento.views.attention.figures import draw_positions, panels_of


@pytest.fixture
def transformer(boards):
    return boards.make_alignment("transformer", "dreiundvierzig", "forty - three")


def test_a_png_shows_dark_cells_where_the_weight_is(boards, tmp_path):
    alignment = boards.one_hot_alignment([0, 1, 2], source=list("abc"), output=["x", "y", "z"])

    pixels = imread(alignment_figure(alignment, tmp_path / "a.png"))

    height, width = pixels.shape[:2]
    assert 300 < height < 700
    assert 300 < width < 800
    dark = (np.abs(pixels[..., :3] * 255 - (8, 48, 107)).max(axis=-1) < 2).mean()  # the end of the map of blues
    assert 0.1 < dark < 0.4


def test_every_head_has_a_panel_until_they_are_too_many(boards, transformer):
    assert len(panels_of(transformer)) == 8
    assert list(panels_of(transformer))[-1] == "layer 2, head 4"

    many = replace(transformer, weights=[transformer.weights[0] * 3, transformer.weights[1] * 3])
    assert list(panels_of(many)) == ["layer 1, mean of 12 heads", "layer 2, mean of 12 heads"]
    np.testing.assert_allclose(panels_of(many)["layer 1, mean of 12 heads"], np.mean(transformer.weights[0], axis=0))


@pytest.mark.parametrize("kind, start", [("svg", b"<?xml"), ("PDF", b"%PDF")])
def test_other_kinds_of_file_are_the_same_every_time(boards, tmp_path, kind, start):
    alignment = boards.one_hot_alignment([0, 1], source=list("abc"), output=["x", "y"])

    first, second = (alignment_figure(alignment, tmp_path / f"{name}.{kind}") for name in "ab")

    assert first.read_bytes().startswith(start)
    assert first.read_bytes() == second.read_bytes()


def test_text_that_is_no_formula_and_not_in_the_font_is_drawn(boards, tmp_path):
    tokens = ["$x$", "\\frac{", "日本", "😀", "$", "שלום", "a" * 500]
    alignment = boards.one_hot_alignment(range(7), source=tokens, output=tokens, reference="$", correct=False)

    assert alignment_figure(alignment, tmp_path / "a.png").stat().st_size > 1000


@pytest.mark.parametrize("name", ["a.gif", "a"])
def test_an_unknown_suffix_is_refused_with_the_known_ones(transformer, tmp_path, name):
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf"):
        alignment_figure(transformer, tmp_path / name)

    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(transformer, tmp_path):
    with pytest.raises(InputError, match="folder"):
        alignment_figure(transformer, tmp_path / "nowhere" / "a.png")


@pytest.mark.spec("T07")
def test_the_heat_map_of_2000_positions_shows_the_waves():
    image = draw_positions(Figure().subplots(), SinusoidalPositions(500)(torch.arange(2000)).numpy())

    assert image.get_array().shape == (2000, 500)
    for position, feature in ((0, 0), (1, 0), (1, 1), (7, 2), (1999, 498), (1009, 131)):
        angle = position / 10_000 ** (2 * (feature // 2) / 500)
        shown = image.get_array()[position, feature]
        assert shown == pytest.approx((math.sin, math.cos)[feature % 2](angle), abs=1e-9)
    assert image.get_clim() == (-1, 1)


def test_positions_are_saved_from_the_top_down(tmp_path):
    """One half red, which is below zero, the other blue."""
    table = np.repeat([[-1.0] * 3, [1.0] * 3], 10, axis=0)
    pixels = imread(positions_figure(table, tmp_path / "p.png"))[..., :3]

    red = np.argwhere(np.abs(pixels * 255 - (103, 0, 31)).max(axis=-1) < 3).mean(axis=0)
    blue = np.argwhere(np.abs(pixels * 255 - (5, 48, 97)).max(axis=-1) < 3).mean(axis=0)
    assert red[0] < blue[0] - 100
    with pytest.raises(InputError, match="positions × features"):
        positions_figure(np.zeros(3), tmp_path / "p.png")
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf"):
        positions_figure(table, tmp_path / "p.gif")
