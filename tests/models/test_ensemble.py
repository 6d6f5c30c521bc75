"""An ensemble says the mean of what its members say, step by step and all at once."""

import pytest
import torch

from atento.models.builders import Vocabularies, build_translator
from atento.models.ensemble import ensemble_of
from atento.models.protocols import reorder
from atento.spec import ModelRecipe

BATCH, SOURCE, TARGET, TOKENS = 2, 5, 3, 11
VALID = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


@pytest.fixture(params=["gru+dot", "transformer", "lstm+additive+hard-exact", "rnn"])
def members(request):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=request.param, hidden=12, heads=3)
    return [build_translator(recipe, Vocabularies(7, TOKENS)).double().eval() for _ in range(3)]


@torch.no_grad()
def test_probabilities_are_the_mean_of_the_members(members):
    source, previous = torch.randint(1, 7, (BATCH, SOURCE)), torch.randint(1, TOKENS, (BATCH, TARGET))
    joined = ensemble_of(members).eval()
    means = torch.stack([one.decoder(previous, one.encode(source, VALID)).softmax(dim=-1) for one in members]).mean(
        dim=0
    )
    encoded = joined.encode(source, VALID)
    torch.testing.assert_close(joined.decoder(previous, encoded).softmax(dim=-1), means)
    state, steps = joined.decoder.start(encoded), []
    for time in range(TARGET):
        logits, state = joined.decoder.step(previous[:, time], state)
        steps.append(logits.softmax(dim=-1))
    torch.testing.assert_close(torch.stack(steps, dim=1), means)
    swapped = joined.decoder.step(previous[:, 0].flip(0), reorder(joined.decoder.start(encoded), torch.tensor([1, 0])))
    torch.testing.assert_close(swapped.logits.flip(0).softmax(dim=-1), means[:, 0])


@torch.no_grad()
def test_attention_is_that_of_every_member(members):
    source, previous = torch.randint(1, 7, (BATCH, SOURCE)), torch.randint(1, TOKENS, (BATCH, TARGET))
    joined = ensemble_of(members).eval()
    if not joined.decoder.attends:
        assert not list(joined.decoder.attention_calls(previous, joined.encode(source, VALID)))
        return
    found = joined.decoder.weights(previous, joined.encode(source, VALID))
    each = [one.decoder.weights(previous, one.encode(source, VALID)) for one in members]
    torch.testing.assert_close(found, torch.cat(each, dim=1))
