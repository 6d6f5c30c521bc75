"""Steps with keys and values in place: the logits of `step` with its cache, whatever rows are kept."""

import pytest
import torch

from atento.models.backbones.transformer_steps import TransformerSteps
from atento.models.builders import Vocabularies, build_language_model, build_translator
from atento.models.protocols import StateSteps
from atento.spec import ModelRecipe

BATCH, SOURCE, WORDS, ROOM = 5, 7, 11, 19
VALID = torch.arange(SOURCE) < torch.tensor([[7], [3], [5], [1], [6]])


def translator(**settings):
    torch.manual_seed(4)
    recipe = ModelRecipe(**{"name": "transformer", "hidden": 12, "layers": 2, "heads": 2, **settings})
    made = build_translator(recipe, Vocabularies(13, WORDS)).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return made


def compare(decoder, encoded, copies):
    """Steps of both kinds side by side, with rows reordered and dropped on the way."""
    steps = decoder.steps(encoded, room=ROOM, copies=copies), StateSteps(decoder, encoded, copies=copies)
    assert isinstance(steps[0], TransformerSteps)
    rows = len(encoded.valid)
    for at in range(ROOM):
        token = torch.randint(1, WORDS, (rows * copies,))
        ours, wanted = (one.step(token) for one in steps)
        torch.testing.assert_close(ours, wanted, rtol=0, atol=1e-11)
        if at in (2, 4, 5):  # all sources with their rows in another order, then fewer of them
            sources = torch.arange(rows)[:: 2 if at == 5 else 1][at == 4 :]
            rows = len(sources)
            kept = (sources.unsqueeze(1) * copies + torch.randint(copies, (rows, copies))).flatten()
            for one in steps:
                one.keep(kept)


@torch.no_grad()
@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("settings", [{}, {"norm": "post"}, {"norm": "none"}, {"positions": "rotary"}])
def test_steps_of_a_decoder_with_a_source(settings, copies):
    made = translator(**settings)
    encoded = made.encode(torch.randint(1, 13, (BATCH, SOURCE)), VALID)
    compare(made.decoder, encoded, copies)


@torch.no_grad()
def test_steps_of_a_decoder_without_a_source():
    torch.manual_seed(4)
    model = build_language_model(ModelRecipe(name="transformer", hidden=12, layers=2, heads=2), WORDS).eval()
    compare(model.decoder, model.empty_source(BATCH), 2)


@torch.no_grad()
def test_padding_of_the_source_never_matters():
    made = translator()
    encoded = made.encode(torch.randint(1, 13, (BATCH, SOURCE)), VALID)
    unclean = encoded._replace(states=encoded.states.masked_fill(~VALID.unsqueeze(-1), torch.nan))
    token = torch.randint(1, WORDS, (BATCH,))
    found = [made.decoder.steps(one, room=ROOM).step(token) for one in (encoded, unclean)]
    torch.testing.assert_close(*found, rtol=0, atol=0)


def test_what_goes_by_the_state():
    made = translator()
    encoded = made.encode(torch.randint(1, 13, (BATCH, SOURCE)), VALID)
    made.train()
    assert isinstance(made.decoder.steps(encoded, room=ROOM), StateSteps)
    made.eval()
    nothing = encoded._replace(valid=VALID & torch.tensor([[True], [True], [False], [True], [True]]))
    assert isinstance(made.decoder.steps(nothing, room=ROOM), StateSteps)
    window = translator(name="transformer+local")
    assert isinstance(window.decoder.steps(encoded, room=ROOM), StateSteps)
