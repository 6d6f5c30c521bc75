from dataclasses import replace

import pytest

from atento.errors import InputError
from atento.views import AlignmentView, render_alignment, render_report
from atento.views.html import asset

FULL, EMPTY = [8, 48, 107], [238, 241, 244]  # the ends of the viewer's light colours
PIXEL = """(canvas, [row, column]) => {
    const { left, top, cell, width } = canvas.attention;
    const detail = canvas.width / width;
    const at = [left + (column + 0.4) * cell, top + (row + 0.5) * canvas.attention.row].map((x) => x * detail);
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return [...copy.getImageData(...at, 1, 1).data].slice(0, 3);
}"""


def pixel(page, row, column, *, number=0):
    return page.locator("canvas").nth(number).evaluate(PIXEL, [row, column])


def point_at(page, row, column):
    where = "(canvas, [row, column]) => { const { left, top, cell } = canvas.attention; "
    where += "return { x: left + (column + 0.5) * cell, y: top + (row + 0.5) * canvas.attention.row }; }"
    page.locator("canvas").hover(position=page.locator("canvas").evaluate(where, [row, column]))


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


@pytest.mark.parametrize("width, detail", [(360, 2), (1280, 1)])
def test_cells_are_dark_exactly_where_the_weight_is(crossed, open_page, width, detail):
    page = open_page(render_alignment(crossed), width=width, device_scale_factor=detail)

    for row, wanted in enumerate([1, 2, 0]):
        assert [pixel(page, row, column) for column in range(3)] == [
            FULL if column == wanted else EMPTY for column in range(3)
        ]


def test_wrong_outputs_are_said_in_words(crossed, open_page):
    page = open_page(render_alignment(crossed))

    assert page.inner_text("h1") == "klein das Haus → the house small"
    assert page.inner_text(".outcome") == "wrong wrote the house small, should be the hut small"


def test_without_a_reference_nothing_is_judged(crossed, open_page):
    page = open_page(render_alignment(replace(crossed, reference="", correct=None)))

    assert page.inner_text(".outcome") == "wrote the house small"
    assert page.locator(".example-words dt").all_inner_texts() == ["Source"]


def test_pointer_and_keys_tell_the_exact_weight(boards, open_page):
    alignment = boards.make_alignment("lstm+additive", "dreiundvierzig", "forty - three")
    alignment.weights[0][0][1][4] = 0.4321
    page = open_page(render_alignment(alignment))
    readout = page.locator(".attention-readout")

    point_at(page, 1, 4)
    assert readout.inner_text() == "0.432 for “-” on “u” (token 5)"
    assert page.locator(".attention-source span").nth(4).evaluate("word => word.style.background") != ""

    page.mouse.move(0, 0)
    assert readout.inner_text() == ""

    page.locator("canvas").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    first = alignment.weights[0][0][0][1]
    assert readout.inner_text() == f"{first:.3f} for “forty” on “r” (token 2)"
    page.keyboard.press("Escape")
    assert readout.inner_text() == ""


def test_a_tap_shows_the_weight_too(crossed, open_page):
    page = open_page(render_alignment(crossed), width=360, has_touch=True)

    page.locator("canvas").tap(position={"x": 100, "y": 40})

    assert page.inner_text(".attention-readout")


def test_layers_heads_and_their_mean_can_be_chosen(open_page):
    left, right = [[1.0, 0.0]], [[0.0, 1.0]]
    alignment = AlignmentView(source=["a", "b"], output=["x"], weights=[[right, right], [left, right]])
    page = open_page(render_alignment(alignment))

    half = pixel(page, 0, 0)
    assert half == pixel(page, 0, 1)
    assert FULL[0] < half[0] < EMPTY[0]

    page.select_option("select[name=head]", "0")
    assert (pixel(page, 0, 0), pixel(page, 0, 1)) == (FULL, EMPTY)
    page.select_option("select[name=layer]", "0")
    assert (pixel(page, 0, 0), pixel(page, 0, 1)) == (EMPTY, FULL)


def test_another_example_and_other_models_can_be_chosen(board, boards, open_page):
    page = open_page(render_report(board))
    before = page.locator("canvas").first.evaluate("canvas => canvas.toDataURL()")
    assert page.locator(".tile h3").all_inner_texts() == ["lstm+additive", "lstm+dot", "transformer", "gru+general"]

    page.select_option("#example", "3")
    assert page.locator("canvas").first.evaluate("canvas => canvas.toDataURL()") != before
    assert page.inner_text(".example-words dd") == boards.EXAMPLES[3][0]
    assert page.locator(".outcome").first.inner_text().startswith("wrong wrote five hundred")

    page.get_by_role("button", name="next").click()
    assert page.locator("canvas").first.evaluate("canvas => canvas.toDataURL()") == before

    page.get_by_role("checkbox", name="lstm+dot").uncheck()
    assert page.locator(".tile h3").all_inner_texts() == ["lstm+additive", "transformer", "gru+general"]


def test_the_canvas_follows_the_width_of_the_window(boards, open_page):
    alignment = boards.make_alignment("lstm+dot", *boards.EXAMPLES[3])
    page = open_page(render_alignment(alignment))
    wide = page.locator("canvas").evaluate("canvas => canvas.attention.cell")

    page.set_viewport_size({"width": 360, "height": 700})
    for _ in range(100):  # the page forbids eval, which playwright's own waiting uses
        if page.locator("canvas").evaluate("canvas => canvas.attention.width") < 360:
            break
        page.wait_for_timeout(50)

    assert page.locator("canvas").evaluate("canvas => canvas.attention.width") < 360
    assert page.locator("canvas").evaluate("canvas => canvas.attention.cell") < wide / 2


def test_the_viewer_is_a_module_of_its_own(open_page):
    """What a notebook or another page uses: showAttention alone, without our styles."""
    use = """
        const view = showAttention(document.getElementById("place"), {
            source: ["a", "b"], output: ["x"], weights: [[[[1, 0]], [[0, 1]]]], head: 0, dark: false });
        window.view = view;
    """
    html = f"<!doctype html><div id=place></div><script type=module>{asset('attention/viewer.js')}\n{use}</script>"
    page = open_page(html)
    assert (pixel(page, 0, 0), pixel(page, 0, 1)) == (FULL, EMPTY)

    page.evaluate("window.view.choose(0, 1)")
    assert (pixel(page, 0, 0), pixel(page, 0, 1)) == (EMPTY, FULL)
    assert page.input_value("select[name=head]") == "1"
    page.evaluate("window.view.remove()")
    assert page.locator("#place *").count() == 0


def test_dark_systems_get_light_cells_for_weight(crossed, open_page):
    page = open_page(render_alignment(crossed), color_scheme="dark")

    assert sum(pixel(page, 0, 1)) > 500 > 200 > sum(pixel(page, 0, 0))


def test_a_model_without_attention_has_no_page(crossed):
    with pytest.raises(InputError, match="no weights"):
        render_alignment(replace(crossed, weights=[]))
