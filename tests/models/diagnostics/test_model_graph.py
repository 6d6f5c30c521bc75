"""The graph of a model: shapes, shared weights and steps against what is known of it by construction."""

import pytest
import torch
from torch import nn

import atento
from atento.errors import InputError
from atento.models import TranslationBatch
from atento.models.builders import Vocabularies, build_translator
from atento.models.diagnostics.model_graph import trace_model
from atento.recurrent.cells import LSTMCell
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe


class TiedModel(nn.Module):
    """Embedding, recurrent stack in both directions, and an output layer with the weights of the embedding."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 6)
        self.stack = Stack(LSTMCell, 6, 5, bidirectional=True)
        self.narrow = nn.Linear(10, 6)
        self.output = nn.Linear(6, 11, bias=False)
        self.output.weight = self.table.weight

    def forward(self, tokens):
        states = self.stack(self.table(tokens), valid=tokens >= 0).outputs
        return self.output(torch.relu(self.narrow(states)) + self.table(tokens))


@pytest.fixture(scope="module")
def graph():
    return trace_model(TiedModel(), torch.randint(0, 11, (2, 7)))


@pytest.mark.spec("V01")
def test_shapes_and_parameters_are_those_of_the_modules(graph):
    nodes = {node.name: node for node in graph.nodes}
    assert nodes["table"].outputs == [(2, 7, 6)] and nodes["table"].parameters == 11 * 6
    assert nodes["narrow"].inputs == [(2, 7, 10)] and nodes["narrow"].outputs == [(2, 7, 6)]
    assert nodes["stack.cells.0"].parameters == 4 * 5 * (6 + 5) + 2 * 4 * 5
    assert graph.inputs == {"input": (2, 7)} and graph.outputs == [(2, 7, 11)]
    assert graph.parameters == sum(weight.numel() for weight in TiedModel().parameters())


@pytest.mark.spec("V01")
def test_a_cell_is_one_node_with_a_call_for_each_step(graph):
    cells = [node for node in graph.nodes if node.kind == "LSTMCell"]
    assert [cell.calls for cell in cells] == [7, 7] and [cell.backward for cell in cells] == [False, True]
    assert [graph.steps(cell.name) for cell in cells] == [7, 7] and graph.steps("narrow") == 1
    own = [edge for edge in graph.edges if edge.source == edge.target == "stack.cells.0"]
    assert [(edge.source_call, edge.target_call) for edge in own] == [(step, step + 1) for step in range(6)]
    assert {edge.shape for edge in own} == {(2, 5)}


@pytest.mark.spec("V01")
def test_what_flows_is_read_from_the_graph_of_autograd(graph):
    pairs = {(edge.source, edge.target) for edge in graph.edges if edge.source != edge.target}
    assert pairs == {
        ("input", "table"),
        ("table", "stack.cells.0"),
        ("table", "stack.cells.1"),
        ("stack.cells.0", "narrow"),
        ("stack.cells.1", "narrow"),
        ("narrow", "output"),
        ("table", "output"),  # around the stack
    }


@pytest.mark.spec("V01")
def test_shared_weights_are_marked(graph):
    shared = {part.name: part.shared for part in graph.parts if part.shared}
    assert shared == {"table": ["output"], "output": ["table"]}
    assert all(part.parameters == 10 * 6 + 6 for part in graph.parts if part.name == "narrow")


@pytest.mark.spec("V01")
@pytest.mark.parametrize("name", ["transformer", "lstm+additive", "gru"])
def test_weights_used_twice_without_a_module_are_found(name):
    """The decoder multiplies by its own embedding to make logits: no module says so, the graph does."""
    torch.manual_seed(0)
    module = build_translator(ModelRecipe(name=name, hidden=16, layers=2), Vocabularies(13, 17)).eval()
    source, target = torch.randint(4, 13, (2, 5)), torch.randint(4, 17, (2, 3))
    valid, seen = torch.ones_like(source, dtype=torch.bool), torch.ones_like(target, dtype=torch.bool)
    batch = TranslationBatch(source, valid, target, target, seen)
    before = module(batch)
    graph = trace_model(module, batch)
    shared = {part.name: part.shared for part in graph.parts if part.shared}
    (table,) = [name for name, weight in module.named_parameters() if weight.shape == (17, 16)]
    assert shared == {table.removesuffix(".weight"): ["output"]}
    assert graph.parameters == sum(weight.numel() for weight in module.parameters())
    assert torch.equal(module(batch), before)
    assert not [part for part in module.modules() if "forward" in vars(part)]  # nothing stays wrapped
    if name == "transformer":
        names = [node.name for node in graph.nodes]
        assert "encoder.stack.layers.1.self_attention" in names and "decoder.layers.0.cross_attention" in names
        crossing = {edge.target for edge in graph.edges if edge.source == "encoder.stack.norm"}
        assert crossing == {"decoder.layers.0.cross_attention", "decoder.layers.1.cross_attention"}


@pytest.mark.spec("V01")
def test_any_module_in_python(tmp_path):
    view = atento.model_graph(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), torch.ones(5, 3))
    assert "5 × 3 → 5 × 2" in repr(view) and "26 parameters" in repr(view)
    assert view.save(tmp_path / "a.svg").read_text().startswith("<?xml")
    with pytest.raises(InputError, match="needs a batch"):
        atento.model_graph(nn.Linear(3, 4))
