"""The stages of a text are those the model itself passes through."""

import pytest
import torch

from atento.errors import InputError
from atento.models import ModelPart, NextWord
from atento.models.builders import build_encoder, build_language_model
from atento.models.diagnostics import hidden_states
from atento.spec import ModelRecipe

VOCABULARY, SIZE = 11, 6
TOKENS = torch.tensor([4, 9, 5, 10, 7])


def encoder(name, **choices):
    recipe = ModelRecipe(name=name, hidden=SIZE, heads=2, layers=3, dropout=0.0, **choices)
    return build_encoder(ModelPart.parse(name), recipe, VOCABULARY).eval()


@pytest.mark.spec("S04")
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_transformer_has_one_a_layer_and_ends_where_it_ends(norm):
    model = encoder("transformer", norm=norm)
    found = hidden_states(model, TOKENS)
    assert [stage.name for stage in found] == ["embedding", "layer 1", "layer 2", "layer 3"]
    torch.testing.assert_close(found[0].vectors, model.embedding.tokens.table.weight[TOKENS], rtol=0, atol=0)
    valid = torch.ones(1, 5, dtype=torch.bool)
    torch.testing.assert_close(found[-1].vectors, model.encode(TOKENS[None], valid).states[0].detach())
    placed = model.embedding.embed_padded(TOKENS[None], valid)
    torch.testing.assert_close(found[1].vectors, model.stack.layers[0](placed, valid=valid)[0].detach())


def test_a_recurrent_encoder_has_its_states():
    model = encoder("gru")
    found = hidden_states(model, TOKENS)
    assert [stage.name for stage in found] == ["embedding", "states"]
    states = model.encode(TOKENS[None], torch.ones(1, 5, dtype=torch.bool)).states[0]
    torch.testing.assert_close(found[1].vectors, states.detach())


@pytest.mark.parametrize("name", ["transformer", "lstm"])
def test_a_language_model_sees_the_past_alone(name):
    recipe = ModelRecipe(name=name, hidden=SIZE, heads=2, layers=2, dropout=0.0)
    model = build_language_model(recipe, VOCABULARY).eval()
    one, other = hidden_states(model, TOKENS), hidden_states(model, TOKENS.clone().index_fill(0, torch.tensor([4]), 8))
    for first, second in zip(one, other, strict=True):
        torch.testing.assert_close(first.vectors[:4], second.vectors[:4])
        assert not torch.equal(first.vectors[4], second.vectors[4])


def test_a_model_without_layers_is_refused():
    with pytest.raises(InputError, match="no layers"):
        hidden_states(NextWord(VOCABULARY, SIZE, window=2), TOKENS)
