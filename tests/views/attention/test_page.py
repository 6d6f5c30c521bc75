"""The attention viewer in a real browser: what it shows and reads out are the weights that Python has."""

from dataclasses import replace

import numpy as np
import pytest

from atento.errors import InputError
from atento.views import AlignmentView, render_alignment, render_report
from atento.views.attention.page import render_views
from atento.views.html import VIEWER, module
from attention_views import HEADS, LAYERS, OUTPUT, SOURCE, make_view
from pages import wait_until

FULL, EMPTY = [13, 42, 102], [241, 244, 246]  # the ends of the light colour scale
PIXEL = """(canvas, [row, column]) => {
    const { left, top, cell, row: height, width, x, y } = canvas.attention;
    const detail = canvas.width / width;
    const at = [left + (column + 0.4) * cell - x, top + (row + 0.5) * height - y].map((place) => place * detail);
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return [...copy.getImageData(...at, 1, 1).data].slice(0, 3);
}"""
PLACE = """(canvas, [row, column]) => {
    const { left, top, cell, row: height, x, y } = canvas.attention;
    return { x: left + (column + 0.5) * cell - x, y: top + (row + 0.5) * height - y };
}"""


def pixel(page, row, column, *, number=0):
    return page.locator(".attention-map").nth(number).evaluate(PIXEL, [row, column])


def frame(page):
    """Wait until what was asked for has been drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def point_at(page, row, column, *, number=0):
    canvas = page.locator(".attention-map").nth(number)
    canvas.hover(position=canvas.evaluate(PLACE, [row, column]))
    frame(page)


def weight(page, *, number=0):
    """The weight that is read out, with all its digits."""
    return float(page.locator(".attention-readout").nth(number).get_attribute("data-weight"))


def show(page, *panes):
    """Open these panes alone."""
    for button in page.locator(".attention-looks button").all():
        if (button.get_attribute("aria-pressed") == "true") != (button.inner_text() in panes):
            button.click()
    frame(page)


@pytest.fixture
def crossed(boards):
    """Words that change places; turned on its side the matrix would be another one."""
    return boards.one_hot_alignment(
        [1, 2, 0],
        source=["klein", "das", "Haus"],
        output=["the", "house", "small"],
        reference="the hut small",
        correct=False,
        model="lstm+dot",
    )


@pytest.mark.spec("V02")
@pytest.mark.parametrize("width, detail", [(360, 2), (1280, 1)])
def test_cells_are_dark_exactly_where_the_weight_is(crossed, open_page, width, detail):
    page = open_page(render_alignment(crossed), width=width, device_scale_factor=detail)

    for row, wanted in enumerate([1, 2, 0]):
        assert [pixel(page, row, column) for column in range(3)] == [
            FULL if column == wanted else EMPTY for column in range(3)
        ]


@pytest.mark.spec("V02")
def test_every_map_layer_and_head_reads_out_the_weights_of_python(open_page):
    view, weights = make_view()
    page = open_page(render_views([view]))

    for at, (name, expected) in enumerate(weights.items()):
        page.select_option("select[name=map]", str(at))
        _, _, rows, columns = expected.shape
        for layer in range(LAYERS):
            page.select_option("select[name=layer]", str(layer))
            for head in (*range(HEADS), "mean"):
                page.select_option("select[name=head]", str(head))
                matrix = expected[layer].mean(axis=0) if head == "mean" else expected[layer, head]
                row, column = rows - 1 - layer, (columns - 2 + at) % columns
                point_at(page, row, column)
                assert weight(page) == pytest.approx(matrix[row, column], abs=1e-6, nan_ok=True), (name, layer, head)
    point_at(page, 0, 4)
    assert weight(page) == pytest.approx(weights["cross-attention"][-1].mean(axis=0)[0, 4], abs=1e-6)
    page.select_option("select[name=map]", "1")
    point_at(page, 0, 5)
    assert page.inner_text(".attention-readout") == "no weight for “the” (token 1) on “today” (token 6)"


def test_a_wrong_output_is_marked_and_the_source_stands_once_in_words(crossed, open_page):
    page = open_page(render_alignment(crossed))

    assert page.inner_text("h1") == "Attention of lstm+dot"
    assert page.inner_text(".attention-outcome") == "wrong predicted the house small, should be the hut small"
    assert page.locator(".attention-facts dd").all_inner_texts() == ["klein das Haus", "the hut small"]
    page = open_page(render_alignment(replace(crossed, reference="", correct=None)))
    assert page.inner_text(".attention-outcome") == "predicted the house small"
    assert page.locator(".attention-facts dt").all_inner_texts() == ["Source"]


@pytest.mark.spec("V02")
def test_pointing_is_tied_across_panes_maps_and_models(open_page):
    """The same token lights up wherever the same line of tokens stands; another line of as many tokens does not."""
    one, weights = make_view()
    two, others = make_view(model="lstm+additive", layers=1, heads=1, seed=9)
    third, _ = make_view(model="subwords", source=["d", "as", "kl", "eine", "Haus"], seed=5)
    third["source"] = one["source"]
    page = open_page(render_views([one, two, third]), width=1600)
    show(page, "Map", "Text")

    point_at(page, 3, 2)
    assert weight(page) == pytest.approx(weights["cross-attention"][1].mean(axis=0)[3, 2], abs=1e-6)
    assert weight(page, number=1) == pytest.approx(others["cross-attention"][0, 0, 3, 2], abs=1e-6)
    assert page.locator(".attention-readout").nth(2).inner_text().startswith("“stands” (token 4): ")
    marked = page.locator(".attention-text span").evaluate_all(
        "spans => spans.filter((span) => span.style.outlineStyle === 'solid').map((span) => span.textContent)"
    )
    assert marked == ["Haus", "Haus"]

    page.locator("select[name=map]").nth(1).select_option("0")  # self-attention of the source: its row is marked
    point_at(page, 3, 2)
    assert page.locator(".attention-readout").nth(1).inner_text().startswith("“Haus” (token 3): ")
    page.mouse.move(0, 0)
    frame(page)
    assert page.locator(".attention-readout").all_inner_texts() == ["", "", ""]


def test_a_tap_shows_the_weight_too(crossed, open_page):
    page = open_page(render_alignment(crossed), width=360, has_touch=True)
    canvas = page.locator(".attention-map")
    canvas.tap(position=canvas.evaluate(PLACE, [0, 1]))
    frame(page)

    assert page.inner_text(".attention-readout") == "1.000 for “the” (token 1) on “das” (token 2)"


@pytest.mark.spec("V02")
def test_below_the_threshold_nothing_is_drawn(open_page):
    alignment = AlignmentView(source=["a", "b"], output=["x"], weights=[[[[0.2, 0.8]]]])
    page = open_page(render_alignment(alignment))
    before = pixel(page, 0, 0)
    assert before not in (EMPTY, FULL)

    page.locator("input[name=threshold]").fill("50")  # the square of a half
    assert page.inner_text(".attention-options output") == "0.250"
    assert pixel(page, 0, 0) == EMPTY
    page.locator("input[name=threshold]").fill("40")
    assert pixel(page, 0, 0) == before
    page.select_option("select[name=colours]", "largest")
    assert pixel(page, 0, 1) == FULL


def test_a_map_zooms_around_the_pointer_and_pans(open_page):
    """What stood under the pointer stays there; a drag moves the map by as many pixels; 0 shows all again."""
    rng = np.random.default_rng(0)
    tokens = [f"t{place}" for place in range(211)]
    alignment = AlignmentView(source=tokens, output=tokens[:97], weights=rng.dirichlet([1.0] * 211, size=(1, 1, 97)))
    page = open_page(render_alignment(alignment))
    canvas = page.locator(".attention-map")
    inside = canvas.evaluate(PLACE, [50, 101])
    place = canvas.bounding_box()
    page.mouse.move(place["x"] + inside["x"], place["y"] + inside["y"])
    page.mouse.wheel(0, -300)
    assert canvas.evaluate("canvas => canvas.attention.zoom") == 1  # the page scrolls until the map is clicked
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    page.wait_for_timeout(200)
    canvas.click(position=inside)
    for _ in range(12):
        page.mouse.wheel(0, -120)
    wait_until(page, lambda: canvas.evaluate("canvas => canvas.attention.zoom") > 4)
    found = canvas.evaluate(PLACE, [50, 101])
    assert (found["x"], found["y"]) == pytest.approx(
        (inside["x"], inside["y"]), abs=canvas.evaluate("c => c.attention.cell")
    )

    before = canvas.evaluate("canvas => [canvas.attention.x, canvas.attention.y]")
    page.mouse.down()
    page.mouse.move(place["x"] + inside["x"] - 40, place["y"] + inside["y"] - 25, steps=4)
    page.mouse.up()
    frame(page)
    after = canvas.evaluate("canvas => [canvas.attention.x, canvas.attention.y]")
    assert np.subtract(after, before).tolist() == pytest.approx([40, 25], abs=1)
    page.keyboard.press("Escape")
    point_at(page, 51, 102)
    assert weight(page) == pytest.approx(alignment.weights[0, 0, 51, 102], abs=1e-6)
    for key, zoomed in (("-", True), ("0", False), ("+", True)):
        page.keyboard.press(key)
        frame(page)
        assert (canvas.evaluate("canvas => canvas.attention.zoom") > 1) == zoomed


def test_another_example_and_other_models_can_be_chosen(board, boards, open_page):
    page = open_page(render_report(board))
    picture = "canvas => canvas.toDataURL()"
    before = page.locator(".attention-map").first.evaluate(picture)
    names = ["lstm+additive", "lstm+dot", "transformer", "gru+general"]
    assert page.locator(".attention-tile h3").all_inner_texts() == names

    page.select_option("select[name=example]", "3")
    assert page.locator(".attention-map").first.evaluate(picture) != before
    assert page.inner_text(".attention-facts dd") == boards.EXAMPLES[3][0]
    assert page.locator(".attention-outcome").first.inner_text().startswith("wrong predicted five hundred")

    page.get_by_role("button", name="next", exact=True).click()
    assert page.locator(".attention-map").first.evaluate(picture) == before

    page.get_by_role("checkbox", name="lstm+dot").uncheck()
    assert page.locator(".attention-tile h3").all_inner_texts() == [name for name in names if name != "lstm+dot"]


def test_the_canvas_follows_the_width_of_the_window(boards, open_page):
    alignment = boards.make_alignment("lstm+dot", *boards.EXAMPLES[3])
    page = open_page(render_alignment(alignment))
    canvas = page.locator(".attention-map")
    wide = canvas.evaluate("canvas => canvas.attention.cell")

    page.set_viewport_size({"width": 360, "height": 700})
    wait_until(page, lambda: canvas.evaluate("canvas => canvas.attention.width") < 360)

    assert canvas.evaluate("canvas => canvas.attention.cell") < wide / 2
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_viewer_is_a_module_of_its_own(open_page):
    """What a notebook or the studio uses: showAttention alone, without the styles of our pages."""
    view, weights = make_view()
    use = "window.view = showAttention(document.getElementById('place'), window.views, { dark: false });"
    html = f"<!doctype html><meta charset=utf-8><div id=place></div><script type=module>{module(VIEWER)}\n"
    page = open_page(html + "window.start = (views) => { window.views = views; " + use + " };</script>")
    page.evaluate("views => window.start(views)", [view])
    page.evaluate("window.view.choose({ map: 'decoder self-attention', layer: 0, head: 2, panes: ['map'] })")
    assert page.input_value("select[name=head]") == "2"
    assert page.locator(".attention-looks [aria-pressed=true]").all_inner_texts() == ["Map"]
    point_at(page, 4, 3)
    assert weight(page) == pytest.approx(weights["decoder self-attention"][0, 2, 4, 3], abs=1e-6)

    page.evaluate("window.view.remove()")
    assert page.locator("#place *").count() == 0


def test_dark_systems_get_light_cells_for_weight(crossed, open_page):
    page = open_page(render_alignment(crossed), color_scheme="dark")

    assert sum(pixel(page, 0, 1)) > 500 > 200 > sum(pixel(page, 0, 0))


def test_texts_of_users_are_never_markup(open_page):
    evil = '</script><img src=x onerror="alert(1)"><b>'
    view, _ = make_view(source=[evil, "b", "c", "d", "e"], output=[evil, "y"], model=evil, reference=evil)
    page = open_page(render_views([view]))
    show(page, *page.locator(".attention-looks button").all_inner_texts())

    assert page.locator("main img, main b").count() == 0
    assert page.locator(".attention-tile h3").inner_text() == evil
    assert evil in page.locator(".attention-text").first.inner_text()


def test_a_model_without_attention_has_no_page(crossed):
    with pytest.raises(InputError, match="no weights"):
        render_alignment(replace(crossed, weights=[]))


def test_tokens_of_the_shared_view_are_distinct():
    assert len({len(SOURCE), len(OUTPUT), LAYERS, HEADS}) == 4
