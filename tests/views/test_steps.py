"""One forward pass as a page: forward and back, by mouse and by keyboard, to what a matrix is made of."""

import json

import pytest
import torch

from atento.models.diagnostics.attention_maps import AttentionMap, HeadVectors
from atento.tasks.traces import trace_matrix
from atento.views.steps import StepsView, save_steps, steps_page, steps_text, with_attention

TOKENS = ["<i>a</i>", "b", " "]


@pytest.fixture
def view():
    torch.manual_seed(0)
    weights = torch.randn(1, 2, 3, 3).softmax(dim=-1)
    vectors = HeadVectors(*(torch.randn(1, 2, 3, 13) for _ in range(3)))
    shown = AttentionMap(
        "encoder self-attention", "self", TOKENS, TOKENS, weights, vectors=vectors, formula="softmax(…)"
    )
    trace = [
        trace_matrix("tokens", "each token is a number", TOKENS, torch.tensor([[3.0], [1], [4]]), columns=["number"]),
        trace_matrix("states", "one vector each", TOKENS, torch.randn(3, 13), made_of=["tokens"]),
        trace_matrix("weights, layer 1, head 1", "as before", TOKENS, weights[0, 0], columns=TOKENS),
        trace_matrix("outputs", "W · summary + b", ["output"], torch.randn(1, 2), columns=["x", "y"]),
    ]
    return StepsView(model="transformer", source="a b", output="x", steps=with_attention(trace, [shown]))


def test_heads_stand_where_they_are_computed(view):
    titles = [step.title for step in view.steps]
    head = [
        f"encoder self-attention, layer 1, head 1: {part}"
        for part in ("queries", "keys", "values", "weights", "output")
    ]
    assert titles[0] == "tokens" and titles[1:6] == head and titles[-2:] == ["states", "outputs"]
    assert view.steps[4].made_of == head[:2] and view.steps[5].made_of == head[2:4]
    assert view.steps[1].shape == [3, 13] and len(view.steps[1].columns) == 8
    assert "… 5 more columns" in steps_text(view)


def test_a_walk_by_mouse_and_keyboard(view, open_page):
    page = open_page(steps_page(view))
    title = page.locator(".step-matrix h3")
    assert title.text_content() == "tokens" and page.locator(".step-matrix td.number").all_text_contents() == [
        "3",
        "1",
        "4",
    ]
    assert page.locator(".step-matrix tbody th").all_text_contents() == ["<i>a</i>", "b", "␣"]
    page.get_by_role("button", name="next").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert title.text_content().endswith("head 1: weights")
    shown = [float(text) for text in page.locator(".step-matrix td.number").all_text_contents()]
    assert shown == pytest.approx([number for row in view.steps[4].matrix for number in row], abs=6e-4)
    page.locator(".step-made button").first.click()
    assert title.text_content().endswith("head 1: queries")
    page.keyboard.press("ArrowLeft")
    page.get_by_role("navigation").get_by_role("button", name="outputs").click()
    assert title.text_content() == "outputs" and page.get_by_role("button", name="next").is_disabled()


def test_narrow_and_dark(view, open_page):
    page = open_page(steps_page(view), width=360, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_numbers_as_json(view, tmp_path):
    found = json.loads(save_steps(view, tmp_path / "a.json").read_text())
    assert [step["title"] for step in found] == [step.title for step in view.steps]
