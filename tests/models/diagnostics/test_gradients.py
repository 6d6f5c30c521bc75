"""The gradient's way through whole models."""

import json
import math
from functools import partial

import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.layers import IDENTITY
from atento.models import TextBatch, TranslationBatch
from atento.models.builders import Vocabularies, build_language_model, build_translator
from atento.models.diagnostics import gradient_flow
from atento.models.names import FAMILIES
from atento.recurrent import ElmanCell, GRUCell, LSTMCell, Stack
from atento.recurrent.gradient_flow import cell_flow, record_steps
from atento.spec import ModelRecipe

BATCH, SOURCE, TARGET, INPUT, HIDDEN = 3, 11, 7, 2, 6


def build(name, **choices):
    recipe = ModelRecipe(name=name, **{"hidden": HIDDEN, "heads": 2, **choices})
    return build_translator(recipe, Vocabularies(13, 11))


def make_batch(rows=BATCH, source=SOURCE):
    real = torch.ones(rows, source, dtype=torch.bool)
    tokens = torch.randint(1, 11, (rows, TARGET))
    return TranslationBatch(
        torch.randint(1, 13, (rows, source)), real, tokens, tokens, torch.ones_like(tokens, dtype=torch.bool)
    )


def rotating(factor, **choices):
    """A stack of linear cells, each a rotation times a number."""
    stack = Stack(partial(ElmanCell, activation=IDENTITY), INPUT, HIDDEN, **choices)
    for cell in stack.cells:
        cell.recur.weight.data.copy_(factor * torch.linalg.qr(torch.randn(HIDDEN, HIDDEN)).Q)
    return stack


@pytest.mark.spec("R13")
@pytest.mark.parametrize("factor, verdict", [(0.99, "vanishes"), (1.0, "level"), (1.01, "explodes")])
def test_every_layer_and_direction_by_itself(factor, verdict):
    stack = rotating(factor, layers=2, bidirectional=True)
    flow = gradient_flow(stack, torch.randn(BATCH, 41, INPUT))
    names = ["layer 1, forward", "layer 1, backward", "layer 2, forward", "layer 2, backward"]
    assert [part.part for part in flow.parts] == names
    for part in flow.parts:
        assert part.curve.slope == pytest.approx(math.log(factor), abs=1e-11)
        assert part.matrices["content"] == pytest.approx((factor, factor))
    assert flow.verdict == verdict
    assert verdict.split()[0] in flow.words or verdict == "level"


@pytest.mark.spec("R13")
def test_the_gravest_part_speaks():
    stack = rotating(1.0, layers=3)
    stack.cells[1].recur.weight.data.mul_(0.9)
    assert gradient_flow(stack, torch.randn(BATCH, 41, INPUT)).worst.part == "layer 2"
    stack.cells[2].recur.weight.data.mul_(1.02)
    flow = gradient_flow(stack, torch.randn(BATCH, 41, INPUT))
    assert (flow.worst.part, flow.verdict) == ("layer 3", "explodes")


@pytest.mark.spec("R13")
@pytest.mark.parametrize("kind", [ElmanCell, GRUCell, LSTMCell])
def test_a_stack_s_parts_are_its_cells_on_what_they_read(kind):
    stack, inputs = Stack(kind, INPUT, HIDDEN, layers=2, dropout=0.5), torch.randn(BATCH, SOURCE, INPUT)
    valid = torch.ones(BATCH, SOURCE, dtype=torch.bool)
    valid[2, 5:] = False
    flow = gradient_flow(stack, {"inputs": inputs, "valid": valid})
    lower = cell_flow(stack.cell(0), [record_steps(stack.cell(0), inputs, valid=valid)], part="layer 1")
    below = Stack(kind, INPUT, HIDDEN)
    below.cells[0].load_state_dict(stack.cells[0].state_dict())
    middle = below(inputs, valid=valid).outputs
    upper = cell_flow(stack.cell(1), [record_steps(stack.cell(1), middle, valid=valid)], part="layer 2")
    for found, expected in zip(flow.parts, (lower, upper), strict=True):
        assert found.part == expected.part
        assert found.curve.median == pytest.approx(expected.curve.median, rel=1e-9)
        assert found.curve.lags[-1] == SOURCE


@pytest.mark.spec("R13")
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_something_to_say(family):
    model, batch = build(family, layers=2).train(), make_batch()
    flow = gradient_flow(model, batch)
    assert flow.verdict in ("vanishes", "level", "explodes")
    assert len(flow.parts) == (2 if family == "transformer" else 6)
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())
    document = json.loads(json.dumps(flow.to_json(), allow_nan=False))
    assert [part["part"] for part in document["parts"]] == [part.part for part in flow.parts]
    assert document["words"] == flow.words and document["remedy"] == flow.remedy


@pytest.mark.parametrize("attend", ["luong", "bahdanau"])
def test_decoders_that_look_after_and_before_each_step(attend):
    flow = gradient_flow(build("lstm+additive", attend=attend), make_batch())
    decoders = [part for part in flow.parts if part.part.startswith("decoder")]
    assert [part.kind for part in decoders] == ["LSTMCell"]
    assert decoders[0].curve.lags[-1] == TARGET
    assert flow.attends
    assert not gradient_flow(build("lstm"), make_batch()).attends


@pytest.mark.parametrize("name, part", [("gru-before", "decoder.stack"), ("transformer", "decoder.stack")])
def test_a_model_that_only_writes(name, part):
    model = build_language_model(ModelRecipe(name=name, hidden=HIDDEN, heads=2), 13)
    tokens = torch.randint(1, 13, (BATCH, SOURCE))
    flow = gradient_flow(model, TextBatch(tokens, tokens, torch.ones_like(tokens, dtype=torch.bool)))
    assert [one.part for one in flow.parts] == [part]
    assert flow.parts[0].curve.lags[-1] in (SOURCE - 1, SOURCE)


def test_several_batches_are_one_flow():
    """Padding apart, the same paths."""
    model = build("gru")
    batches = [make_batch(rows=1, source=source) for source in (11, 7, 5)]
    flow = gradient_flow(model, batches)
    assert flow.parts[0].curve.lags[-1] == 11
    longest = gradient_flow(model, batches[0])
    assert flow.parts[0].curve.median[-1] == pytest.approx(longest.parts[0].curve.median[-1])


def test_a_bare_cell_is_walked():
    cell, inputs = GRUCell(INPUT, HIDDEN), torch.randn(BATCH, SOURCE, INPUT)
    flow = gradient_flow(cell, inputs)
    assert flow.parts == (cell_flow(cell, [record_steps(cell, inputs)], part="GRUCell"),)


def test_a_model_without_time_is_refused():
    with pytest.raises(InputError, match="nothing that carries a gradient through time"):
        gradient_flow(nn.Linear(2, 3), torch.randn(5, 2))


def test_a_part_that_takes_one_step_is_left_out():
    flow = gradient_flow(build("gru"), make_batch(source=1))
    assert [part.part for part in flow.parts] == ["decoder.stack"]
    with pytest.raises(InputError, match="two steps or more"):
        gradient_flow(Stack(GRUCell, INPUT, HIDDEN), torch.randn(BATCH, 1, INPUT))
    with pytest.raises(InputError, match="two steps or more"):
        gradient_flow(build("transformer").encoder.stack, torch.randn(BATCH, 1, HIDDEN))


def test_a_model_that_diverged_is_refused():
    stack = rotating(1.0)
    stack.cells[0].recur.weight.data[0, 0] = math.nan
    with pytest.raises(InputError, match="has diverged"):
        gradient_flow(stack, torch.randn(BATCH, SOURCE, INPUT))
