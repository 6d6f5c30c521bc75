"""Attention maps as the viewer reads them: exact to float32, with what was generated and what moved the answer."""

import base64
import json

import numpy as np
import pytest
import torch

from atento.errors import InputError
from atento.models.diagnostics.attention_maps import AttentionMap, HeadVectors
from atento.tasks.traces import Alignment, GeneratedToken, PartialOutput, TokenAlternative
from atento.views.attention.attribution import attribution_text, save_attribution
from atento.views.attention.grid_figure import maps_figure
from atento.views.attention.maps import AttentionMapsView, AttributionView, ExplainedAlignment, save_maps

LAYERS, HEADS, QUERIES, KEYS, SIZE = 2, 3, 5, 7, 11


def make_map(name="encoder self-attention", kind="self"):
    torch.manual_seed(0)
    weights = torch.randn(LAYERS, HEADS, QUERIES, KEYS).softmax(dim=-1)
    vectors = HeadVectors(*(torch.randn(LAYERS, HEADS, count, SIZE) for count in (QUERIES, KEYS, KEYS)))
    return AttentionMap(name, kind, [*"abcde"], [f"<b>{key}</b>" for key in range(KEYS)], weights, vectors=vectors)


def make_attribution():
    return AttributionView(
        model="gru",
        source="ab<script>",
        output="x",
        target="log-probability of 'x'",
        tokens=["a", "b", "<script>"],
        values=[0.5, -0.25, 0.0],
        remainder=0.001,
        score=-0.1,
        baseline=-0.35,
        points=32,
    )


def make_view(*maps):
    step = GeneratedToken("x", [TokenAlternative("x", 0.75), TokenAlternative("y", 0.25)], [PartialOutput("x", -0.3)])
    return AttentionMapsView(
        model="transformer",
        source="abcde",
        output="x",
        maps=maps or [make_map()],
        steps=[step],
        finished=[PartialOutput("x", -0.4)],
        attribution=make_attribution(),
    )


def numbers_of(text, shape):
    return np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(shape)


@pytest.mark.spec("V02")
def test_numbers_are_exact_to_float32_and_vectors_are_cut():
    view = make_view()
    found = json.loads(json.dumps(view.to_json(), allow_nan=False))
    (stored,) = found["maps"]
    assert stored["shape"] == [LAYERS, HEADS, QUERIES, KEYS]
    assert np.array_equal(numbers_of(stored["weights"], stored["shape"]), view.maps[0].weights.float().numpy())
    weights = view.maps[0].weights.double()
    entropy = -(weights * weights.log()).sum(dim=-1).mean(dim=-1)
    np.testing.assert_allclose(stored["statistics"]["entropy"], entropy, atol=1e-6)
    query = found["vectors"]["encoder self-attention"]["query"]
    assert query["shape"] == [LAYERS, HEADS, QUERIES, 8]
    shown = view.maps[0].vectors.query[..., :8].float().numpy()
    assert np.array_equal(numbers_of(query["numbers"], query["shape"]), shown)
    assert found["steps"][0]["alternatives"][1] == {"token": "y", "probability": 0.25}
    assert found["finished"] == [{"text": "x", "score": -0.4}]
    assert found["attribution"]["values"] == [0.5, -0.25, 0.0]


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.json", "a.html"])
def test_files_of_one_and_of_two_models(tmp_path, name):
    for views in ([make_view()], [make_view(), make_view(make_map("cross-attention", "cross"))]):
        path = save_maps(views, tmp_path / name)
        assert path.stat().st_size > 1000
    if name == "a.html":
        assert "<b>0</b>" not in path.read_text(encoding="utf-8")
    if name == "a.json":
        assert len(json.loads(path.read_text())) == 2


def test_a_figure_without_maps_is_refused(tmp_path):
    with pytest.raises(InputError, match="no weights"):
        maps_figure([], tmp_path / "a.png")


def test_an_alignment_asks_for_its_maps_once():
    asked = []

    def examine():
        asked.append(1)
        return make_view()

    alignment = Alignment(["a"], ["x"], torch.ones(1, 1, 1, 1), "x", None)
    found = ExplainedAlignment.of(alignment, "transformer", examine)
    assert found == alignment and found.text == "x" and not asked
    assert found.maps is found.maps and len(asked) == 1
    assert "attention-views" in found._repr_html_()


def test_attributions_in_words_and_files(tmp_path, open_page):
    view = make_attribution()
    text = attribution_text(view)
    assert "+0.5000" in text and "−0.2500" in text and "add up" in text and "Neither says why" in text
    page = open_page(save_attribution(view, tmp_path / "a.html").read_text(encoding="utf-8"))
    spans = page.locator(".shaded span")
    assert spans.all_text_contents() == ["a", "b", "<script>"]
    assert [spans.nth(at).get_attribute("class") for at in range(3)] == ["for-10", "against-5", None]
    assert spans.nth(0).evaluate("one => getComputedStyle(one).backgroundColor") not in ("", "rgba(0, 0, 0, 0)")
    assert save_attribution(view, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
