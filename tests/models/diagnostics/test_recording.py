"""What is seen is what the parts were given, and nothing is left behind."""

import torch

from atento.models import TranslationBatch
from atento.models.builders import Vocabularies, build_translator
from atento.models.diagnostics import record_activations
from atento.recurrent import Cell, ElmanCell, GRUCell, Stack
from atento.spec import ModelRecipe

BATCH, SOURCE, TARGET = 3, 7, 5


def build(name, **choices):
    return build_translator(ModelRecipe(name=name, hidden=6, heads=2, **choices), Vocabularies(13, 11)).eval()


def make_batch():
    real = torch.ones(BATCH, SOURCE, dtype=torch.bool)
    real[1, 4:] = False
    tokens = torch.randint(1, 11, (BATCH, TARGET))
    return TranslationBatch(
        torch.randint(1, 13, (BATCH, SOURCE)), real, tokens, tokens, torch.ones_like(tokens, dtype=torch.bool)
    )


def test_a_walk_is_seen_whole():
    stack, inputs = Stack(GRUCell, 2, 3, layers=2), torch.randn(BATCH, SOURCE, 2)
    start, valid = stack.start(inputs[:, 0]), torch.ones(BATCH, SOURCE, dtype=torch.bool)
    with record_activations(stack) as seen:
        stack(inputs)
        stack(inputs[:, :2], start, valid=valid[:, :2])
    first, second = seen.stack_inputs[""]
    assert torch.equal(first.inputs, inputs) and first.start is None and first.valid is None
    assert second.start is start and torch.equal(second.valid, valid[:, :2])
    assert not any(seen.cell_steps.values())


def test_steps_of_a_cell_that_no_stack_walks_are_seen():
    """Elman with an activation of its own goes step by step inside a walk; those are the walk's."""
    stack, inputs = Stack(ElmanCell, 2, 3), torch.randn(BATCH, SOURCE, 2)
    with record_activations(stack) as seen:
        state = stack.start(inputs[:, 0])
        for time in range(SOURCE):
            _, state = stack.step(inputs[:, time], state)
    steps = seen.cell_steps["cells.0"]
    assert len(steps) == SOURCE
    torch.testing.assert_close(steps[2].read, stack.cell(0).read(inputs[:, 2]))
    assert (steps[0].state.hidden == 0).all()


def test_a_decoder_that_looks_before_each_step_is_seen_stepping():
    model, batch = build("gru+additive", attend="bahdanau"), make_batch()
    with record_activations(model) as seen:
        model(batch)
    assert len(seen.stack_inputs["encoder.stack"]) == 1
    assert not seen.stack_inputs["decoder.stack"]
    assert len(seen.cell_steps["decoder.stack.cells.0"]) == TARGET


def test_attention_is_cut_off_from_what_lies_below():
    model, batch = build("transformer", layers=2), make_batch()
    with record_activations(model) as seen:
        model(batch)
    assert set(seen.attention_passes) == {"encoder.stack", "decoder.layers"}
    for (passed,) in seen.attention_passes.values():
        assert passed.inputs.is_leaf and passed.inputs.requires_grad
        (gradient,) = torch.autograd.grad(passed.outputs.sum(), passed.inputs)
        assert gradient.shape == passed.inputs.shape
    assert torch.equal(seen.attention_passes["encoder.stack"][0].valid, batch.source_valid)


def test_a_watched_model_says_the_same_and_is_left_as_it_was():
    for name in ("gru-before+dot", "jordan", "transformer/lstm+general", "lstm/transformer"):
        model, batch = build(name), make_batch()
        before = {part: dict(part.__dict__) for part in model.modules() if isinstance(part, Cell)}
        expected = model(batch)
        with record_activations(model):
            torch.testing.assert_close(model(batch), expected, rtol=0, atol=1e-13)
        assert torch.equal(model(batch), expected)
        assert all(part.__dict__.keys() == kept.keys() for part, kept in before.items())
        assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
