"""Layers as CUDA graphs: what is copied in and out, when a shape is captured, and when a graph may not be used.

There is no GPU here: a stand-in for a graph computes its work anew, and writes to the same places as a graph does."""

import gc

import pytest
import torch
from torch import nn

from atento.blocks import graphed
from atento.layers.packing import Packing

BATCH, TIME, SIZE = 3, 5, 7
VALID = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 0, 1]], dtype=torch.bool)


class Replayed:
    """A graph that computes its work anew."""

    def __init__(self, work):
        self.work, self.results = work, work()

    def replay(self):
        for place, result in zip(self.results, self.work(), strict=True):
            place.copy_(result)


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    def captured(work, pool):
        graph = Replayed(work)
        return graph, graph.results

    monkeypatch.setattr(graphed, "captured", captured)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: None)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)


class Layers(nn.Module):
    """Something with weights that reads rows, bounds and a seed."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.first, self.second = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)

    def compute(self, packings, packed, seed):
        ends = packings[0].bounds[1 : BATCH + 1].sum()
        return torch.tanh(self.first(packed[0])) * seed + self.second(packed[1]) * ends

    def run(self, values, packing):
        others = [values, 2.0 * values]
        seed = torch.tensor([3])
        found = graphed.graphed(self, self.compute, others, [packing] * 2, list(self.parameters()), seed, facts=())
        if found is not None:
            return found[: packing.items], True
        return self.compute([packing] * 2, [packing.pack(one) for one in others], seed)[: packing.items], False


def gradients(layers, values, packing):
    output, by_graph = layers.run(values, packing)
    return [output.detach(), *torch.autograd.grad(output.square().sum(), [values, *layers.parameters()])], by_graph


@pytest.mark.parametrize("valid", [VALID, None])
def test_the_third_time_is_a_graph_and_all_times_agree(valid):
    layers, found = Layers(), []
    for turn in range(5):
        values = torch.randn(BATCH, TIME, SIZE, requires_grad=True)  # other values each time
        packing = Packing.of(values, valid)
        ours, by_graph = gradients(layers, values, packing)
        assert by_graph == (turn >= 2)
        seed = torch.tensor([3])
        output = layers.compute([packing] * 2, [packing.pack(values), packing.pack(2.0 * values)], seed)[
            : packing.items
        ]
        wanted = [output.detach(), *torch.autograd.grad(output.square().sum(), [values, *layers.parameters()])]
        for one, other in zip(ours, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
        found.append(ours)
    assert not torch.equal(found[2][2], found[4][2])  # a later pass has not written over the gradients of this one


def captured_layers():
    layers, values = Layers(), torch.randn(BATCH, TIME, SIZE, requires_grad=True)
    packing = Packing.of(values, VALID)
    for _ in range(3):
        gradients(layers, values, packing)
    return layers, values, packing


def test_gradients_accumulate():
    layers, values, packing = captured_layers()
    layers.run(values, packing)[0].square().sum().backward()
    once = [weight.grad.clone() for weight in layers.parameters()]
    layers.run(values, packing)[0].square().sum().backward()
    for weight, one in zip(layers.parameters(), once, strict=True):
        torch.testing.assert_close(weight.grad, 2 * one, rtol=0, atol=1e-12)


def test_two_forward_passes_before_a_backward_pass():
    layers, values, packing = captured_layers()
    first, by_graph = layers.run(values, packing)
    second, also = layers.run(3.0 * values, packing)
    assert (by_graph, also) == (True, False)
    kept = first.detach().clone()
    (found,) = torch.autograd.grad((first * second).sum(), [values])
    torch.testing.assert_close(first, kept, rtol=0, atol=0)
    one, other = (
        layers.compute([packing] * 2, [packing.pack(k * values), packing.pack(2 * k * values)], 3) for k in (1, 3)
    )
    (wanted,) = torch.autograd.grad((one * other)[: packing.items].sum(), [values])
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


def test_an_output_that_is_thrown_away_frees_the_graph():
    layers, values, packing = captured_layers()
    assert layers.run(values, packing)[1]
    gc.collect()
    assert layers.run(values, packing)[1]


def test_a_second_backward_pass_after_another_forward_pass_is_refused():
    layers, values, packing = captured_layers()
    loss = layers.run(values, packing)[0].sum()
    loss.backward(retain_graph=True)
    layers.run(values, packing)[0].sum().backward()
    with pytest.raises(RuntimeError, match="repeated"):
        loss.backward()


def test_other_weights_and_other_facts_are_other_graphs():
    layers, values, packing = captured_layers()
    layers.first.weight = nn.Parameter(torch.zeros(SIZE, SIZE))
    assert not layers.run(values, packing)[1]
    for weight in layers.parameters():
        weight.requires_grad_(False)
    assert not layers.run(values, packing)[1]


def test_a_module_that_is_gone_takes_its_graphs_along():
    gc.collect()
    before = len(graphed.OWNERS)
    layers, _, _ = captured_layers()
    assert len(graphed.OWNERS) == before + 1
    graphed.OWNERS[layers].captured.clear()  # the stand-in keeps its work, a graph does not
    del layers
    gc.collect()
    assert len(graphed.OWNERS) == before


def test_what_cannot_be_captured_runs_as_always(monkeypatch):
    def refused(work, pool):
        raise RuntimeError("operation not permitted when stream is capturing")

    left = []
    monkeypatch.setattr(graphed, "captured", refused)
    monkeypatch.setattr(graphed, "leave_capture", left.append)
    layers, values, packing = captured_layers()
    assert not layers.run(values, packing)[1]
    assert "not permitted" in graphed.OWNERS[layers].refused
    assert left == [torch.device("cpu")]  # once: what failed is not tried again


def test_no_garbage_is_looked_for_while_a_graph_is_captured():
    assert gc.isenabled()
    with graphed.nothing_freed():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_fills_a_fixed_shape():
    values = torch.randn(BATCH, TIME, SIZE)
    packing = Packing.of(values, VALID)
    rows, sequences, time = graphed.FixedPacking.shape(packing)
    assert (rows, sequences, time) == (256, 33, 256)
    bounds = graphed.FixedPacking.bounds_of(packing, rows, sequences)
    assert bounds.tolist() == [0, 3, 8, 10, *[10] * 29, 256]
    filled = graphed.FixedPacking.fill(values, packing, rows)
    torch.testing.assert_close(filled[:10], values[VALID], rtol=0, atol=0)
    assert not filled[10:].any()
