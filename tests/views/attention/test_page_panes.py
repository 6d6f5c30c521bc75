"""The panes of the attention viewer in a real browser: heads, links, levels, answers, attributions; keys and files."""

import csv
import io
import json
import shlex

import numpy as np
import pytest

from atento.views.attention.page import encode, render_views
from attention_views import HEADS, LAYERS, OUTPUT, SOURCE, make_hierarchy, make_map, make_view, random_weights

LINKS = "canvas => canvas.links.map(({ row, column, weight }) => [row, column, weight])"


def frame(page):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def show(page, *panes):
    """Open these panes alone."""
    for button in page.locator(".attention-looks button").all():
        if (button.get_attribute("aria-pressed") == "true") != (button.inner_text() in panes):
            button.click()
    frame(page)


@pytest.mark.spec("V02")
def test_all_heads_stand_on_one_screen_and_open_with_a_click_or_enter(open_page):
    view, _ = make_view()
    page = open_page(render_views([view]))
    show(page, "Map", "Heads")
    heads = page.locator(".attention-head")

    assert heads.count() == LAYERS * (HEADS + 1)
    box = page.locator(".attention-heads").bounding_box()
    assert box["height"] < 800
    numbers = np.array(view["maps"][2]["statistics"]["entropy"])
    shown = [float(number) for number in page.locator(".attention-head small").all_inner_texts() if number]
    assert shown == pytest.approx(numbers.ravel().tolist(), abs=0.005)

    heads.nth(1).click()
    assert (page.input_value("select[name=layer]"), page.input_value("select[name=head]")) == ("0", "1")
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert (page.input_value("select[name=layer]"), page.input_value("select[name=head]")) == ("1", "2")
    assert heads.nth(6).get_attribute("aria-pressed") == "true"


@pytest.mark.spec("V02")
@pytest.mark.parametrize("statistic, title", [("entropy", "entropy"), ("zeros", "sparsity")])
def test_heads_are_sorted_by_a_statistic(open_page, statistic, title):
    view, _ = make_view()
    page = open_page(render_views([view]))
    show(page, "Heads")
    numbers = np.array(view["maps"][2]["statistics"][statistic]).ravel()

    for direction, order in (("down", numbers.argsort()[::-1]), ("up", numbers.argsort())):
        page.select_option("select[name=order]", f"{statistic} {direction}")
        names = [f"{head // HEADS + 1}·{head % HEADS + 1}" for head in order]
        assert page.locator(".attention-head span").all_inner_texts() == names
    assert title in page.inner_text(".attention-heads + p")


@pytest.mark.spec("V02")
def test_links_are_the_largest_weights_above_the_threshold(open_page):
    view, weights = make_view()
    page = open_page(render_views([view]))
    show(page, "Links")
    page.select_option("select[name=head]", "1")
    matrix = weights["cross-attention"][-1, 1]
    canvas = page.locator(".attention-links-canvas")

    for top, slider in ((1, 0), (3, 0), (3, 50), (1000000, 30)):
        page.select_option("select[name=links]", str(top))
        page.locator("input[name=threshold]").fill(str(slider))
        least = (slider / 100) ** 2
        wanted = {
            (row, column): matrix[row, column]
            for row in range(len(OUTPUT))
            for column in np.argsort(-matrix[row])[:top].tolist()
            if matrix[row, column] >= least and matrix[row, column] > 0
        }
        found = {(row, column): weight for row, column, weight in canvas.evaluate(LINKS)}
        assert found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.spec("V02")
@pytest.mark.parametrize("columns", [False, True])
def test_pointing_at_a_token_keeps_its_links_only(open_page, columns):
    """What is drawn between the lines is less, and what is read out are the weights of that token."""
    view, weights = make_view()
    page = open_page(render_views([view]))
    show(page, "Links")
    if columns:
        page.select_option("select[name=lines]", "columns")
    canvas = page.locator(".attention-links-canvas")
    ink = """canvas => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, index) => index % 4 === 3 && value > 20).length;
    }"""
    before = canvas.evaluate(ink)
    place = canvas.evaluate(
        "canvas => { const box = canvas.attention.plan.box('query', 4); return [box.textX, box.textY]; }"
    )
    canvas.hover(position={"x": place[0], "y": place[1]})
    frame(page)

    assert canvas.evaluate(ink) < 0.6 * before
    row = weights["cross-attention"][-1].mean(axis=0)[4]
    strongest = ", ".join(f"{SOURCE[column]} {row[column]:.3f}" for column in np.argsort(-row)[:3])
    assert page.inner_text(".attention-readout") == f"“empty” (token 5): {strongest}"
    page.mouse.move(0, 0)
    frame(page)
    assert canvas.evaluate(ink) == before


def test_lines_of_text_run_as_they_are_read(open_page):
    """Arabic from right to left, Chinese characters one by one from left to right."""
    arabic = ["البيت", "الصغير", "يقع", "في"]
    for source, leftward in ((arabic, True), (list("那座小房子在"), False)):
        view, _ = make_view(source=source, output=[*source[:3], "<end>"], attribution=None, steps=None)
        page = open_page(render_views([view]), width=700)
        show(page, "Map", "Links", "Text", "Table")
        box = "(canvas, index) => canvas.attention.plan.box('key', index).x"
        places = [page.locator(".attention-links-canvas").evaluate(box, index) for index in range(len(source))]
        assert places == sorted(places, reverse=leftward)
        direction = page.locator(".attention-text").last.evaluate("line => getComputedStyle(line).direction")
        assert direction == ("rtl" if leftward else "ltr")
        assert page.locator(".attention-table thead th").all_inner_texts()[1:] == source


def test_an_answer_is_stepped_through_with_its_alternatives_and_its_beam(open_page):
    view, weights = make_view(finished=[{"text": "the end", "score": -0.9}])
    page = open_page(render_views([view]))
    show(page, "Answer", "Map")

    page.get_by_role("button", name="next token").click()
    page.get_by_role("button", name="next token").click()
    frame(page)
    assert page.inner_text(".attention-steps .attention-note") == "Step 3 of 7: “house”"
    assert page.locator(".attention-alternatives bdi").all_inner_texts() == ["house", "not house"]
    assert page.locator(".attention-alternatives .attention-number").all_inner_texts() == ["0.750", "0.200"]
    assert page.locator(".attention-beam bdi").all_inner_texts() == ["the small house", "a"]
    row = weights["cross-attention"][-1].mean(axis=0)[2]
    best = int(row.argmax())
    assert page.inner_text(".attention-readout").startswith(f"“house” (token 3): {SOURCE[best]} {row[best]:.3f}")
    page.get_by_role("button", name="house").focus()
    page.keyboard.press("ArrowLeft")
    assert page.inner_text(".attention-steps .attention-note") == "Step 2 of 7: “small”"
    page.get_by_role("button", name="<end>").click()
    assert page.locator(".attention-beam bdi").all_inner_texts() == ["the end"]


def test_attributions_stand_beside_attention_with_what_each_can_say(open_page):
    view, _ = make_view()
    page = open_page(render_views([view]))
    show(page, "Text", "Attribution")

    colours = page.locator(".attention-attribution .attention-text span").evaluate_all(
        "spans => spans.map((span) => (span.style.background.match(/[\\d.]+/g) ?? []).map(Number))"
    )
    most = max(map(abs, view["attribution"]["values"]))
    for value, colour in zip(view["attribution"]["values"], colours, strict=True):
        if not value:
            assert colour == []
            continue
        assert (colour[2] > colour[0]) == (value > 0)  # blue for, orange against
        assert (colour[3] if len(colour) > 3 else 1.0) == pytest.approx(0.85 * abs(value) / most, abs=0.01)
    words = page.inner_text(".attention-attribution")
    assert "Most: “kleine” −1.250, “steht” +0.750, “das” +0.500" in words
    assert "0.4 %" in words
    assert "not what the output depends on" in words


def test_both_levels_of_a_hierarchical_model_stand_together(open_page):
    view, inner, outer = make_hierarchy()
    page = open_page(render_views([view]))

    assert page.locator(".attention-sentence .attention-number").all_inner_texts() == ["0.125", "0.625", "0.250"]
    bars = page.locator(".attention-sentence .attention-bar").evaluate_all("bars => bars.map((bar) => bar.style.width)")
    assert [float(bar.rstrip("%")) for bar in bars] == pytest.approx((100 * outer.ravel()).tolist())
    for row, line in enumerate(page.locator(".attention-sentence").all()):
        spans = line.locator(".attention-text span")
        seen = inner[0, 0, row][np.isfinite(inner[0, 0, row])]
        titles = spans.evaluate_all("spans => spans.map((span) => Number(span.title))")
        assert titles == pytest.approx(seen.tolist(), abs=5e-4)


def test_queries_keys_and_values_of_the_chosen_head_are_shown(open_page):
    weights = random_weights(2, 3, 4, 5)
    vectors = {
        name: np.random.default_rng(at).normal(size=(2, 3, size, 6)).astype(np.float32)
        for at, (name, size) in enumerate({"query": 4, "key": 5, "value": 5}.items())
    }
    stored = {name: {"numbers": encode(numbers), "shape": list(numbers.shape)} for name, numbers in vectors.items()}
    view, _ = make_view(vectors={"cross-attention": stored})
    view["maps"] = [make_map("cross-attention", "cross", list("abcd"), list("vwxyz"), weights)]
    page = open_page(render_views([view]))
    show(page, "Map", "Queries, keys, values")
    page.select_option("select[name=layer]", "0")
    page.select_option("select[name=head]", "2")
    page.locator(".attention-map").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    frame(page)

    for name, index in (("query", 1), ("key", 2), ("value", 2)):
        line = page.locator(".attention-table tr", has_text=f"{name} of")
        shown = [float(number) for number in line.locator("td").all_inner_texts()]
        assert shown == pytest.approx(vectors[name][0, 2, index].tolist(), abs=5e-4)


@pytest.mark.spec("V02")
def test_the_keyboard_alone_is_enough(open_page):
    """Tab to a map, walk, change head and layer, let go; every step is said in a live region."""
    view, weights = make_view()
    page = open_page(render_views([view]))
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "attention-map":
            break
    assert page.evaluate("document.activeElement.className") == "attention-map"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    readout = page.locator(".attention-readout")
    assert (readout.get_attribute("role"), readout.get_attribute("aria-live")) == ("status", "polite")

    matrices, walked = weights["cross-attention"], [0, 0]
    moves = {"ArrowDown": (1, 0), "ArrowUp": (-1, 0), "ArrowRight": (0, 1), "ArrowLeft": (0, -1)}
    page.keyboard.press("ArrowDown")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
        walked = [walked[0] + moves[key][0], walked[1] + moves[key][1]]
    for key, matrix in (
        ("", matrices[1].mean(axis=0)),
        ("]", matrices[1, 0]),
        ("]", matrices[1, 1]),
        ("PageUp", matrices[0, 1]),
        ("[", matrices[0, 0]),
        ("PageDown", matrices[1, 0]),
    ):
        if key:
            page.keyboard.press(key)
        frame(page)
        assert float(readout.get_attribute("data-weight")) == pytest.approx(matrix[tuple(walked)], abs=1e-6)
    row, column = walked
    assert f"“{OUTPUT[row]}” (token {row + 1}) on “{SOURCE[column]}” (token {column + 1})" in readout.inner_text()
    page.keyboard.press("Escape")
    frame(page)
    assert readout.inner_text() == ""


@pytest.mark.spec("V02")
def test_files_and_the_clipboard_hold_the_weights_that_are_shown(open_page):
    view, weights = make_view(source=["a,b", 'say "c"', "<d>", "e", "f"])
    view["run"] = "runs/it's mine"
    page = open_page(render_views([view]), permissions=["clipboard-read", "clipboard-write"])
    show(page, "Map", "Links")
    page.select_option("select[name=map]", "1")
    page.select_option("select[name=head]", "0")
    matrix = weights["decoder self-attention"][-1, 0]

    def saved(name):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        return download.value

    page.locator(".attention-saving summary").click()
    stored = json.loads(saved("numbers as JSON").path().read_text(encoding="utf-8"))
    numbers = np.array(stored["weights"], dtype=float)
    np.testing.assert_array_equal(numbers.astype(np.float32), matrix)
    assert (stored["map"], stored["layer"], stored["head"], stored["keys"]) == (view["maps"][1]["name"], 2, 1, OUTPUT)

    page.select_option("select[name=map]", "2")
    expected = weights["cross-attention"][-1].mean(axis=0)
    text = saved("numbers as CSV").path().read_bytes().decode("utf-8")
    lines = list(csv.reader(io.StringIO(text, newline="")))
    assert lines[0] == ["", "a,b", 'say "c"', "<d>", "e", "f"]
    np.testing.assert_allclose(np.array([line[1:] for line in lines[1:]], dtype=float), expected, atol=1e-6)
    page.get_by_role("button", name="copy CSV").click()
    page.get_by_role("button", name="copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == text

    picture = saved("map as SVG")
    drawn = picture.path().read_text(encoding="utf-8")
    assert picture.suggested_filename == "transformer-cross-attention-layer-2-mean-over-heads.svg"
    assert drawn.count("<rect") == 1 + expected.size + 32
    assert "&lt;d&gt;" in drawn
    links = saved("links as SVG").path().read_text(encoding="utf-8")
    assert links.count("<path") == 3 * len(OUTPUT)
    assert saved("map as PNG").path().read_bytes().startswith(b"\x89PNG")
    copied = []
    for button in ("copy command", "copy Python"):
        page.get_by_role("button", name=button).click()
        page.get_by_role("button", name="copied").last.wait_for()
        copied.append(page.evaluate("navigator.clipboard.readText()"))
        page.get_by_role("button", name=button).wait_for()  # its own name comes back
    assert shlex.split(copied[0]) == ["atento", "look", view["run"], view["source"], "--out", "attention.html"]
    assert copied[1] == f'atento.load("{view["run"]}").explain({json.dumps(view["source"])}).save("attention.html")'


def test_a_table_holds_the_numbers_of_a_small_map(open_page):
    view, weights = make_view()
    page = open_page(render_views([view]))
    show(page, "Table")
    page.select_option("select[name=head]", "2")

    cells = page.locator(".attention-table tbody td").all_inner_texts()
    expected = weights["cross-attention"][-1, 2].ravel()
    np.testing.assert_allclose(np.array(cells, dtype=float), expected, atol=5e-4)


def test_lightness_falls_evenly_with_weight(open_page):
    """So that grey prints and colour-blind eyes see the same order: each step of the scale is darker than the last."""
    row = np.linspace(0, 1, 101, dtype=np.float32)
    view, _ = make_view()
    view["maps"] = [make_map("all", "cross", ["x"], [str(at) for at in range(101)], row.reshape(1, 1, 1, 101))]
    for scheme, sign in (("light", -1), ("dark", 1)):
        page = open_page(render_views([view]), color_scheme=scheme)
        page.select_option("select[name=colours]", "linear")
        colours = page.locator(".attention-map").evaluate(
            """canvas => {
                const { left, top, cell, row, width } = canvas.attention;
                const detail = canvas.width / width;
                const copy = new OffscreenCanvas(canvas.width, canvas.height);
                const pen = copy.getContext("2d", { willReadFrequently: true });
                pen.drawImage(canvas, 0, 0);
                const at = (column) => [(left + (column + 0.4) * cell) * detail, (top + row / 2) * detail];
                return Array.from({ length: 101 }, (_, column) => [...pen.getImageData(...at(column), 1, 1).data]);
            }"""
        )
        shares = np.array(colours)[:, :3] / 255
        linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
        lightness = np.cbrt(linear @ [0.2126, 0.7152, 0.0722])
        steps = sign * np.diff(lightness)
        assert steps.min() > -0.002
        assert steps.max() < 0.03
        assert abs(lightness[-1] - lightness[0]) > 0.5
