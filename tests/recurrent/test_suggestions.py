"""Descriptions that fit the numbers, and every suggestion measured: it must change the curve."""

import itertools
import math

import pytest
import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from atento.layers import IDENTITY, INITIALIZERS, RELU, SIGMOID, TANH
from atento.recurrent import ElmanCell, GRUCell, LSTMCell, MinGRUCell, OutputLayer, unroll
from atento.recurrent.gradient_flow import (
    GateSaturation,
    PartFlow,
    Spectrum,
    cell_flow,
    gradient_curve,
    record_steps,
    verdict_of,
)
from atento.recurrent.suggestions import ATTENTION, NO_CHANGE, describe_flow, suggest_fix
from atento.spec import keys

STEPS, INPUT, HIDDEN = 31, 3, 29
uniform, orthogonal, identity, xavier = INITIALIZERS.values()


def flow_of(cell, *, strength=0.5):
    torch.manual_seed(1)
    return cell_flow(cell, [record_steps(cell, strength * torch.randn(3, STEPS, cell.input_size))])


def slope_of(cell, **choices):
    return flow_of(cell, **choices).curve.slope


@pytest.mark.spec("R13", "R14")
def test_initialisations_move_the_curve():
    """The spectral radius of a first matrix is what a linear gradient keeps of itself a step: .577, 1, 1, 1."""

    def slope(initialise):
        return slope_of(ElmanCell(INPUT, 61, activation=IDENTITY, initializer=initialise))

    assert slope(uniform) == pytest.approx(math.log(3**-0.5), abs=0.05)
    assert slope(xavier) == pytest.approx(0, abs=0.05)
    assert slope(orthogonal) == pytest.approx(0, abs=1e-9)
    assert slope(identity) == pytest.approx(0, abs=1e-9)
    bent = {how: slope_of(ElmanCell(INPUT, 61, initializer=how), strength=0.1) for how in (uniform, xavier, orthogonal)}
    assert bent[uniform] < min(bent[xavier], bent[orthogonal]) - 0.3


@pytest.mark.spec("R13", "R14")
def test_activations_move_the_curve():
    """On a rotation: a sigmoid's slope is at most ¼, so is the gradient's a step; a tanh near 0 keeps nearly all."""

    def slope(activation, initialise=orthogonal):
        torch.manual_seed(0)
        return slope_of(ElmanCell(INPUT, HIDDEN, activation=activation, initializer=initialise), strength=0.1)

    assert slope(SIGMOID) <= math.log(0.25)
    assert -0.1 < slope(TANH) < 0
    assert slope(IDENTITY) == pytest.approx(0, abs=1e-9)
    assert slope(RELU) < -0.3  # half the units are off, and a rotation mixes them
    assert slope(RELU, identity) > slope(RELU) + 0.3  # where none are mixed, those that are on keep all


@pytest.mark.spec("R13", "R14")
def test_gates_move_the_curve():
    """A forget gate of bias b keeps sigmoid(b) of the carry; the plain cell has no such way."""
    plain = slope_of(ElmanCell(INPUT, HIDDEN))
    assert plain < -0.2
    for kind, rows in ((LSTMCell, slice(HIDDEN, 2 * HIDDEN)), (GRUCell, slice(HIDDEN, 2 * HIDDEN))):
        cell = kind(INPUT, HIDDEN)
        cell.read.bias.data[rows] = 4.0
        assert slope_of(cell) > math.log(1 / (1 + math.exp(-4.0))) - 0.05
        assert slope_of(cell) > plain + 0.15


def trained(clip):
    """A linear network that explodes (1.2 × a rotation) learns to remember; its slope after, None if it diverged."""
    torch.manual_seed(0)
    cell, output = ElmanCell(1, 11, activation=IDENTITY, initializer=orthogonal), OutputLayer(11, 1)
    cell.recur.weight.data.mul_(1.2)
    assert slope_of(cell) == pytest.approx(math.log(1.2))
    parameters = [*cell.parameters(), *output.parameters()]
    optimiser = torch.optim.SGD(parameters, lr=0.02)
    for _ in range(80):
        numbers = torch.randn(17, 30, 1)
        loss = (output(unroll(cell, numbers).outputs[:, -1]) - numbers[:, 0]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        clip(parameters)
        optimiser.step()
        if not all(parameter.isfinite().all() for parameter in parameters):
            return None
    return slope_of(cell)


@pytest.mark.spec("R13", "R14")
def test_clipping_moves_the_curve():
    """Unbounded, the first steps throw the network away; bounded, they flatten its curve."""
    assert trained(lambda parameters: None) is None
    assert trained(lambda parameters: clip_grad_norm_(parameters, 0.5)) < math.log(1.2) - 0.015
    assert trained(lambda parameters: clip_grad_value_(parameters, 0.05)) < math.log(1.2) - 0.015


GATES = {"LSTMCell": ("input", "forget", "output"), "GRUCell": ("reset", "update"), "MinGRUCell": ("update",)}
SHRINKS = {"content": Spectrum(0.9, 0.9)}


def made(slope, kind="ElmanCell", gates=None, matrices=None, lags=60):
    gates = gates or {name: GateSaturation(0.1, 0.1) for name in GATES.get(kind, ())}
    curve = gradient_curve(slope * torch.arange(lags + 1.0).unsqueeze(0))
    matrices = matrices or ({} if kind in ("MinGRUCell", ATTENTION) else SHRINKS)
    return PartFlow("encoder", kind, curve, matrices, None, gates)


@pytest.mark.spec("R13")
@pytest.mark.parametrize(
    "slope, text",
    [
        (
            math.log(0.99),
            "The gradient vanishes: it halves every 69 steps (slope −0.0101 per step); "
            "a change 60 steps back arrives 0.547 times as large.",
        ),
        (
            math.log(1.01),
            "The gradient explodes: it doubles every 69.7 steps (slope +0.0100 per step); "
            "a change 60 steps back arrives 1.82 times as large.",
        ),
        (0.0, "The gradient keeps its size: a change 60 steps back arrives 1 times as large (slope +0.0000 per step)."),
    ],
)
def test_verdicts_in_words(slope, text):
    assert describe_flow(made(slope)) == text


@pytest.mark.spec("R13")
def test_a_matrix_that_stretches_once_is_explained():
    text = describe_flow(made(-0.6, matrices={"content": Spectrum(2.118, 0.5)}))
    assert text.startswith("The gradient vanishes") and "explodes" not in text
    assert "stretches some vectors (largest singular value 2.12), but its powers shrink them all" in text
    assert "spectral radius 0.50" in text


@pytest.mark.parametrize("kind", ["ElmanCell", "LSTMCell", "GRUCell", "MinGRUCell", ATTENTION])
def test_every_suggestion_names_recipe_keys_that_exist(kind):
    for slope, attends in itertools.product([-0.1, 0.1], [False, True]):
        words = suggest_fix(made(slope, kind=kind), attends=attends).split()
        named = {word.split("=")[0].strip(".,;:()") for word in words if word.startswith(("model.", "train."))}
        assert named and named <= {key.name for key in keys()}, (slope, attends)


def test_nothing_is_changed_where_nothing_is_wrong():
    assert suggest_fix(made(0.0)) == NO_CHANGE


def test_attention_is_offered_to_those_without():
    assert "add a score" in suggest_fix(made(-0.1, kind="LSTMCell"))
    assert "add a score" not in suggest_fix(made(-0.1, kind="LSTMCell"), attends=True)


def test_no_matrix_is_to_be_initialized_where_there_is_none():
    """A real minGRU forgets by its gates alone: at the start they are half open, and half of a change is left."""
    cell = MinGRUCell(INPUT, HIDDEN)
    cell.read.weight.data.zero_()
    flow = flow_of(cell)
    assert flow.curve.slope == pytest.approx(math.log(0.5), abs=1e-12)
    assert flow.matrices == {} and flow.step == pytest.approx((0.5, 0.5))
    assert "model.init" not in suggest_fix(flow) and "model.name=gru or lstm" in suggest_fix(flow)


def test_a_stuck_gate_is_named():
    flow = made(-0.5, kind="LSTMCell", gates={"forget": GateSaturation(0.62, 0.0), "input": GateSaturation(0.1, 0.2)})
    said = "The forget gate is shut in 62% of all cases, which blocks its gradient; lower train.lr."
    assert suggest_fix(flow).startswith(said)
    assert "input gate" not in suggest_fix(flow)


def test_verdict_description_and_suggestion_agree_on_a_real_cell():
    flow = flow_of(ElmanCell(INPUT, HIDDEN))
    assert verdict_of(flow.curve) == "vanishes"
    assert "vanishes" in describe_flow(flow)
    assert "model.init=orthogonal" in suggest_fix(flow)
