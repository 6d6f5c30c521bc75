"""Norms through attention against the whole Jacobian."""

import math

import pytest
import torch

from atento.attention import Attention, Causal, Everything, MultiHead, ScaledDot, Softmax, Window
from atento.blocks import TransformerEncoderLayer, TransformerStack
from atento.layers import FeedForward
from atento.models.diagnostics import gradient_flow, record_activations
from atento.models.diagnostics.gradients import PROBES, norms_from, paths_back
from atento.models.diagnostics.recording import AttentionPass

BATCH, STEPS, SIZE = 3, 7, 6


def make(extent, size=SIZE, layers=2):
    return TransformerStack(
        [
            TransformerEncoderLayer(
                MultiHead(size, 2, Attention(ScaledDot(), Softmax(), extent)), FeedForward(size, 11)
            )
            for _ in range(layers)
        ]
    ).eval()


def seen(stack, inputs, valid=None):
    with record_activations(stack) as found:
        stack(inputs, valid=valid)
    (passed,) = found.attention_passes[""]
    return passed


def norm(stack, row, output, input):
    """‖∂output/∂input‖ over √D of one sequence (T, D), by autograd alone."""
    whole = torch.autograd.functional.jacobian(lambda values: stack(values.unsqueeze(0))[0, output], row)  # (D, T, D)
    return whole[:, input].norm().item() / math.sqrt(row.size(-1))


@pytest.mark.spec("R13")
@pytest.mark.parametrize("extent", [Everything(), Causal()], ids=["everything", "causal"])
def test_norms_are_those_of_the_jacobian(extent):
    """To the past, and to the future where it is seen; padding, wherever it stands, is no step."""
    stack, inputs = make(extent), torch.randn(BATCH, STEPS, SIZE)
    valid = torch.ones(BATCH, STEPS, dtype=torch.bool)
    valid[1, [0, 3]] = False
    expected = []
    for row in range(BATCH):
        items = inputs[row, valid[row]]
        for end in (len(items) - 1, len(items) - 1 - len(items) // 2 // 2):
            expected.append([norm(stack, items, end, end - lag) for lag in range(end + 1)])
            if isinstance(extent, Everything) and end + 1 < len(items):
                expected.append([norm(stack, items, end, place) for place in range(end, len(items))])
    found = [path.exp().tolist() for path in paths_back(seen(stack, inputs, valid), paths=2 * BATCH)]
    assert len(found) == len(expected)
    for path in expected:
        assert any(path == pytest.approx(other, rel=1e-9) for other in found if len(other) == len(path))


@pytest.mark.spec("R13")
def test_a_window_is_where_the_gradient_ends():
    """Two layers that see two steps back: four steps back something arrives, five back nothing."""
    flow = gradient_flow(make(Causal() & Window(2)), torch.randn(BATCH, 23, SIZE))
    curve = flow.parts[0].curve
    assert all(number > 1e-6 for number in curve.median[:5])
    assert all(number < 1e-20 for number in curve.median[5:])
    assert flow.verdict == "vanishes"
    assert "model.window" in flow.remedy


@pytest.mark.spec("R13")
def test_attention_reaches_every_step_alike():
    flow = gradient_flow(make(Everything()), torch.randn(BATCH, 41, SIZE))
    assert flow.verdict == "level"
    assert abs(flow.parts[0].curve.slope) < 0.05
    assert flow.parts[0].kind == "attention"


def test_some_probes_stand_for_a_large_output():
    torch.manual_seed(3)
    stack, inputs = make(Everything(), size=62, layers=1), torch.randn(1, STEPS, 62)
    passed: AttentionPass = seen(stack, inputs)
    found = norms_from(passed, {0: 4})
    assert PROBES < 62
    for place in range(STEPS):
        assert found[0, place].item() == pytest.approx(norm(stack, inputs[0], 4, place), rel=0.25)
