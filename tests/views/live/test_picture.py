"""Live pictures: the numbers of every frame, as Python computed them, in a real browser and in figures."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from atento.errors import InputError
from atento.views.live import Bars, Cells, HeatMap, Lines, LivePicture, Note, Plane, Slider

RATES, QUERIES, STEPS, KEYS = [0.5, 0.7, 1.1], range(2), 7, 5
WORDS = {
    "Decay": "Decaimiento",
    "Move it.": "Muévalo.",
    "rate": "tasa",
    "query": "consulta",
    "lag": "retardo",
    "norm": "norma",
    "plain": "simple",
    "at rate {rate:.1f} it is {last:.3f}": "con tasa {rate:.1f} es {last:.3f}",
}


def values_of(rate):
    return [rate**step for step in range(1, STEPS + 1)]


def weights_of(rate, query):
    return torch.softmax(-rate * (torch.arange(KEYS) - query).abs().double(), dim=0)


def draw(rate, query):
    chart = Lines({"plain": values_of(rate), "gated": [1.0] * STEPS}, across="lag", up="norm")
    strip = Cells(["a", "b", "c", "d", "e"], {"weights": weights_of(rate, query)}, marked=[query])
    return [chart, strip, Note("at rate {rate:.1f} it is {last:.3f}", rate=rate, last=values_of(rate)[-1])]


@pytest.fixture(scope="module")
def picture():
    sliders = Slider("rate", RATES, start=0.7), Slider("query", QUERIES)
    return LivePicture(draw, *sliders, title="Decay", caption="Move it.", words={"es": WORDS})


def slide(page, name, place):
    page.get_by_role("slider", name=name).evaluate(
        "(input, place) => { input.value = place; input.dispatchEvent(new Event('input')); }", place
    )


def read_all(page, panel):
    """What the arrow keys read in a panel, mark by mark."""
    found = []
    page.locator("svg").nth(panel).press("Escape")
    for _ in range(200):
        page.keyboard.press("ArrowRight")
        text = page.locator(".readout").text_content()
        if found and text == found[-1]:
            return found
        found.append(text)
    raise AssertionError("the arrow keys do not end")


def last_numbers(texts):
    return [float(re.split(r"[ ·]+", text)[-1].replace("−", "-")) for text in texts]


def test_every_frame_shows_the_numbers_that_python_has(picture, open_page):
    page = open_page(picture.page("en"))
    for rate in RATES:
        for query in QUERIES:
            slide(page, "rate", RATES.index(rate))
            slide(page, "query", query)
            np.testing.assert_allclose(last_numbers(read_all(page, 0)), values_of(rate) + [1.0] * STEPS, rtol=1e-3)
            np.testing.assert_allclose(last_numbers(read_all(page, 1)), weights_of(rate, query), rtol=1e-3)
            assert page.locator(".note").text_content() == f"at rate {rate:.1f} it is {values_of(rate)[-1]:.3f}"
            assert page.locator(".cell.marked").count() == 1


def test_the_pointer_reads_the_nearest_value(picture, open_page):
    page = open_page(picture.page("en"))
    third = page.locator("svg").nth(1).locator("text.in-cell").nth(2)
    third.hover(force=True)
    assert page.locator(".readout").text_content().startswith("weights · c · ")
    (found,) = last_numbers([page.locator(".readout").text_content()])
    assert found == pytest.approx(weights_of(0.7, 0)[2].item(), rel=1e-3)
    page.mouse.move(1, 1)
    assert page.locator(".readout").text_content() == ""


def test_play_goes_through_the_first_slider_and_stops(picture, open_page):
    page = open_page(picture.page("en"))
    rate = page.get_by_role("slider", name="rate")
    assert rate.get_attribute("aria-valuetext") == "0.7"
    page.get_by_role("button", name="Play").click()
    page.locator("input[aria-valuetext='1.1']").wait_for()
    page.get_by_role("button", name="Play").wait_for()  # it says Play again
    assert rate.get_attribute("aria-valuetext") == "1.1"
    page.get_by_role("button", name="Play").click()  # from the end it begins anew
    assert rate.input_value() == "0"
    rate.press("ArrowRight")  # and a hand on the slider ends it
    assert page.get_by_role("button", name="Play").count() == 1


def test_its_words_and_numbers_follow_the_language(picture, open_page):
    page = open_page(picture.page("es"))
    assert page.locator("html").get_attribute("lang") == "es"
    assert page.locator("h1").text_content() == "Decaimiento"
    assert page.locator(".caption").text_content() == "Muévalo."
    assert page.locator(".note").text_content() == "con tasa 0,7 es 0,082"
    assert page.get_by_role("slider", name="tasa").get_attribute("aria-valuetext") == "0,7"
    assert page.get_by_role("button", name="Reproducir").count() == 1
    assert read_all(page, 0)[0] == "simple · retardo 1 · norma 0,7"
    page.get_by_role("button", name="English").click()
    assert page.locator("h1").text_content() == "Decay"
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("locale, title", [("es-AR", "Decaimiento"), ("de-DE", "Decay")])
def test_in_a_notebook_it_follows_the_browser(picture, open_page, locale, title):
    html = picture._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    page = open_page(f"<!doctype html><meta charset=utf-8>{html}", locale=locale)
    assert page.frame_locator("iframe").locator("h1").text_content() == title


@pytest.mark.parametrize("width", [380, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_window_and_its_colours(picture, open_page, width, scheme):
    page = open_page(picture.page("en"), width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    ink, paper = page.evaluate(
        "[getComputedStyle(document.querySelector('svg text')).fill, getComputedStyle(document.body).backgroundColor]"
    )
    bright = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
    assert (bright[0] < bright[1]) == (scheme == "light")
    size = float(page.evaluate("parseFloat(getComputedStyle(document.querySelector('svg')).fontSize)"))
    assert size >= (13 if width == 380 else 20)  # legible from the last row


def test_a_table_holds_the_numbers_of_the_frame(picture, open_page):
    page = open_page(picture.page("en"))
    page.get_by_text("The numbers of this frame").click()
    page.locator("table").first.wait_for()
    first = page.locator("table").first.locator("tbody tr")
    assert first.count() == 2 * STEPS
    assert first.nth(2).text_content() == "plain30.343"
    slide(page, "rate", 0)
    assert first.nth(2).text_content() == "plain30.125"


def test_it_is_saved_as_svg_and_png(picture, open_page, tmp_path):
    page = open_page(picture.page("en"))
    for ending in ("SVG", "PNG"):
        with page.expect_download() as saved:
            page.get_by_role("button", name=ending).click()
        assert saved.value.suggested_filename == f"Decay.{ending.lower()}"
        saved.value.save_as(tmp_path / f"picture.{ending.lower()}")
    root = ElementTree.parse(tmp_path / "picture.svg").getroot()
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "Decay · rate 0.7 · query 0" in texts and "gated" in texts
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_other_panels_are_read_too(open_page):
    matrix = torch.arange(6).reshape(2, 3) / 7 - 0.3
    points = np.array([[0.0, 1.0], [2.0, 3.0]])

    def three():
        heat = HeatMap(matrix, rows=["x", "y"], columns=["p", "q", "r"], diverging=True, show_values=True)
        plane = Plane({"words": points}, paths={"orbit": points[::-1]}, labels={"words": ["sun", "rain"]}, equal=True)
        return [heat, plane, Bars(["pie", "burger"], {"now": [0.25, 0.5], "then": [0.75, float("nan")]})]

    page = open_page(LivePicture(three, title="Three").page("en"))
    assert page.get_by_role("slider").count() == page.get_by_role("button", name="Play").count() == 0
    np.testing.assert_allclose(last_numbers(read_all(page, 0)), matrix.flatten(), rtol=1e-3)
    assert [text.partition(" · ")[0] for text in read_all(page, 1)] == ["orbit", "orbit", "words, sun", "words, rain"]
    assert read_all(page, 2) == ["pie · now · 0.25", "burger · now · 0.5", "pie · then · 0.75"]


def test_hostile_texts_stay_texts(open_page):
    evil = "</script><img src=x onerror=alert(1)>"
    picture = LivePicture(
        lambda value: Lines({evil: [1.0, value]}, across=evil), Slider(evil, [2.0, 3.0]), title=evil, caption=evil
    )
    page = open_page(picture.page("en"))
    assert page.locator("h1").text_content() == evil
    assert page.locator("img").count() == 0


def test_all_frames_share_their_scales():
    picture = LivePicture(lambda top: [Lines({"a": [0.0, top]}), HeatMap([[top]])], Slider("top", [1.0, 4.0, 2.0]))
    limits = [[panel["limits"] for panel in frame] for frame in picture.frames]
    assert limits[0] == limits[1] == limits[2]
    assert limits[0][0]["y"][0] == 0
    assert 4 < limits[0][0]["y"][1] < 4.5
    assert limits[0][1]["v"] == [0, 4]
    assert LivePicture(lambda: Lines({"a": [1, 3]}, y_limits=(0, 2))).frames[0][0]["limits"]["y"] == [0, 2]


def test_equal_panels_are_stored_once():
    still = Lines({"a": [1.0, 2.0]})
    picture = LivePicture(lambda value: [Lines({"a": [1.0, 2.0]}), Bars(["b"], {"": [value]})], Slider("v", [1, 2, 3]))
    stored = picture.to_json()
    assert len(stored["panels"]) == 4
    assert [frame[0] for frame in stored["frames"]] == [0, 0, 0]
    assert still.content["series"][0]["x"] == [1, 2]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_figure_of_its_first_frame_is_saved(picture, tmp_path, ending):
    path = picture.save(tmp_path / f"figure.{ending}", language="es")
    content = path.read_bytes()
    assert len(content) > 3_000
    if ending == "svg":
        text = content.decode()
        assert "norma" in text and "con tasa 0,7 es 0,082" in text and "norm<" not in text


def test_what_cannot_be_drawn_is_said(picture, tmp_path):
    with pytest.raises(InputError, match=r"1 to 1000 frames"):
        LivePicture(lambda a, b: Lines({}), Slider("a", range(40)), Slider("b", range(40)))
    with pytest.raises(InputError, match=r"must end in \.html"):
        picture.save(tmp_path / "figure.gif")
