"""Word vectors for a terminal, as a page, as a figure and in files."""

import json
import re

import numpy as np
import pytest
from matplotlib.image import imread

from atento.data import read_vectors
from atento.errors import InputError
from atento.views import Embeddings
from atento.views.embeddings import embeddings_text, render_map
from atento.views.word_map import Box, embeddings_view, place_labels

GROUPS = {"cat": "dog horse goat", "pear": "plum cherry orange", "van": "bus truck taxi"}


@pytest.fixture(scope="module")
def words():
    chance, names, vectors = np.random.default_rng(4), [], []
    for first, others in GROUPS.items():
        centre = chance.standard_normal(11)
        for word in [first, *others.split()]:
            names.append(word)
            vectors.append(centre + 0.2 * chance.standard_normal(11))
    return Embeddings([*names, ",", "<b>x"], [*vectors, *chance.standard_normal((2, 11))])


@pytest.mark.spec("S02")
def test_a_view_holds_the_neighbours_and_a_map_around_them(words):
    view = embeddings_view(words, "cat", model="skip-gram")
    assert {word for word, _ in view.neighbours[:3]} == set(GROUPS["cat"].split())
    assert view.neighbours[0].cosine == round(words.nearest("cat")[0].cosine, 4)
    assert view.map[0].word == "cat" and len(view.map) == len(words)
    whole = embeddings_view(words)
    assert [word for word, *_ in whole.map] == [word for word in words.words if word != ","]
    assert dict((word, near[0].word) for word, near in whole.groups)["pear"] in GROUPS["pear"].split()


@pytest.mark.spec("S02")
def test_a_terminal_shows_bars_as_long_as_the_cosine(words):
    lines = embeddings_text(embeddings_view(words, "pear"), width=60).splitlines()
    assert lines[0] == "nearest to pear (cosine; 14 tokens of 11 numbers each)"
    assert {line.split()[0] for line in lines[1:4]} == set(GROUPS["pear"].split())
    assert lines[1].count("█") > lines[5].count("█")
    assert max(map(len, lines)) <= 60
    assert "cat" in embeddings_text(embeddings_view(words)) and "dog" in embeddings_text(embeddings_view(words))


@pytest.mark.spec("S02")
def test_a_browser_shows_a_dot_and_a_name_for_each_word(words, open_page):
    page = open_page(render_map(embeddings_view(words, "cat - dog", model="skip-gram")))
    assert page.locator("h1").inner_text() == "nearest to cat - dog"
    assert page.locator(".static svg circle").count() == len(words)
    assert page.locator(".static svg circle.accent").count() == 2
    assert page.locator("#neighbours tbody tr").count() == 10
    assert "<b>x" in [
        title.inner_html().replace("&lt;", "<").replace("&gt;", ">") for title in page.locator("svg title").all()
    ]


@pytest.mark.spec("V08")
def test_a_map_one_can_search_zoom_and_point_into(words, open_page):
    page = open_page(render_map(embeddings_view(words, model="skip-gram")))
    svg, said = page.locator(".live-words"), page.locator(".words-readout")
    cat = svg.locator(".map-word", has_text="cat")
    cat.locator("circle").hover()
    near = ", ".join(f"{one.word} {one.cosine:.2f}" for one in words.nearest("cat", 6))
    assert said.text_content() == f"nearest to cat: {near}"
    assert svg.locator(".map-word.near").count() == sum(one.word != "," for one in words.nearest("cat", 6))

    def place(word):
        dot = svg.locator(".map-word", has_text=word).locator("circle")
        return np.array([float(dot.get_attribute(axis)) for axis in ("cx", "cy")])

    before = place("van") - place("bus")
    page.get_by_label("search for a word").fill("van")
    assert said.text_content().startswith("nearest to van: ")
    after = place("van") - place("bus")
    np.testing.assert_allclose(after, 4 * before, rtol=1e-3)  # distances stay true
    size = svg.bounding_box()
    np.testing.assert_allclose(place("van"), [size["width"] / 2, size["height"] / 2], atol=2)
    svg.focus()
    page.keyboard.press("ArrowLeft")
    np.testing.assert_allclose(place("van"), [size["width"] / 2 + 60, size["height"] / 2], atol=2)
    page.keyboard.press("0")
    np.testing.assert_allclose(place("van") - place("bus"), before, rtol=1e-6)
    page.get_by_label("search for a word").fill("zebra")
    assert said.text_content() == "zebra is not on this map."
    narrow = open_page(render_map(embeddings_view(words)), width=360, color_scheme="dark")
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 360


def test_places_on_the_page_keep_distances(words):
    view = embeddings_view(words, "cat")
    page = render_map(view)
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle [^>]*cx="([\d.]+)" cy="([\d.]+)"', page)]
    points = np.array([[x, y] for _, x, y in view.map])
    apart = np.linalg.norm(points[0] - points[5]), np.linalg.norm(points[2] - points[9])
    shown = np.linalg.norm(np.subtract(dots[0], dots[5])), np.linalg.norm(np.subtract(dots[2], dots[9]))
    assert shown[0] / apart[0] == pytest.approx(shown[1] / apart[1], rel=1e-2)


def test_a_figure_holds_a_dot_for_each_word(words, tmp_path):
    pixels = imread(words.save(tmp_path / "map.png", asked="cat"))[..., :3] * 255
    assert (np.abs(pixels - (31, 119, 180)).max(axis=-1) < 3).sum() > 60  # the word asked for
    assert (np.abs(pixels - 64).max(axis=-1) < 3).sum() > 300
    first, second = (words.save(tmp_path / f"{name}.svg").read_bytes() for name in "ab")
    assert first == second


@pytest.mark.spec("S02", "S03")
def test_it_can_be_kept(words, tmp_path):
    again = read_vectors(words.save(tmp_path / "v.vec.gz"))
    assert again.words == words.words
    np.testing.assert_array_equal(again.vectors, words.vectors.astype(np.float32))
    view = json.loads(words.save(tmp_path / "v.json", asked="van").read_text())
    assert view == json.loads(json.dumps(embeddings_view(words, "van").to_json()))
    assert words.save(tmp_path / "v.html").read_text().startswith("<!doctype html>")
    with pytest.raises(InputError, match="must end in"):
        words.save(tmp_path / "v.bmp")
    assert repr(words) == "Embeddings(14 words of 11 numbers)"


def test_labels_cover_neither_dots_nor_each_other():
    chance = np.random.default_rng(0)
    dots = [(float(x), float(y)) for x, y in chance.uniform(20, 480, (60, 2))]
    widths = [float(width) for width in chance.uniform(10, 70, 60)]
    frame = Box(0.0, 0.0, 500.0, 500.0)
    places = place_labels(dots, widths, height=12.0, gap=8.0, frame=frame)
    boxes = []
    for place, width in zip(places, widths, strict=True):
        if place is not None:
            left = place.x - width * {"start": 0, "middle": 0.5, "end": 1}[place.anchor]
            boxes.append(Box(left, place.y - 6, left + width, place.y + 6))
    assert 20 < len(boxes) < 60
    for number, box in enumerate(boxes):
        assert box.left >= 0 and box.right <= 500 and box.top >= 0 and box.bottom <= 500
        assert not any(box.covers(other) for other in boxes[:number])
        assert not any(box.left < x < box.right and box.top < y < box.bottom for x, y in dots)
    assert place_labels([(10.0, 10.0)], [5.0], height=12.0, gap=8.0, frame=frame)[0] == (18.0, 10.0, "start")
    assert place_labels([(495.0, 10.0)], [5.0], height=12.0, gap=8.0, frame=frame)[0].anchor == "end"
