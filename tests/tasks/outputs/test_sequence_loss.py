"""What a draw is worth, token by token, and that its gradient is right on average."""

import itertools
import math

import pytest
import torch

from atento.attention import recorded_draws
from atento.layers import token_cross_entropy
from atento.models import TranslationBatch
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe
from atento.tasks.outputs.sequence_loss import Draws, judge_draws, next_token_loss, spared_costs


@pytest.fixture(autouse=True)
def double():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(torch.float32)


def some_batch(lengths, *, source=2, tokens=7):
    longest = max(lengths)
    target_valid = torch.arange(longest) < torch.tensor(lengths).unsqueeze(1)
    target, previous = (torch.randint(4, tokens, (len(lengths), longest)) for _ in range(2))
    sources = torch.randint(4, tokens, (len(lengths), source))
    return TranslationBatch(sources, torch.ones_like(sources, dtype=torch.bool), previous, target, target_valid)


def build(name, **choices):
    recipe = ModelRecipe(name=name, hidden=4, heads=1, feed_forward=3, dropout=0.0, **choices)
    return build_translator(recipe, Vocabularies(7, 7)).train()


@pytest.mark.spec("A17")
def test_a_token_is_judged_by_the_others_at_its_step():
    """Lengths 3, 2 and 1: the third step has no other, so there all tokens of the others are asked."""
    batch = some_batch([3, 2, 1])
    logits = torch.randn(6, 7)
    places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]
    cost = {
        place: -math.log(math.exp(row[batch.target[place]]) / sum(math.exp(one) for one in row.tolist()))
        for place, row in zip(places, logits, strict=True)
    }
    expected = torch.zeros(3, 3)
    for row, time in places:
        others = [one for (place, at), one in cost.items() if place != row and at == time]
        others = others or [one for (place, _), one in cost.items() if place != row]
        expected[row, time] = sum(others) / len(others) - cost[row, time]
    torch.testing.assert_close(spared_costs(logits, batch), expected, rtol=0, atol=1e-13)


@pytest.mark.spec("A17")
@pytest.mark.parametrize("name, carry", [("gru+general", False), ("gru+general bahdanau", True), ("transformer", True)])
def test_a_draw_is_judged_by_the_costs_it_can_have_moved(name, carry):
    """Of the encoder all, of the decoder those from its step on; of its own step where a look goes no further."""
    name, _, attend = name.partition(" ")
    decoder = build(f"{name}+hard-reinforce", attend=attend or "luong").decoder
    assert decoder.feeds_context is carry
    batch, logits = some_batch([3, 2]), torch.randn(5, 7)
    spared = spared_costs(logits, batch)
    later = torch.stack([spared[:, time:].sum(dim=1) for time in range(3)], dim=1)
    reading = torch.randn(2, 5, 4, requires_grad=True)
    writing = [torch.randn(2, 3, requires_grad=True)]
    if attend:
        writing = [torch.randn(2, 1, requires_grad=True) for _ in range(3)]  # as it looks, step by step
    elif name == "transformer":
        writing = [torch.randn(2, 5, 3, requires_grad=True) for _ in range(2)]
    loss = token_cross_entropy(logits, batch.target[batch.target_valid])
    judged = judge_draws(loss, logits, batch, Draws([reading], writing), decoder)
    torch.testing.assert_close(judged.total, loss.total, rtol=0, atol=1e-13)
    to_reading, *to_writing = torch.autograd.grad(judged.total, [reading, *writing])
    torch.testing.assert_close(to_reading, -later[:, :1].unsqueeze(1).expand(2, 5, 4))
    worth = later if carry else spared
    if attend:
        torch.testing.assert_close(torch.cat(to_writing, dim=1), -worth)
    else:
        for gradient in to_writing:
            torch.testing.assert_close(gradient, -worth.view(2, *[1] * (gradient.dim() - 2), 3).expand_as(gradient))


@pytest.mark.spec("A17")
def test_the_mean_over_all_draws_of_a_transformer_is_the_exact_gradient(monkeypatch):
    """The encoder's looks, the decoder's at itself and at the source: every way to draw them, by its probability."""
    module, batch = build("transformer+hard-reinforce"), some_batch([2])
    leaves = list(module.parameters())
    expected, exact = [torch.zeros_like(leaf) for leaf in leaves], torch.zeros(())
    for ways in itertools.product(*[range(2)] * 6):
        if ways[2] == 1:
            continue  # the first step sees itself alone
        left = []

        def pick(logarithms, left=left):
            return torch.tensor([left.pop(0) for _ in range(2)]).view(1, 1, 2, 1)

        monkeypatch.setattr("atento.attention.distributions.hard.sample_indices", pick)
        left[:] = ways
        loss = next_token_loss(module, batch, 0.0).total
        left[:] = ways
        with recorded_draws() as draws:
            logits = module(batch)
        assert [tuple(draw.shape) for draw in draws] == [(1, 1, 2)] * 3
        chance = torch.stack(draws).sum().exp()
        for mean, gradient in zip(expected, torch.autograd.grad(loss, leaves, retain_graph=True), strict=True):
            mean += chance.detach() * gradient
        exact = exact + chance * token_cross_entropy(logits, batch.target[batch.target_valid]).total
    torch.testing.assert_close(expected, list(torch.autograd.grad(exact, leaves)), rtol=0, atol=1e-12)


def test_nothing_is_judged_where_nothing_was_drawn():
    module, batch = build("gru+general"), some_batch([3, 2])
    logits = module(batch)
    loss = token_cross_entropy(logits, batch.target[batch.target_valid])
    assert judge_draws(loss, logits, batch, Draws([], []), module.decoder) is loss
