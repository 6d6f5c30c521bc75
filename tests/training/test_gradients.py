"""One batch forward and back, whole and chunk by chunk, in float64."""

import dataclasses

import pytest
import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

from atento.errors import InputError
from atento.layers import token_cross_entropy
from atento.models import TranslationBatch
from atento.models.builders import Vocabularies, build_translator
from atento.models.builders.language_model import build_masked_model
from atento.spec import ModelRecipe
from atento.tasks.catalogue import GENERATE, TRANSLATE
from atento.training import validate_training
from atento.training.gradients import add_penalties, backpropagate

BATCH, SOURCE, TARGET, TOKENS = 3, 5, 11, 13
CPU = torch.device("cpu")

MODELS = [
    ("gru", {}),
    ("lstm", {"layers": 2, "context": "state"}),
    ("lstm+additive", {}),
    ("gru+general", {"attend": "bahdanau", "layers": 2}),
    ("rnn+dot+sparsemax", {"attend": "bahdanau", "context": "both"}),
    ("transformer/gru+dot", {"heads": 2}),
]
every_model = pytest.mark.parametrize("name, choices", MODELS, ids=[name for name, _ in MODELS])


def build(name, choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": 10, "dropout": 0.0, **choices})
    return build_translator(recipe, Vocabularies(TOKENS, TOKENS)).double()


def some_batch(target=TARGET):
    torch.manual_seed(1)
    source, words = torch.randint(4, TOKENS, (BATCH, SOURCE)), torch.randint(4, TOKENS, (BATCH, target))
    source_valid = torch.arange(SOURCE) < torch.tensor([[5], [3], [1]])
    target_valid = torch.arange(target) < torch.tensor([[target], [4], [7]])
    previous = torch.cat([torch.full((BATCH, 1), 2), words[:, :-1]], dim=1)
    return TranslationBatch(source.masked_fill(~source_valid, 0), source_valid, previous, words, target_valid)


def gradients(module):
    return {name: weight.grad.clone() for name, weight in module.named_parameters()}


def learned(name, choices, recipe, batch):
    module = build(name, choices)
    loss = backpropagate(TRANSLATE, module, batch, recipe, CPU)
    return loss, gradients(module)


@pytest.mark.spec("R12")
@every_model
@pytest.mark.parametrize("bptt_steps", [TARGET, 99])
def test_a_chunk_as_long_as_the_whole_is_plain_back_propagation(whole_recipe, name, choices, bptt_steps):
    values = {"precision": "fp32", "label_smoothing": 0.1}
    loss, whole = learned(name, choices, whole_recipe(**values).train, some_batch())
    cut_loss, cut = learned(name, choices, whole_recipe(bptt_steps=bptt_steps, **values).train, some_batch())
    torch.testing.assert_close(cut_loss, loss, rtol=1e-14, atol=0)
    torch.testing.assert_close(cut, whole, rtol=0, atol=1e-15)


def by_hand(module, batch, bptt_steps):
    """One graph of all steps, in which the cells' states lose their past at each border; then one way back."""
    decoder = module.decoder
    state = decoder.start(module.encode(batch.source, batch.source_valid))
    logits = []
    for at in range(batch.target.size(1)):
        if at and at % bptt_steps == 0:
            cells = tuple(type(cell)(*(part.detach() for part in cell)) for cell in state.cells)
            state = state._replace(cells=cells)
        step = decoder.step(batch.previous[:, at], state)
        state = step.state
        logits.append(step.logits)
    real = batch.target_valid
    token_cross_entropy(torch.stack(logits, dim=1)[real], batch.target[real]).mean.backward()
    return gradients(module)


@pytest.mark.spec("R12")
@every_model
@pytest.mark.parametrize("bptt_steps", [1, 4, 5])
def test_the_state_goes_on_and_its_gradient_does_not(whole_recipe, name, choices, bptt_steps):
    plain = whole_recipe(precision="fp32").train
    loss, whole = learned(name, choices, plain, some_batch())
    cut_loss, cut = learned(name, choices, plain.model_copy(update={"bptt_steps": bptt_steps}), some_batch())
    torch.testing.assert_close(cut_loss, loss, rtol=1e-13, atol=0)  # every step sees what it saw
    torch.testing.assert_close(cut, by_hand(build(name, choices), some_batch(), bptt_steps), rtol=0, atol=1e-14)
    recurrent = "decoder.stack.cells.0.recur.weight"
    assert not torch.allclose(cut[recurrent], whole[recurrent], rtol=1e-3)


class Held:
    """Bytes that autograd keeps for the way back, now and at most."""

    def __init__(self):
        self.now = self.most = 0

    def pack(self, tensor):
        size = tensor.numel() * tensor.element_size()
        self.now += size
        self.most = max(self.most, self.now)
        return Kept(self, tensor, size)

    def measure(self, call):
        with saved_tensors_hooks(self.pack, lambda kept: kept.tensor):
            call()
        return self.most


class Kept:
    def __init__(self, held, tensor, size):
        self.held, self.tensor, self.size = held, tensor, size

    def __del__(self):
        self.held.now -= self.size


@pytest.mark.spec("R12")
@pytest.mark.parametrize("name, choices", [("lstm", {}), ("gru+additive", {"attend": "bahdanau"})])
def test_memory_holds_one_chunk(whole_recipe, name, choices):
    """The bytes kept for the way back follow the chunk, not the target."""

    def held(target, bptt_steps):
        module, batch = build(name, choices), some_batch(target)
        recipe = whole_recipe(precision="fp32", bptt_steps=bptt_steps).train
        return Held().measure(lambda: backpropagate(TRANSLATE, module, batch, recipe, CPU))

    whole, cut, longer = held(60, 0), held(60, 5), held(120, 5)
    assert held(120, 0) > 1.8 * whole
    assert cut < 0.25 * whole
    assert longer < 1.05 * cut


class Wide(nn.Module):
    """A part with a wish of its own."""

    def __init__(self):
        super().__init__()
        self.span = nn.Parameter(torch.tensor(3.0, dtype=torch.float64))

    def penalty(self):
        return 0.5 * self.span**2


@pytest.mark.parametrize("bptt_steps", [0, 4])
def test_parts_of_a_module_add_what_they_ask_for(whole_recipe, bptt_steps):
    recipe = whole_recipe(precision="fp32", bptt_steps=bptt_steps).train
    loss, plain = learned("gru", {}, recipe, some_batch())
    module = build("gru", {})
    module.spans = nn.ModuleList([Wide(), Wide()])
    again = backpropagate(TRANSLATE, module, some_batch(), recipe, CPU)
    assert torch.equal(again, loss)  # what is logged is the task's
    assert [wide.span.grad.item() for wide in module.spans] == [3.0, 3.0]  # d ½ s² / ds
    assert add_penalties(torch.tensor(1.0), module).item() == pytest.approx(10.0)
    del module.spans
    torch.testing.assert_close(gradients(module), plain, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    "task, name, reason",
    [
        (TRANSLATE, "transformer", "a TransformerDecoder takes all steps at once"),
        (TRANSLATE, "gru/transformer", "a TransformerDecoder takes all steps at once"),
        (
            dataclasses.replace(TRANSLATE, learning=dataclasses.replace(TRANSLATE.learning, truncated_bptt=None)),
            "gru",
            "the task translate learns no sequence step by step",
        ),
    ],
)
def test_truncation_without_steps_is_refused(whole_recipe, task, name, reason):
    module = build(name, {"heads": 2})
    with pytest.raises(InputError) as caught:
        validate_training(task, module, whole_recipe(bptt_steps=8).train)
    assert reason in caught.value.problem
    assert caught.value.found == "train.bptt_steps=8"
    validate_training(task, module, whole_recipe().train)
    validate_training(TRANSLATE, build("transformer/gru+dot", {"heads": 2}), whole_recipe(bptt_steps=8).train)


def test_truncation_of_a_masked_model_is_refused(whole_recipe):
    module = build_masked_model(ModelRecipe(name="lstm", hidden=10), TOKENS)
    with pytest.raises(InputError, match="the task generate learns no sequence step by step"):
        validate_training(GENERATE, module, whole_recipe(bptt_steps=8, objective="masked").train)
