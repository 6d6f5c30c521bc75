"""The graph of every task's models: all weights are counted, what flows reaches the output, and boxes stand apart."""

import importlib.util
from pathlib import Path

import pytest
import torch

from atento.models.diagnostics.model_graph import OUTPUT, trace_model
from atento.tasks.inputs.text import Text
from atento.tasks.outputs.one_label import OneLabel
from atento.views.model.graph import ModelGraphView, graph_page, graph_text
from atento.views.model.layout import fold
from atento.views.model.unrolled import unroll
from cases import asked_of

place = importlib.util.spec_from_file_location("contract_tasks", Path(__file__).with_name("test_tasks.py"))
tasks = importlib.util.module_from_spec(place)
place.loader.exec_module(tasks)

CASES = {
    f"{input.__name__} × {output.__name__}": [tasks.Case(input, output, name) for name in names]
    for (input, output), names in tasks.NAMES.items()
} | {"Text × OneLabel, hierarchical": [tasks.Case(Text, OneLabel, "gru+hierarchical")]}
every_task = asked_of(CASES)


def overlap(one, other):
    apart = one.x + one.width <= other.x or other.x + other.width <= one.x
    return not (apart or one.y + one.height <= other.y or other.y + other.height <= one.y)


@pytest.mark.spec("V01")
@every_task
def test_the_graph_of_every_model(case):
    passed = case.task.answering.forward_pass(case.module, case.codec, case.sources[0], tasks.DECODE)
    before = passed.score(passed.values)
    graph = trace_model(case.module, lambda: passed.score(passed.values))
    torch.testing.assert_close(passed.score(passed.values), before)
    assert graph.parameters == sum(weight.numel() for weight in case.module.parameters())
    assert all(node.parameters <= graph.parameters for node in graph.nodes)
    names = {node.name for node in graph.nodes}
    reaching, grows = {OUTPUT}, True
    while grows:
        more = {edge.source for edge in graph.edges if edge.target in reaching} - reaching
        reaching, grows = reaching | more, bool(more)
    assert any(node.parameters for node in graph.nodes if node.name in reaching)
    assert {edge.source for edge in graph.edges} <= names | set(graph.inputs)
    for layout in (fold(graph, columns=True), fold(graph, columns=False), unroll(graph)):
        boxes = [] if layout is None else layout.boxes
        assert not [(one, two) for at, one in enumerate(boxes) for two in boxes[:at] if overlap(one, two)]
    view = ModelGraphView(model=case.name, graph=graph)
    assert f"{graph.parameters:,}" in graph_text(view) and len(graph_page(view)) < 3_000_000
