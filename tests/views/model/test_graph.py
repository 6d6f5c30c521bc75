"""The model as a graph: in a browser, on a terminal and in files."""

import json

import pytest
import torch
from torch import nn

from atento.models.diagnostics.model_graph import trace_model
from atento.recurrent.cells import GRUCell
from atento.recurrent.stack import Stack
from atento.views.model.graph import ModelGraphView, graph_page, graph_text, save_graph
from atento.views.model.layout import fold
from atento.views.model.unrolled import MOST_STEPS, unroll


class Reader(nn.Module):
    """Two layers of a recurrent stack over an embedding."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(13, 6)
        self.stack = Stack(GRUCell, 6, 5, layers=2)
        self.head = nn.Linear(5, 3)

    def forward(self, tokens):
        states = self.stack(self.table(tokens))
        return self.head(states.outputs + states.last[0].hidden.unsqueeze(1))


@pytest.fixture(scope="module")
def view():
    torch.manual_seed(0)
    return ModelGraphView(model="<b>gru", source="a <i>text", graph=trace_model(Reader(), torch.randint(0, 13, (1, 4))))


@pytest.mark.spec("V01")
def test_the_page_shows_the_model_folded_and_unrolled(view, open_page):
    page = open_page(graph_page(view))
    folded, unrolled = page.locator("#folded .wide svg"), page.locator("#unrolled svg")
    assert folded.locator(".node").count() == 6  # input, table, two cells, head, output
    assert unrolled.locator(".node.step").count() == 2 * 4
    assert unrolled.locator(".node.step").first.text_content().endswith("t = 1")
    labels = folded.locator(".arrow text").all_text_contents()
    assert "4 steps" in labels and "1 × 4 × 6" in labels
    folded.locator(".node", has_text="head").hover()
    assert page.locator(".graph-readout").text_content() == (
        "head: Linear, 18 parameters, reads stack.cells.0 (1 × 5), stack.cells.1 (1 × 5), gives 1 × 4 × 3"
    )
    assert folded.locator(".arrow.on").count() == 3 and folded.locator(".node.near").count() == 3
    folded.locator(".node").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".graph-readout").text_content().startswith("table: Embedding, 78 parameters")
    cells = page.locator("#parts tbody tr").filter(has_text="GRUCell").first.locator("td").all_text_contents()
    assert cells[2] == f"{3 * 5 * (6 + 5) + 2 * 3 * 5:,}" and cells[3] == "at 4 steps"


@pytest.mark.spec("V01")
def test_boxes_do_not_overlap_and_arrows_end_at_them(view):
    layouts = [fold(view.graph, columns=True), fold(view.graph, columns=False), unroll(view.graph)]
    for layout in layouts:
        for at, one in enumerate(layout.boxes):
            assert one.x >= 0 and one.x + one.width <= layout.width and one.bottom <= layout.height
            for other in layout.boxes[:at]:
                apart = one.x + one.width <= other.x or other.x + other.width <= one.x
                assert apart or one.bottom <= other.y or other.bottom <= one.y, (one, other)
        for arrow in layout.arrows:
            x, y = arrow.points[-1]
            targets = [box for box in layout.boxes if box.node == arrow.target]
            assert any(box.x <= x <= box.x + box.width and box.y <= y <= box.bottom for box in targets)
    steps = [box for box in layouts[2].boxes if box.node == "stack.cells.0"]
    assert [box.title for box in sorted(steps, key=lambda box: box.x)] == [f"t = {time}" for time in range(1, 5)]
    assert len(steps) <= MOST_STEPS


@pytest.mark.spec("V01")
def test_steps_go_on_in_the_direction_of_reading():
    torch.manual_seed(0)
    stack = Stack(GRUCell, 6, 5, bidirectional=True)
    layout = unroll(trace_model(stack, torch.randn(1, 4, 6)))
    for name, sign in (("cells.0", 1), ("cells.1", -1)):
        along = [arrow.points for arrow in layout.arrows if arrow.source == arrow.target == name]
        assert len(along) == 3 and all(sign * (end[0] - start[0]) > 0 for start, end in along)


def test_layers_that_are_alike_are_drawn_once():
    torch.manual_seed(0)
    layers = nn.ModuleList(nn.ModuleDict({"up": nn.Linear(4, 7), "down": nn.Linear(7, 4)}) for _ in range(3))

    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers, self.head = layers, nn.Linear(4, 2)

        def forward(self, values):
            for layer in self.layers:
                values = layer["down"](layer["up"](values).tanh())
            return self.head(values)

    layout = fold(trace_model(Deep(), torch.ones(1, 4)), columns=True)
    assert [frame.title for frame in layout.frames if "alike" in frame.title] == ["0 · 3 layers alike"]
    assert len(layout.boxes) == 2 + 1 + 2
    pairs = {(arrow.source, arrow.target) for arrow in layout.arrows}
    assert pairs == {
        ("input", "layers.0.up"),
        ("layers.0.up", "layers.0.down"),
        ("layers.0.down", "head"),  # the last layer gives it; the first stands for it
        ("head", "output"),
    }


def test_words_and_files(view, tmp_path, open_page):
    text = graph_text(view)
    assert "1 × 4 → 1 × 4 × 3" in text and max(map(len, text.splitlines())) <= 80
    found = json.loads(save_graph(view, tmp_path / "a.json").read_text())
    assert found["parameters"] == view.graph.parameters and len(found["nodes"]) == 4
    assert save_graph(view, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    html = graph_page(view)
    assert "<b>gru" not in html and "<i>text" not in html
    page = open_page(html, width=360, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
