"""Attention over an image: what is drawn equals the weights, in a terminal, in a file and in a real browser."""

import base64
import io
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from PIL import Image

from atento.errors import InputError
from atento.views import AlignmentView, regions_figure, render_alignment
from atento.views.attention.regions import VEIL, maps_of, pixels_of, shade_regions, veiled
from pages import wait_until

ROWS, COLUMNS, SIDE = 2, 3, 12
WORDS = ["a", "red", "circle", "<end>"]
PIXEL = """(canvas, [x, y]) => {
    const at = (place) => Math.round((place + 0.5) * canvas.width / 12);
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    return [...context.getImageData(at(x), at(y), 1, 1).data].slice(0, 3);
}"""


def shows(canvas, place, colour):
    """Whether a canvas has a colour at a place of the picture."""
    return np.allclose(canvas.evaluate(PIXEL, place), colour, rtol=0, atol=3)


def as_uri(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


@pytest.fixture
def pixels():
    return np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)


@pytest.fixture
def alignment(pixels):
    weights = np.random.default_rng(1).dirichlet([0.4] * (ROWS * COLUMNS), size=(2, 3, len(WORDS)))  # (L, H, O, R)
    return AlignmentView(
        source=[f"{row}·{column}" for row in range(ROWS) for column in range(COLUMNS)],
        output=WORDS,
        weights=weights.tolist(),
        text="a red circle",
        reference="a red star",
        correct=False,
        model="conv/lstm+additive",
        image=as_uri(pixels),
        grid=[ROWS, COLUMNS],
    )


def test_maps_are_the_mean_of_the_heads_row_by_row(alignment):
    expected = np.asarray(alignment.weights)[-1].mean(axis=0)
    found = maps_of(alignment)
    assert found.shape == (len(WORDS), ROWS, COLUMNS)
    for word in range(len(WORDS)):
        for row in range(ROWS):
            for column in range(COLUMNS):
                assert found[word, row, column] == expected[word, row * COLUMNS + column]


@pytest.mark.parametrize("bright", [False, True])
def test_the_veil_lifts_with_each_region_s_weight(alignment, pixels, bright):
    """Pixel by pixel: the region that holds it, and how much of it is left; white on dark, black on bright."""
    weights = maps_of(alignment)[1]
    pixels = pixels // 2 + (127 if bright else 0)
    found = veiled(pixels / 255, weights)
    for y in range(SIDE):
        for x in range(SIDE):
            weight = weights[y * ROWS // SIDE, x * COLUMNS // SIDE]
            hidden = VEIL * (1 - weight / weights.max())
            expected = pixels[y, x] / 255 * (1 - hidden) + (0 if bright else hidden)
            np.testing.assert_allclose(found[y, x], expected, atol=1e-12)


def test_a_file_shows_the_image_and_each_word(alignment, tmp_path):
    first, second = (regions_figure(alignment, tmp_path / name) for name in ("one.png", "two.png"))
    assert first.read_bytes() == second.read_bytes()
    with Image.open(first) as drawn:
        assert drawn.width > drawn.height > 100
    assert "circle" in regions_figure(alignment, tmp_path / "one.svg").read_text()


def test_a_terminal_shows_a_block_a_word(alignment):
    alignment = replace(alignment, weights=np.eye(ROWS * COLUMNS)[None, None, [0, 4, 2, 5]].tolist())
    lines = shade_regions(alignment, width=30).splitlines()
    assert lines[0].split() == ["a", "red", "circle"]
    assert lines[1] == "██····   ······   ····██"
    assert lines[2] == "······   ··██··   ······"
    assert lines[4:7] == ["<end>", "······", "····██"]
    assert lines[-1].startswith("░ ≥ 0.05  ▒ ≥ 0.25")
    assert max(map(len, lines)) <= 30


@pytest.mark.spec("V02")
def test_a_page_shows_the_image_in_grey_under_the_colours_of_the_weights(alignment, pixels, open_page):
    """The colour of a region's middle: the last colour of the scale covers 85 % of the grey at the largest weight, the
    first colour 15 % where there is none.
    """
    weights = np.asarray(alignment.weights)
    weights[..., 3] = 0.0
    alignment = replace(alignment, weights=weights.tolist())
    page = open_page(render_alignment(alignment))
    page.locator(".region-large[aria-label]").wait_for()
    maps = maps_of(alignment)
    labels = [text.split() for text in page.locator("button.region-panel").all_inner_texts()]
    assert labels == [[word, f"{map_.max():.3f}"] for word, map_ in zip(WORDS, maps, strict=True)]
    assert page.inner_text("h1") == "Attention of conv/lstm+additive"
    assert page.locator("img.read-image").count() == 1
    assert page.inner_text(".attention-outcome") == "wrong predicted a red circle, should be a red star"
    for word in (1, 2):
        page.locator("button.region-panel").nth(word).click()
        for region, colour, cover in ((int(maps[word].argmax()), (251, 244, 160), 0.85), (3, (42, 22, 80), 0.15)):
            row, column = divmod(region, COLUMNS)
            y, x = (2 * row + 1) * SIDE // (2 * ROWS), (2 * column + 1) * SIDE // (2 * COLUMNS)
            grey = pixels[y, x] @ [0.299, 0.587, 0.114]
            expected = grey * (1 - cover) + np.array(colour) * cover
            wait_until(page, partial(shows, page.locator(".region-large"), [x, y], expected))


def test_regions_are_read_out_word_by_word_and_by_head(alignment, open_page):
    page = open_page(render_alignment(alignment))
    page.locator(".region-large[aria-label]").wait_for()
    page.select_option("select[name=head]", "2")
    page.select_option("select[name=layer]", "0")
    page.get_by_role("button", name="next word").click()
    page.get_by_role("button", name="next word").click()
    large = page.locator(".region-large")
    large.hover(position={"x": 300, "y": 300})
    expected = alignment.weights[0][2][2]
    readout = page.locator(".attention-readout")
    wait_until(page, lambda: readout.get_attribute("data-weight") is not None)
    assert readout.inner_text().endswith(" for “circle” (token 3) on row 2, column 3")
    assert float(readout.get_attribute("data-weight")) == pytest.approx(expected[5], abs=1e-6)
    large.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    wait_until(page, lambda: float(readout.get_attribute("data-weight")) == pytest.approx(expected[1], abs=1e-6))


def test_what_does_not_fit(alignment):
    with pytest.raises(InputError, match=r"2 × 2 regions, weights over 6"):
        maps_of(replace(alignment, grid=[2, 2]))
    for image in ("data:image/png;base64,AAAA", "nonsense!", as_uri(np.zeros((4, 4, 3), np.uint8))[:60]):
        with pytest.raises(InputError, match="must be a PNG"):
            pixels_of(replace(alignment, image=image))
